#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A dispatcher with --state: killed and started again, nothing is lost or repeated.

load lib/dsvc
load lib/slowly

# shellcheck disable=SC2120
state() { start "${1:-dispatch}" dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"; }

kill_dispatcher() {
	kill -KILL "${pid[dispatch]}"
	reap dispatch
}

@test "what was registered is there after a restart" {
	state
	local id
	id=$(dsvc-register --id mine 'range 7')
	kill_dispatcher
	state
	start work dsvc-work
	run -0 dsvc-read -t count mine
	[[ $output == 7 ]]
	run -65 dsvc-register --id mine 'range 8'
}

@test "a pass goes on when the dispatcher is killed and started again" {
	state
	work one
	work two
	read_slowly reader --wait-workers 2 -e "$many"
	kill_dispatcher
	state
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader 20
	((status == 0))
	exactly_once "$BATS_TEST_TMPDIR/all"
	run -0 dsvc-status --audit all
	[[ $output == *balanced* ]]
}

@test "delivery goes on while the dispatcher is away" {
	state
	work one
	read_slowly reader -e "$many"
	# about a second of work is in hand once it goes on at full speed
	head -c 5000000 <&"$pipe" >"$BATS_TEST_TMPDIR/part"
	kill_dispatcher
	head -c 100000 <&"$pipe" >>"$BATS_TEST_TMPDIR/part"
	state
	read_rest "$BATS_TEST_TMPDIR/rest"
	reap reader 20
	((status == 0))
	{
		echo "$first"
		cat "$BATS_TEST_TMPDIR/part"
		tail -n +2 "$BATS_TEST_TMPDIR/rest"
	} >"$BATS_TEST_TMPDIR/all"
	exactly_once "$BATS_TEST_TMPDIR/all"
}

@test "dispatcher and worker killed together" {
	state
	work one
	work two
	read_slowly reader --wait-workers 2 -e "$many"
	kill -KILL "${pid[one]}"
	kill_dispatcher
	state
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader 20
	((status == 0))
	exactly_once "$BATS_TEST_TMPDIR/all"
	run -0 dsvc-status --audit all --json
	[[ $output == *'"lost":0,"repeated":0'* ]]
}

@test "dispatcher killed again and again" {
	state
	work one
	work two
	read_slowly reader --wait-workers 2 -e "$many"
	local k
	for k in 1 2 3 4 5; do
		kill_dispatcher
		state
		take_lines 2000 "$pipe" >>"$BATS_TEST_TMPDIR/part"
	done
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader 20
	((status == 0))
	exactly_once "$BATS_TEST_TMPDIR/part" "$BATS_TEST_TMPDIR/all"
}

@test "two dispatchers do not share a state" {
	state
	run -69 within 5s dsvc-dispatch --state "$BATS_TEST_TMPDIR/state" -b "$(free_ipc other)"
	[[ $output == *"another dispatcher uses it"* ]]
}

@test "a damaged state is refused in words" {
	state
	dsvc-register 'range 7'
	stop dispatch
	printf 'garbage garbage garbage' | dd of="$BATS_TEST_TMPDIR/state/state.db" bs=1 seek=100 conv=notrunc 2>/dev/null
	run -65 within 5s dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	[[ $output == *"$BATS_TEST_TMPDIR/state/state.db"*damaged* ]]
	head -c 1000 /dev/zero | tr '\0' 'x' >"$BATS_TEST_TMPDIR/state/state.db"
	run -65 within 5s dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
}

@test "what is missing of a state is noticed" {
	local s=$BATS_TEST_TMPDIR/state
	state
	dsvc-register 'range 7'
	dsvc-register 'range 8'
	kill_dispatcher
	cp -r "$s" "$s.good"
	rm "$s/state.db-wal"
	run -65 within 5s dsvc-dispatch --state "$s"
	[[ $output == *"state.db-wal"*missing* || $output == *"-wal after its name, is missing"* ]]
	# a byte in the middle of the log, with other transactions behind it
	cp "$s.good"/* "$s"
	printf 'x' | dd of="$s/state.db-wal" bs=1 seek=200 conv=notrunc 2>/dev/null
	run -65 within 5s dsvc-dispatch --state "$s"
	[[ $output == *"wrong in the middle"* ]]
	: >"$s/state.db"
	run -65 within 5s dsvc-dispatch --state "$s"
	[[ $output == *"it is empty"* ]]
	rm -r "$s"
	cp -r "$s.good" "$s"
	state
	run -0 dsvc-status --json
	[[ $output == *'range 7'* && $output == *'range 8'* ]]
}

@test "a log that was cut is refused, wherever that was" {
	local s=$BATS_TEST_TMPDIR/state i size
	state
	dsvc-register --id one 'range 7'
	dsvc-register --id two 'range 8'
	kill_dispatcher
	cp -r "$s" "$s.good"
	size=$(stat -c %s "$s/state.db-wal")
	for at in 33 4152 8272 12392 $((size / 2)) $((size - 1)) $RANDOM $RANDOM $RANDOM; do
		cp "$s.good"/* "$s"
		truncate -s "$at" "$s/state.db-wal"
		run -65 within 5s dsvc-dispatch --state "$s"
		[[ $output == *"was cut short"* && $output == *"help: "* ]]
	done
	cp "$s.good"/* "$s"
	state
	run -0 dsvc-status --json
	[[ $output == *'"one"'* && $output == *'"two"'* ]]
}

@test "a state that is removed while it is in use is told, and promises end" {
	local s=$BATS_TEST_TMPDIR/state
	state
	dsvc-register --id one 'range 7'
	mv "$s" "$s.away"
	run -74 dsvc-register --id two 'range 8'
	[[ $output == *"cannot record anything"* ]]
	grep -q 'state.db: it was removed or replaced while in use; nothing new is promised' "$BATS_TEST_TMPDIR/dispatch.err"
	mv "$s.away" "$s"
	until_true 10s dsvc-register --id two 'range 8'
	kill_dispatcher
	state
	run -0 dsvc-status --json
	[[ $output == *'"one"'* && $output == *'"two"'* ]]
}

@test "a state that cannot be is refused with the system's words" {
	local s=$BATS_TEST_TMPDIR
	: >"$s/file"
	run -66 within 5s dsvc-dispatch --state "$s/file"
	[[ $output == *"Not a directory"* ]]
	mkdir -p "$s/dir/state.db"
	run -74 within 5s dsvc-dispatch --state "$s/dir"
	[[ $output == *"Is a directory"* ]]
	run -66 within 5s dsvc-dispatch --state "$s/no/where"
	run -64 within 5s dsvc-dispatch --state ''
}

@test "a full disk refuses new promises and keeps the old ones" {
	mkdir "$BATS_TEST_TMPDIR/state"
	# files of at most 400 KiB; a write beyond is an error, not a signal
	start dispatch bash -c "trap '' XFSZ; ulimit -f 400; exec dsvc-dispatch --state '$BATS_TEST_TMPDIR/state' \"\$@\"" -
	local n=0 big
	big=$(head -c 20000 /dev/zero | tr '\0' 'x')
	dsvc-register --id before 'range 3'
	while ((n++ < 100)) && dsvc-register "elements [\"$n$big\"]" 2>"$BATS_TEST_TMPDIR/err"; do :; done
	((n < 100))
	[[ $(<"$BATS_TEST_TMPDIR/err") == *"cannot record"* ]]
	run -74 dsvc-register 'range 99'
	[[ $output == *"cannot record anything"* ]]
	[[ $(<"$BATS_TEST_TMPDIR/dispatch.err") == *"nothing new is promised"* ]]
	kill_dispatcher
	state
	start work dsvc-work
	run -0 dsvc-read -t count before
	[[ $output == 3 ]]
}

@test "finished work is removed in time" {
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state" --job-gc 0.2s
	start work dsvc-work
	run -0 dsvc-read -t count -e 'range 100000'
	until_true 5s bash -c "dsvc-status --json | grep -q '\"jobs\":\[\]'"
	stop dispatch
	state
	run -0 dsvc-status --json
	[[ $output == *'"jobs":[]'* ]]
}

@test "datasets that nobody uses are forgotten, those with a name are not" {
	local s=$BATS_TEST_TMPDIR/state id
	start dispatch dsvc-dispatch --state "$s" --dataset-gc 0.2s
	id=$(dsvc-register 'range 3')
	dsvc-register --id mine 'range 4'
	until_true 5s bash -c "[[ \$(dsvc-status --json | jq -c '[.datasets[].id]') == '[\"mine\"]' ]]"
	run -66 dsvc-read "$id"
	stop dispatch
	# for good
	start dispatch dsvc-dispatch --state "$s"
	run -0 dsvc-status --json
	[[ $(jq -c '[.datasets[].id]' <<<"$output") == '["mine"]' ]]
	# nor is one forgotten that was used before the restart
	id=$(dsvc-register 'range 5')
	stop dispatch
	start dispatch dsvc-dispatch --state "$s"
	start work dsvc-work
	run -0 within 10s dsvc-read -t count "$id"
	[[ $output == 5 ]]
}

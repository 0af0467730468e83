#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A reader that is killed and started again goes on where it was.

load lib/dsvc

many='range 300000 | map {i: x, pad: "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"}'

setup() {
	dsvc_setup
	pos=$BATS_TEST_TMPDIR/position
	out=$BATS_TEST_TMPDIR/out
}

work() { start "$1" dsvc-work --memory 1M -j "${2:-1}" --drain-timeout 1s; }

exactly_once() {
	sed 's/^{"i":\([0-9]*\),.*/\1/' "$@" | sort -n | cmp - <(seq 0 299999)
}

size_over() { (($(stat -c %s "$1" 2>/dev/null || echo 0) > $2)); }

@test "killed at some time, its file holds each element once" {
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	work one
	work two
	local k
	for k in 1 2 3; do
		spawn reader dsvc-read --window 2 --wait-workers 2 --checkpoint "$pos" -o "$out" -e "$many"
		until_true 10s size_over "$out" $((k * 5000000))
		kill -KILL "${pid[reader]}"
		reap reader
	done
	stop two # nobody is there to take what it has: it gives up
	((status == 75))
	[[ -s $pos ]]
	run -0 dsvc-read --checkpoint "$pos" -o "$out" -e "$many"
	exactly_once "$out"
	# at the end it stays at the end
	run -0 dsvc-read --checkpoint "$pos" -o "$out" -e "$many"
	exactly_once "$out"
}

@test "in stable order the file is byte for byte that of an undisturbed run" {
	start dispatch dsvc-dispatch
	work one 2
	run -0 dsvc-read --order stable --seed 7 -o "$out.whole" -e "$many"
	exactly_once "$out.whole"
	spawn reader dsvc-read --window 2 --order stable --seed 7 --checkpoint "$pos" -o "$out" -e "$many"
	until_true 10s size_over "$out" 5000000
	kill -KILL "${pid[reader]}"
	reap reader
	work two 3
	run -0 dsvc-read --order stable --seed 7 --checkpoint "$pos" -o "$out" -e "$many"
	cmp "$out" "$out.whole"
}

@test "in the order of the source it is what dsvc-run gives" {
	start dispatch dsvc-dispatch
	work one 2
	dsvc-run "$many" >"$out.whole"
	dsvc-read --order source -e "$many" >"$out.read"
	cmp "$out.read" "$out.whole"
	spawn reader dsvc-read --window 2 --order source --checkpoint "$pos" -o "$out" -e "$many"
	until_true 10s size_over "$out" 5000000
	kill -KILL "${pid[reader]}"
	reap reader
	run -0 dsvc-read --order source --checkpoint "$pos" -o "$out" -e "$many"
	cmp "$out" "$out.whole"
}

@test "INT saves the position" {
	start dispatch dsvc-dispatch
	work one
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	spawn reader env --default-signal=INT bash -c "exec dsvc-read --window 2 --checkpoint '$pos' -e '$many' >'$BATS_TEST_TMPDIR/pipe'"
	exec 9<"$BATS_TEST_TMPDIR/pipe"
	take_lines 20000 9 >"$out.1"
	kill -INT "${pid[reader]}"
	cat <&9 >>"$out.1"
	reap reader
	((status == 130))
	exec 9<&-
	dsvc-read --checkpoint "$pos" -e "$many" >"$out.2"
	exactly_once "$out.1" "$out.2"
}

@test "-n takes the elements portion by portion" {
	start dispatch dsvc-dispatch
	work one
	local k
	for k in 1 2 3 4 5; do
		dsvc-read --checkpoint "$pos" -n 7000 -e 'range 30000' >>"$out"
	done
	sort -n "$out" | cmp - <(seq 0 29999)
}

@test "the consumer says what it has finished" {
	start dispatch dsvc-dispatch
	work one
	mkfifo "$BATS_TEST_TMPDIR/pipe" "$BATS_TEST_TMPDIR/acks"
	spawn reader bash -c "exec dsvc-read --order source --checkpoint '$pos' --ack-fd 5 -e 'range 1000' 5<'$BATS_TEST_TMPDIR/acks' >'$BATS_TEST_TMPDIR/pipe'"
	exec 8>"$BATS_TEST_TMPDIR/acks"
	exec 9<"$BATS_TEST_TMPDIR/pipe"
	for ((i = 0; i < 1000; i++)); do IFS= read -r -t "$patience" -u 9 line; done
	echo 100 >&8
	echo 400 >&8
	exec 8>&-
	reap reader
	((status == 75))
	[[ $(<"$BATS_TEST_TMPDIR/reader.err") == *"400 of 1000"* ]]
	exec 9<&-
	run -0 dsvc-read --order source --checkpoint "$pos" -e 'range 1000'
	[[ ${lines[0]} == 400 && ${#lines[@]} == 600 ]]
}

@test "with everything finished it ends well" {
	start dispatch dsvc-dispatch
	work one
	mkfifo "$BATS_TEST_TMPDIR/acks"
	exec 8<>"$BATS_TEST_TMPDIR/acks"
	spawn reader dsvc-read --ack-fd 5 -t none -e 'range 1000' 5<"$BATS_TEST_TMPDIR/acks"
	echo 1000 >&8
	reap reader
	((status == 0))
	exec 8>&-
}

@test "what the consumer says is taken at its word, if it is one" {
	start dispatch dsvc-dispatch
	work one
	printf '5' >"$BATS_TEST_TMPDIR/acks" # cut off: 5 are finished, at least
	run -0 dsvc-read --ack-fd 5 -t none -e 'range 5' 5<"$BATS_TEST_TMPDIR/acks"
	printf '2 3\n' >"$BATS_TEST_TMPDIR/acks"
	run -65 dsvc-read --ack-fd 5 -t none -e 'range 50' 5<"$BATS_TEST_TMPDIR/acks"
	[[ $output == *"not a number"* ]]
	echo 51 >"$BATS_TEST_TMPDIR/acks"
	run -65 dsvc-read --ack-fd 5 -t none -e 'range 50' 5<"$BATS_TEST_TMPDIR/acks"
	[[ $output == *"51 elements were finished, of 50"* ]]
}

@test "a position of another dataset is refused with both ids" {
	start dispatch dsvc-dispatch
	work one
	local a b
	a=$(dsvc-register 'range 1000')
	b=$(dsvc-register 'range 1001')
	run -0 dsvc-read --checkpoint "$pos" -n 10 -t none "$a"
	run -65 dsvc-read --checkpoint "$pos" -t none "$b"
	[[ $output == *"$a"* && $output == *"$b"* ]]
	run -65 dsvc-read --checkpoint "$pos" -t none -e 'range 1001'
	[[ $output == *"$a"* && $output == *"$b"* ]]
}

@test "what is no position is refused" {
	start dispatch dsvc-dispatch
	work one
	echo rubbish >"$pos"
	run -65 dsvc-read --checkpoint "$pos" -e 'range 10'
	[[ $output == *"$pos is not a position"* ]]
	run -64 dsvc-read --checkpoint "$pos" -t json -e 'range 10'
	run -64 dsvc-read --checkpoint "$pos" --epochs 2 -e 'range 10'
	run -64 dsvc-read --ack-fd 77 -e 'range 10'
}

@test "nothing is written before a first position is safe" {
	start dispatch dsvc-dispatch
	work one
	run -74 dsvc-read --checkpoint "$BATS_TEST_TMPDIR/none/position" -o "$out" -e 'range 10'
	[[ ! -s $out ]]
	# killed as soon as it has one, nobody waits for it; so slow that it cannot be done by then
	local spec='range 1000 | map str(x) | sleep 1ms'
	spawn reader dsvc-read -J j --checkpoint "$pos" -o "$out" -e "$spec"
	until_true 10s test -s "$pos"
	kill -KILL "${pid[reader]}"
	reap reader
	run -0 dsvc-read -J j --checkpoint "$pos" -o "$out" -e "$spec"
	sort -n "$out" | cmp - <(seq 0 999)
}

@test "a file that lost what was saved is refused" {
	start dispatch dsvc-dispatch
	work one
	run -0 dsvc-read --checkpoint "$pos" -o "$out" -n 100 -e 'range 1000'
	: >"$out"
	run -65 dsvc-read --checkpoint "$pos" -o "$out" -e 'range 1000'
	[[ $output == *"fewer than"* ]]
	rm "$out"
	run -65 dsvc-read --checkpoint "$pos" -o "$out" -e 'range 1000'
	[[ $output == *"is missing"* && ! -e $out ]]
}

@test "a position can be gone on from again, with an order" {
	start dispatch dsvc-dispatch
	work one
	cd "$BATS_TEST_TMPDIR"
	local order rest
	for order in stable source; do
		rm -f pos
		dsvc-read --order "$order" --checkpoint pos -n 400 -e 'range 1000' >first
		cp pos copy
		dsvc-read --checkpoint pos -e 'range 1000' >rest
		sort -n first rest | cmp - <(seq 0 999)
		for _ in 1 2; do
			cp copy again
			run -0 --separate-stderr dsvc-read --order "$order" --checkpoint again -n 200 -e 'range 1000'
			[[ $output == "$(head -n 200 rest)" && ! $stderr ]]
			run -0 --separate-stderr dsvc-read --checkpoint again -e 'range 1000'
			[[ $output == "$(tail -n +201 rest)" && ! $stderr ]]
		done
	done
}

@test "without an order a position is gone on from once, and that is said" {
	start dispatch dsvc-dispatch
	work one
	cd "$BATS_TEST_TMPDIR"
	dsvc-read --checkpoint pos -n 400 -e 'range 1000' >first
	cp pos copy
	dsvc-read --checkpoint pos -n 200 -e 'range 1000' >second
	# while the pass runs, and when it is over
	for _ in 1 2; do
		run -65 dsvc-read --checkpoint copy -e 'range 1000'
		[[ $output == *"has gone on from this position"*"--order stable"* ]]
		dsvc-read --checkpoint pos -q -e 'range 1000' >>second
	done
	sort -n first second | cmp - <(seq 0 999)
	# of a job with a name the rest is the others': there it is refused with an order too
	dsvc-read -J j --order stable --checkpoint jpos -n 400 -t none -e 'range 1000'
	cp jpos copy
	dsvc-read -J j --order stable --checkpoint jpos -n 200 -t none -e 'range 1000'
	cp copy one
	run -65 dsvc-read -J j --order stable --checkpoint one -e 'range 1000'
	[[ $output == *"a reader of job \`j\` has gone on"*"leave out --job"* ]]
	[[ $(dsvc-read --checkpoint copy -e 'range 1000' | wc -l) == 600 ]]
}

@test "options that are not those of the position are refused" {
	start dispatch dsvc-dispatch
	work one
	cd "$BATS_TEST_TMPDIR"
	dsvc-read -J j --order stable --checkpoint pos -n 400 -t none -e 'range 1000'
	run -64 dsvc-read -J k --checkpoint pos -e 'range 1000'
	[[ $output == *"belongs to job \`j\`, not to job \`k\`"* ]]
	run -64 dsvc-read --order source --checkpoint pos -e 'range 1000'
	[[ $output == *"belongs to order stable, not to order source"* ]]
	run -64 dsvc-read --shards 3 --checkpoint pos -e 'range 1000'
	run -64 dsvc-read --epoch 2 --checkpoint pos -e 'range 1000'
	run -64 dsvc-read --sharding off --checkpoint pos -e 'range 1000'
}

@test "a position with one changed bit is refused" {
	start dispatch dsvc-dispatch
	work one
	cd "$BATS_TEST_TMPDIR"
	dsvc-read --order stable --checkpoint pos -n 400 -t none -e 'range 1000'
	local at size byte rc=0
	size=$(stat -c %s pos)
	for ((at = 0; at < size; at++)); do
		cp pos changed
		byte=$(od -An -tu1 -j "$at" -N 1 pos)
		# shellcheck disable=SC2059
		printf "\\x$(printf %02x $((byte ^ (1 << at % 8))))" | dd of=changed bs=1 seek="$at" conv=notrunc status=none
		rc=0
		dsvc-read --checkpoint changed -t none -e 'range 1000' 2>message || rc=$?
		((rc == 65 || rc == 76)) || { echo "byte $at: $rc"; cat message; return 1; }
		[[ -s message ]] || return 1
	done
	[[ $(dsvc-read --checkpoint pos -e 'range 1000' | wc -l) == 600 ]]
}

# The seed of a job is not that of its second pass; where nobody gave one, only the position has it.
@test "a position of the second pass goes on with another dispatcher" {
	local spec='range 60 | shuffle 1000' ask=(--order stable --shards 2 --epoch 2)
	start dispatch dsvc-dispatch
	work one
	run -0 dsvc-read "${ask[@]}" --seed 5 -J whole -o "$out.whole" -e "$spec"
	run -0 dsvc-read "${ask[@]}" --seed 5 -J job -n 25 --checkpoint "$pos" -o "$out" -e "$spec"
	run -0 dsvc-read "${ask[@]}" -J any -n 25 --checkpoint "$pos.any" -o "$out.any" -e "$spec"
	stop dispatch
	reap one
	start dispatch dsvc-dispatch
	work one
	run -0 dsvc-read "${ask[@]}" --seed 5 -J job --checkpoint "$pos" -o "$out" -e "$spec"
	cmp "$out" "$out.whole"
	run -0 dsvc-read "${ask[@]}" -J any --checkpoint "$pos.any" -o "$out.any" -e "$spec"
	cmp <(sort -n "$out.any") <(seq 0 59)
}

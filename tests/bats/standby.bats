#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A second dispatcher on the state of the first, and programs that know the addresses of both.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

many='range 300000 | map {i: x, pad: "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"}'

# Two dispatchers, the first of which has the state; $both is what programs are told. Nobody
# else is killed here, and programs find the second one in time also where all are slow.
pair() { # ADDRESS ADDRESS
	start first dsvc-dispatch --insecure --loss 30s --state state -b "$1"
	both=$ready
	waiting second "$2"
}

waiting() { # NAME ADDRESS
	spawn "$1" dsvc-dispatch --insecure --loss 30s --state state --standby -b "$2"
	until_true 10s grep -q 'waiting for its end' "$1.err"
}

slow() { # ARG...: one element is taken, the rest by rest
	mkfifo pipe
	spawn reader bash -c 'exec dsvc-read --window 2 "$@" >pipe' - "$@"
	exec 9<pipe
	IFS= read -r -t "$patience" -u 9 one
}

rest() {
	{ echo "$one"; cat <&9; } | sed 's/^{"i":\([0-9]*\),.*/\1/' | sort -n | cmp - <(seq 0 299999)
	reap reader 20
	((status == 0))
}

killed() {
	kill -KILL "${pid[$1]}"
	reap "$1"
}

@test "the standby takes over from one that is killed, and a pass comes out whole" {
	pair "$(free_ipc a)" "$(free_ipc b)"
	DSVC_DISPATCHER=$both,$(free_ipc b)
	export DSVC_DISPATCHER
	start one dsvc-work --memory 1M -j 1
	start two dsvc-work --memory 1M -j 1
	slow --wait-workers 2 -e "$many"
	killed first
	rest
	run -0 dsvc-status --audit all
	[[ $output == *balanced* ]]
	grep -q 'ready on .*/b$' second.err
}

@test "the same by tcp, twice: the first one comes back as the standby of the second" {
	# A loopback address of its own for each, so that nobody has the port.
	local here=tcp://127.$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1)) a b
	a=$here.1:5050 b=$here.2:5050
	pair "$a" "$b"
	export DSVC_DISPATCHER=$a,$b
	start one dsvc-work --insecure --memory 1M -j 1
	start two dsvc-work --insecure --memory 1M -j 1
	slow --wait-workers 2 --order stable -e "$many"
	killed first
	until_true 10s grep -q 'ready on' second.err
	head -c 5000000 <&9 >part
	waiting again "$a"
	killed second
	until_true 10s grep -q 'ready on' again.err
	{ echo "$one"; cat part - <&9; } | sed 's/^{"i":\([0-9]*\),.*/\1/' | sort -n | cmp - <(seq 0 299999)
	reap reader 20
	((status == 0))
	[[ $(dsvc-status --json | jq '.workers | length') == 2 ]]
}

@test "a program reaches the one that answers, whichever is named first" {
	start only dsvc-dispatch -b "$(free_ipc b)"
	start one dsvc-work -d "$(free_ipc a),$(free_ipc b)"
	for both in "$(free_ipc a),$(free_ipc b)" "$(free_ipc b),$(free_ipc a)"; do
		run -0 within 5s dsvc-read -d "$both" -t count -e 'range 7'
		[[ $output == 7 ]]
		run -0 within 5s dsvc-run -d "$both" 'range 7 | distribute | count'
		[[ $output == 7 ]]
		run -0 within 5s dsvc-status -d "$both"
	done
	stop only
	run -69 dsvc-status -d "$both"
	[[ $output == *"no dispatcher at $both (from -d)"* ]]
}

@test "one that is there and does not answer is passed over" {
	start stopped dsvc-dispatch -b "$(free_ipc a)"
	start only dsvc-dispatch -b "$(free_ipc b)"
	start one dsvc-work -d "$(free_ipc b)"
	kill -STOP "${pid[stopped]}"
	run -0 within 20s dsvc-read -d "$(free_ipc a),$(free_ipc b)" -t count -e 'range 7'
	[[ $output == 7 ]]
	run -0 within 20s dsvc-status -d "$(free_ipc a),$(free_ipc b)"
	kill -CONT "${pid[stopped]}"
}

@test "the standby of one that ends in order takes over, too, at the same address" {
	start first dsvc-dispatch --insecure --state state
	spawn second dsvc-dispatch --insecure --state state --standby
	until_true 10s grep -q 'waiting for its end' second.err
	dsvc-register --id mine 'range 7'
	stop first
	((status == 0))
	start one dsvc-work
	run -0 dsvc-read -t count mine
	[[ $output == 7 ]]
}

@test "a standby that waits ends by a signal, and serves at once where nobody has the state" {
	start first dsvc-dispatch --insecure --state state
	waiting second "$(free_ipc b)"
	stop second
	((status == 0))
	run -69 dsvc-dispatch --insecure --state state -b "$(free_ipc b)"
	start alone dsvc-dispatch --state other --standby -b "$(free_ipc b)"
}

@test "what cannot be a pair is refused" {
	run -64 dsvc-dispatch --standby
	[[ $output == *'--standby needs --state'* ]]
	run -64 dsvc-status -d 'tcp://127.0.0.1:5050,/run/x'
	[[ $output == *'all tcp:// or all ipc://'* ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT

load lib/dsvc

says_so() { [[ $(dsvc-events) == *"$1"* ]]; }

@test "help and version need nothing, and operands are refused" {
	run -0 dsvc-events --version
	run -0 dsvc-events -h
	[[ $output == *--follow* ]]
	run -64 dsvc-events operand
	run -64 dsvc-events -n 501
	run -69 dsvc-events
	[[ $output == *"no dispatcher at $endpoint"* ]]
}

@test "a pass is told from the worker that comes to its last element, each with its time" {
	start dispatch dsvc-dispatch
	start work dsvc-work --name bob -j 2
	dsvc-read -J train -t none -e 'range 1000'
	run -0 dsvc-events
	[[ ${lines[0]} == "$(date +%Y)-"*:*"  worker bob joined, with 2 slots" ]]
	[[ ${lines[1]} == *"  job train began pass 1" ]]
	[[ ${lines[2]} == *"  job train is done with pass 1: 1000 elements in "*" s" ]]
	((${#lines[@]} == 3))
	run -0 dsvc-events -n 1
	[[ $output == *"is done"* ]]
	((${#lines[@]} == 1))
	run -0 dsvc-events -n 0
	[ -z "$output" ]
	run -0 dsvc-events --json
	((${#lines[@]} == 3))
	[[ ${lines[1]} == '{"number":2,"time":"'*'","text":"job train began pass 1"}' ]]
}

@test "streams of a worker that is killed are told of, and elements that fail" {
	start dispatch dsvc-dispatch
	start one dsvc-work --name one -j 2
	dsvc-read -J slow -t none --order any -e 'range 100000 | map (x % 50000 == 7 ? 1 // 0 : x) on_error=skip | sleep 20us' &
	local reader=$!
	until_true 20s says_so 'job slow began pass 1'
	start two dsvc-work --name two -j 2
	kill -9 "${pid[one]}"
	wait "$reader"
	run -0 dsvc-events
	[[ $output == *'worker one was lost; its '*' to others'* ]]
	[[ $output == *' of job slow went to worker two'* ]]
	[[ $output == *' of job slow failed and w'*' left out'* ]]
	[[ $output == *'job slow is done with pass 1: 99998 elements'* ]]
}

@test "what happens is followed until a signal comes, over a dispatcher that begins anew" {
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	start work dsvc-work --name bob
	dsvc-read -J first -t none -e 'range 5'
	spawn watch dsvc-events -f
	local out=$BATS_TEST_TMPDIR/watch.out
	until_true 20s grep -q 'job first is done' "$out"
	dsvc-forget first
	until_true 20s grep -q 'job first was forgotten' "$out"
	kill -9 "${pid[dispatch]}"
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	dsvc-read -J second -t none -e 'range 5'
	until_true 20s grep -q 'job second is done' "$out"
	stop watch
	((status == 0))
}

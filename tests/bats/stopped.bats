#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Programs that are stopped for longer than makes them lost (Ctrl-Z, a machine that
# is moved) and go on. Without --state, where a lost dispatcher ends everybody.

load lib/dsvc

# A dispatcher that misses nobody for more than half a second.
quick_service() { # WORKERS
	local n
	start dispatch dsvc-dispatch --loss 500ms
	for ((n = 1; n <= $1; n++)); do
		start "work$n" dsvc-work
	done
}

workers_are() { # N
	[[ $(dsvc-status --json 2>/dev/null | jq '.workers | length') == "$1" ]]
}

readers_are() { # N
	[[ $(dsvc-status --json 2>/dev/null | jq '.readers | length') == "$1" ]]
}

has_lines() { # FILE
	[[ -s $1 ]]
}

@test "a worker that was stopped comes back and works" {
	quick_service 1
	kill -STOP "${pid[work1]}"
	until_true 10s workers_are 0
	kill -CONT "${pid[work1]}"
	until_true 10s workers_are 1
	run -0 within 20s dsvc-read -e 'range 5 | map x*x'
	[[ $(sort -n <<<"$output" | tr '\n' ' ') == "0 1 4 9 16 " ]]
	stop work1
	((status == 0))
}

@test "the streams of a stopped worker go on elsewhere, and it takes new ones" {
	quick_service 2
	spawn read dsvc-read -e 'range 400 | sleep 5ms' -n 400
	until_true 10s has_lines "$BATS_TEST_TMPDIR/read.out"
	kill -STOP "${pid[work1]}"
	until_true 10s workers_are 1
	kill -CONT "${pid[work1]}"
	until_true 10s workers_are 2
	reap read 30
	((status == 0))
	[[ $(sort -n "$BATS_TEST_TMPDIR/read.out" | uniq | wc -l) == 400 ]]
	stop work1
	((status == 0))
}

@test "a reader that was stopped goes on where it was" {
	quick_service 1
	spawn read dsvc-read -e 'range 300 | sleep 5ms'
	until_true 10s has_lines "$BATS_TEST_TMPDIR/read.out"
	kill -STOP "${pid[read]}"
	until_true 10s readers_are 0
	kill -CONT "${pid[read]}"
	reap read 30
	((status == 0))
	[[ $(sort -n "$BATS_TEST_TMPDIR/read.out") == "$(seq 0 299)" ]]
}

@test "a stopped reader of a shared job has lost its seat to one that came meanwhile" {
	quick_service 1
	spawn first dsvc-read -J shared -e 'range 300 | sleep 5ms'
	until_true 10s has_lines "$BATS_TEST_TMPDIR/first.out"
	kill -STOP "${pid[first]}"
	until_true 10s readers_are 0
	run -0 within 30s dsvc-read -J shared -e 'range 300 | sleep 5ms'
	kill -CONT "${pid[first]}"
	reap first 30
	((status == 75))
	grep -q 'took this reader for lost' "$BATS_TEST_TMPDIR/first.err"
}

@test "a dispatcher that is really gone is still noticed" {
	quick_service 1
	stop dispatch KILL
	reap work1 10
	((status == 75))
}

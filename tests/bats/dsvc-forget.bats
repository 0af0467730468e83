#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154

load lib/dsvc

service_kept() { # ARG...
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state" "$@"
	start work dsvc-work
}
restarted() { # ARG...
	stop dispatch KILL
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state" "$@"
}

# A reader that has written some lines and stands still.
reading() { # JOB ARG...
	mkfifo "$BATS_TEST_TMPDIR/out"
	spawn read bash -c "exec dsvc-read -J $1 -e counter ${*:2} >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	IFS= read -r -t 10 -u 9 _
	until_true 10s bash -c "dsvc-status --json | jq -e '[.jobs[].iterations[].acknowledged] | add > 0'"
}
names() { dsvc-status --json | jq -c '[.jobs[].name]'; }

@test "help and version need nothing, and something must be named" {
	run -0 dsvc-forget --version
	run -0 dsvc-forget -h
	[[ $output == *--dataset* ]]
	run -64 dsvc-forget
	[[ $output == *"no job or dataset named"*"dsvc-status"* ]]
	run -64 dsvc-forget ''
	run -69 dsvc-forget job
}

@test "the environment names nothing that is forgotten" {
	DSVC_DATASET=mine DSVC_FORCE=1 run -64 dsvc-forget
	service 0
	dsvc-register --id mine 'range 3'
	DSVC_DATASET=mine run -66 dsvc-forget nobody
	[[ $(dsvc-status --json | jq -c '[.datasets[].id]') == '["mine"]' ]]
}

@test "a job that was forgotten begins anew" {
	service
	dsvc-read -J train -t none -e 'range 10'
	run -0 dsvc-read -q -J train -t count -e 'range 10'
	[[ $output == 0 ]]
	run -0 dsvc-forget train
	[[ ! $output ]]
	[[ $(names) == '[]' ]]
	run -66 dsvc-forget train
	[[ $output == *"no job \`train\`"* ]]
	run -0 dsvc-read -J train -t count -e 'range 10'
	[[ $output == 10 ]]
	run -0 dsvc-forget -v train
	[[ $output == *"forgot 1 job, 0 datasets; 0 readers"* ]]
}

@test "all that is named is forgotten, or nothing" {
	service
	dsvc-read -J one -t none -e 'range 10'
	dsvc-read -J two -t none -e 'range 20'
	run -66 dsvc-forget one nobody two
	[[ $(names) == '["one","two"]' ]]
	dsvc-forget one two
	[[ $(names) == '[]' ]]
	# an anonymous one has a number
	dsvc-read -t none -e 'range 10'
	dsvc-forget "$(dsvc-status --json | jq '.jobs[0].job')"
	[[ $(names) == '[]' ]]
}

@test "a job with readers is refused; by force its readers end with 66" {
	service
	reading long
	run -75 dsvc-forget long
	[[ $output == *"job \`long\` has 1 reader"*--force* ]]
	dsvc-forget --force long
	cat <&9 >/dev/null # to its end
	exec 9<&-
	reap read
	((status == 66))
	[[ $(<"$BATS_TEST_TMPDIR/read.err") == *"forgotten by dsvc-forget"* ]]
	[[ $(names) == '[]' ]]
	until_true 5s bash -c "[[ \$(dsvc-status --json | jq '.workers[0].streams') == 0 ]]"
}

@test "a reader that waits for workers ends with 66, too" {
	service 0
	spawn read dsvc-read -J wait --wait-workers 3/60s -e 'range 10'
	until_true 5s bash -c "dsvc-status --json | jq -e '.readers[0].waiting'"
	run -75 dsvc-forget wait
	dsvc-forget --force wait
	reap read
	((status == 66))
}

@test "it is forgotten for good, also with a state" {
	service_kept
	dsvc-read -J train -t none -e 'range 1000'
	dsvc-read -J half -n 3 -t none -e 'range 1000'
	reading long
	dsvc-forget train half
	dsvc-forget --force long
	cat <&9 >/dev/null # to its end
	exec 9<&-
	reap read
	((status == 66))
	restarted
	[[ $(names) == '[]' ]]
	run -66 dsvc-forget long
	run -0 dsvc-read -J train -t count -e 'range 1000'
	[[ $output == 1000 ]]
	run -0 dsvc-status --audit train
	[[ ${lines[1]} == *balanced ]]
}

@test "a reader that was told nothing, because it stood still, is told when it is back" {
	service_kept
	reading long
	kill -STOP "${pid[read]}"
	dsvc-forget --force long
	kill -CONT "${pid[read]}"
	cat <&9 >/dev/null # to its end
	exec 9<&-
	reap read
	((status == 66))
}

@test "datasets: in use, by force, unknown" {
	service
	dsvc-register --id mine 'range 10'
	run -66 dsvc-forget --dataset nobody
	[[ $output == *"no dataset \`nobody\`"* ]]
	dsvc-read -J train -n 3 -t none mine
	run -75 dsvc-forget --dataset mine
	[[ $output == *"dataset \`mine\` is in use: job \`train\` is not over"*--force* ]]
	dsvc-forget --force --dataset mine
	run -66 dsvc-read mine
	[[ $(names) == '[]' ]]
	# the name is free for another pipeline
	dsvc-register --id mine 'range 20'
	# a job that is over does not use it, unless somebody has a position
	dsvc-read -t none mine
	dsvc-forget --dataset mine
	[[ $(names) == '[]' ]]
	dsvc-register --id mine 'range 20'
	dsvc-read -t none --checkpoint "$BATS_TEST_TMPDIR/pos" mine
	run -75 dsvc-forget --dataset mine
	[[ $output == *"has a position"* ]]
}

@test "a position is good for longer than a finished job, over a restart" {
	local job
	service_kept --job-gc 100ms
	dsvc-read --checkpoint "$BATS_TEST_TMPDIR/pos" -n 300 -o "$BATS_TEST_TMPDIR/all" -e 'range 1000'
	dsvc-read -J half -n 3 -t none -e 'range 1000'
	dsvc-read -J over -t none -e 'range 1000'
	until_true 5s bash -c "[[ \$(dsvc-status --json | jq -c '[.jobs[].name]') == '[\"\",\"half\"]' ]]"
	[[ $(dsvc-status --json | jq -c '[.jobs[].forgotten_in_ms / 86400000 | ceil]') == '[7,7]' ]]
	run -0 dsvc-status
	[[ $output == *"forgotten in 6d"* ]]
	restarted --job-gc 100ms
	run -0 dsvc-read -J half -t count -e 'range 1000'
	[[ $output == 997 ]]
	dsvc-read --checkpoint "$BATS_TEST_TMPDIR/pos" -o "$BATS_TEST_TMPDIR/all" -e 'range 1000'
	[[ $(sort -n "$BATS_TEST_TMPDIR/all" | cksum) == $(seq 0 999 | cksum) ]]
	# forgotten, a position of a job without an order is of no use
	job=$(dsvc-status --json | jq '.jobs[] | select(.name == "").job')
	dsvc-forget "$job"
	run -66 dsvc-read --checkpoint "$BATS_TEST_TMPDIR/pos" -o "$BATS_TEST_TMPDIR/all" -e 'range 1000'
}

@test "jobs without readers go when their time has passed, or never" {
	start dispatch dsvc-dispatch --job-gc never --job-gc-unfinished 300ms
	start work dsvc-work
	dsvc-read -J half -n 3 -t none -e 'range 1000'
	dsvc-read -J over -t none -e 'range 1000'
	until_true 5s bash -c "[[ \$(dsvc-status --json | jq -c '[.jobs[].name]') == '[\"over\"]' ]]"
	[[ $(dsvc-status --json | jq -c '.jobs[0].forgotten_in_ms') == null ]]
	run -0 dsvc-status
	[[ $output == *over*finished*" never"* ]]
	run -64 dsvc-dispatch --job-gc always
	[[ $output == *"never"* ]]
}

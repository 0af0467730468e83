#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Real passes that are held up at a known place: dsvc-why names it.

load lib/dsvc

# The answer about the job is this one, as soon as BEATs have told enough.
why_is() { # LIMIT [JOB]
	local limit=$1
	shift
	[[ $(dsvc-why --json "$@" | jq -r .limit) == "$limit" ]]
}

@test "help and version need nothing, and a job that is not there is 66" {
	run -0 dsvc-why --version
	run -0 dsvc-why -h
	[[ $output == *--json* ]]
	run -64 dsvc-why one two
	run -69 dsvc-why
	service
	run -66 dsvc-why
	[[ $output == *'there is no job'* ]]
	run -66 dsvc-why missing
	dsvc-read -J squares -t none -e 'range 10 | map x*x'
	run -0 dsvc-why squares
	[[ $output == 'squares, pass 1: nothing: it is finished, with 10 elements' ]]
	run -0 dsvc-why
	[[ $output == 'squares, pass 1: nothing'* ]]
	run -65 dsvc-read -J bad -t none -e 'range 10 | map 1 // (x - 7)'
	run -0 dsvc-why bad
	[[ $output == 'bad, pass 1: it failed: '*'division by zero'* ]]
}

@test "an operator that is slow is named, with its share" {
	service
	seq 100000 >"$BATS_TEST_TMPDIR/lines"
	spawn read dsvc-read -J slow --sharding file --shards 1 -t none -e "lines '$BATS_TEST_TMPDIR/lines' | sleep 20ms | map [x]"
	until_true 20s why_is operator slow
	run -0 dsvc-why slow
	[[ $output =~ ^'slow, pass 1: operator 2 `sleep 20ms` takes '[0-9]+' % of the workers'\'' time, and readers wait '[0-9]+' % of theirs; more workers would not help: ' ]]
	run -0 dsvc-why --json slow
	jq -e '.operator == 2 and .operator_text == "sleep 20ms" and .operator_share > 0.5 and .slots_most == 1' <<<"$output"
}

@test "a source that is slow, and jobs of which one must be named" {
	start dispatch dsvc-dispatch
	start work dsvc-work -j 2
	local job
	for job in one two; do
		spawn "$job" dsvc-read -J "$job" -t none -e "cmd shell=true -- 'while sleep 0.05; do echo 1; done'"
	done
	until_true 20s why_is source one
	run -0 dsvc-why one
	[[ $output == *'the source `cmd '* ]]
	until_true 20s eval '[[ $(dsvc-status --json | jq "[.jobs[].iterations[] | select(.state == \"running\")] | length") == 2 ]]'
	run -64 dsvc-why
	[[ $output =~ '2 jobs are under way'.*'help: name one of them: '('one, two'|'two, one') ]]
}

@test "too few workers are said to be too few, and how many more could be used" {
	start dispatch dsvc-dispatch
	start work dsvc-work -j 1
	spawn read dsvc-read -t none -e 'range 100000000 | sleep 1ms'
	until_true 20s why_is workers
	run -0 dsvc-why
	[[ $output =~ 'too few workers: their 1 slot is busy, 4 could be used, and readers wait '[0-9]+' % of the time; operator 2 `sleep 1ms` takes '[0-9]+' % of the workers'\'' time; start workers with up to 3 more slots' ]]
	stop work
	until_true 20s why_is 'no workers'
}

@test "a reader whose output is not taken, one that is slow itself, and none at all" {
	service
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	spawn out bash -c 'exec dsvc-read -J out -e "range 100000000" >"$1"' - "$BATS_TEST_TMPDIR/pipe"
	exec {pipe}<"$BATS_TEST_TMPDIR/pipe"
	until_true 20s why_is output out
	run -0 dsvc-why out
	[[ $output =~ 'the output of the reader took nothing '[0-9]+' % of the time, and workers were held back '[0-9]+' % of theirs; make the program faster that reads it' ]]
	spawn own dsvc-read -t none -e 'range 100000000 | distribute job=own | sleep 1ms'
	until_true 20s why_is reader own
	kill -KILL "${pid[out]}"
	exec {pipe}<&-
	until_true 20s why_is 'no reader' out
}

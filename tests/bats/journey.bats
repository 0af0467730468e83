#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What only holds when all programs hold: elements arrive exactly once, whatever
# happens to workers and readers.

load lib/dsvc
load lib/slowly

@test "register, dispatch, two workers, read over ipc" {
	service 2
	local id
	id=$(dsvc-register "$many")
	dsvc-read "$id" >"$BATS_TEST_TMPDIR/all"
	exactly_once "$BATS_TEST_TMPDIR/all"
}

@test "register, dispatch, two workers, read over tcp" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	start one dsvc-work --insecure
	start two dsvc-work --insecure
	local id
	id=$(dsvc-register "$many")
	dsvc-read "$id" >"$BATS_TEST_TMPDIR/all"
	exactly_once "$BATS_TEST_TMPDIR/all"
}

@test "a worker killed in mid-pass loses and repeats nothing" {
	start dispatch dsvc-dispatch
	work one
	work two
	read_slowly reader --wait-workers 2 -e "$many"
	kill -KILL "${pid[one]}"
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader
	((status == 0))
	exactly_once "$BATS_TEST_TMPDIR/all"
}

@test "all workers killed, a new one takes their streams up" {
	start dispatch dsvc-dispatch
	work one
	work two
	read_slowly reader --wait-workers 2 -e "$many"
	kill -KILL "${pid[one]}" "${pid[two]}"
	work three
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader
	((status == 0))
	exactly_once "$BATS_TEST_TMPDIR/all"
}

@test "a worker that joins late takes part" {
	start dispatch dsvc-dispatch
	work one
	read_slowly reader -e "$many"
	work two
	until_true 5s bash -c "dsvc-status --json | grep -q '\"streams\":[1-9].*\"streams\":[1-9]'"
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader
	exactly_once "$BATS_TEST_TMPDIR/all"
}

@test "a worker told to end hands its streams over" {
	start dispatch dsvc-dispatch
	work one
	work two
	read_slowly reader --wait-workers 2 -e "$many"
	kill -TERM "${pid[one]}"
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader
	((status == 0))
	reap one
	((status == 0))
	exactly_once "$BATS_TEST_TMPDIR/all"
	run -0 dsvc-status --audit all --json
	[[ $output == *'"made_again":0,'* ]]
}

@test "a worker that was stopped and comes back changes nothing" {
	start dispatch dsvc-dispatch
	work one
	work two
	read_slowly reader --wait-workers 2 -e "$many"
	kill -STOP "${pid[one]}"
	read_rest "$BATS_TEST_TMPDIR/all" &
	local rest=$!
	exec {pipe}<&-
	# it counts as lost after five seconds without a beat
	until_true 15s bash -c "! kill -0 ${pid[reader]} 2>/dev/null || dsvc-status --json | grep -q '\"generation\":2'"
	kill -CONT "${pid[one]}"
	wait "$rest"
	reap reader
	((status == 0))
	exactly_once "$BATS_TEST_TMPDIR/all"
}

@test "what a killed reader of a job had not finished goes to the others" {
	start dispatch dsvc-dispatch
	work one
	read_slowly victim -J shared -e "$many"
	kill -KILL "${pid[victim]}"
	{
		echo "$first"
		cat <&"$pipe"
	} >"$BATS_TEST_TMPDIR/a"
	exec {pipe}<&-
	dsvc-read -J shared -e "$many" >"$BATS_TEST_TMPDIR/b"
	# nothing is lost; what the victim had written and not yet told of may come again
	sed 's/^{"i":\([0-9]*\),.*/\1/' "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" | grep '^[0-9]*$' | sort -nu >"$BATS_TEST_TMPDIR/u"
	(($(wc -l <"$BATS_TEST_TMPDIR/u") >= 299999))
}

@test "from one worker to four and back in mid-pass" {
	start dispatch dsvc-dispatch
	work w1
	read_slowly reader -e "$many"
	work w2
	work w3
	work w4
	local w
	for w in w1 w2 w3; do kill -TERM "${pid[$w]}"; done
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader
	((status == 0))
	for w in w1 w2 w3; do
		reap "$w"
		((status == 0))
	done
	exactly_once "$BATS_TEST_TMPDIR/all"
	run -0 dsvc-status --audit all
	[[ $output == *balanced* ]]
}

@test "operators with memory go on where their worker was killed" {
	start dispatch dsvc-dispatch
	start one dsvc-work --memory 1M -j 1 --restart-interval 0.02s
	start two dsvc-work --memory 1M -j 1 --restart-interval 0.02s
	# shuffle and batch keep elements; restart points carry them
	read_slowly reader --wait-workers 2 --seed 3 -e "$many | shuffle 1000 per_stream=true | batch 10 per_stream=true | unbatch"
	take_lines 30000 "$pipe" >"$BATS_TEST_TMPDIR/part"
	kill -KILL "${pid[one]}"
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader
	((status == 0))
	exactly_once "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/part"
}

@test "the last reader gone stops the work within a second" {
	start dispatch dsvc-dispatch
	work one
	mkfifo "$BATS_TEST_TMPDIR/out"
	spawn reader bash -c "exec dsvc-read -e counter >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	IFS= read -r -t "$patience" -u 9 _
	kill -KILL "${pid[reader]}"
	exec 9<&-
	until_true 1s bash -c "dsvc-status --json | grep -q '\"streams\":0'"
	# and nothing is computed any more
	local before after
	before=$(cut -d' ' -f14 "/proc/${pid[one]}/stat")
	run -0 dsvc-read -t count -e 'range 10'
	after=$(cut -d' ' -f14 "/proc/${pid[one]}/stat")
	((after - before < 50))
}

@test "a fifo feeds a pass that two readers share over tcp" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	start one dsvc-work --insecure --compression snappy
	dsvc-read -J j -e "$many" >"$BATS_TEST_TMPDIR/a" &
	local other=$!
	dsvc-read -J j -e "$many" >"$BATS_TEST_TMPDIR/b"
	wait "$other"
	exactly_once "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
}

@test "a service that is done ends by itself" {
	start dispatch dsvc-dispatch --exit-when-idle 3s
	# It waits for the worker; meanwhile the service is not idle, however slow the machine is.
	spawn read dsvc-read -t count -e 'range 1000'
	start work dsvc-work
	reap read
	[[ $(<"$BATS_TEST_TMPDIR/read.out") == 1000 ]]
	reap dispatch 5
	((status == 0))
	reap work 2
	((status == 0))
	grep -q 'the dispatcher has ended' "$BATS_TEST_TMPDIR/work.err"
}

@test "ending the dispatcher ends the service, in order" {
	start dispatch dsvc-dispatch
	work one
	work two
	read_slowly reader -e "$many"
	stop dispatch
	((status == 0))
	reap one 2
	((status == 0))
	reap two 2
	((status == 0))
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader 2
	((status == 75))
	[[ $(<"$BATS_TEST_TMPDIR/reader.err") == *"the dispatcher has been ended"*--state* ]]
}

@test "a dispatcher with a state that is ended by a signal is waited for" {
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	work one
	read_slowly reader -e "$many"
	stop dispatch INT
	((status == 0))
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state" --exit-when-idle 3s
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader 20
	((status == 0))
	# idle, it is over, with a state too
	reap dispatch 10
	reap one 2
	((status == 0))
}

@test "a dispatcher lost in mid-pass ends its readers with 75" {
	start dispatch dsvc-dispatch
	work one
	read_slowly reader -e "$many"
	kill -KILL "${pid[dispatch]}"
	read_rest "$BATS_TEST_TMPDIR/all"
	reap reader 12
	((status == 75))
	[[ $(<"$BATS_TEST_TMPDIR/reader.err") == *dispatcher* ]]
}

@test "the order of the source is kept behind what works ahead" {
	start dispatch dsvc-dispatch
	work one
	work two
	local spec='range 300000 | prefetch | map x+1'
	dsvc-run "$spec" >"$BATS_TEST_TMPDIR/alone"
	run -0 dsvc-read --order source -o "$BATS_TEST_TMPDIR/served" -e "$spec"
	cmp "$BATS_TEST_TMPDIR/alone" "$BATS_TEST_TMPDIR/served"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT

load lib/dsvc

@test "help and version need nothing" {
	run -0 dsvc-status --version
	run -0 dsvc-status -h
	[[ $output == *--audit* ]]
	run -64 dsvc-status operand
}

@test "a dispatcher that is not there is told at once" {
	run -69 within 2s dsvc-status
	[[ $output == *"no dispatcher at $endpoint"* ]]
}

@test "workers, jobs and datasets are shown" {
	service 0
	run -0 dsvc-status
	[[ $output == *"no workers"* && $output == *"no jobs"* && $output == *"no --state"* ]]
	start work dsvc-work --name bob
	dsvc-register --id mine 'range 10'
	dsvc-read -J train -t none mine
	run -0 dsvc-status
	[[ $output == *bob* && $output == *train* && $output == *mine* && $output == *finished* ]]
}

@test "json is one line that tells all of it" {
	service
	dsvc-read -J train -t none -e 'range 10'
	run -0 dsvc-status --json
	((${#lines[@]} == 1))
	[[ $output == *'"workers":[{'* && $output == *'"name":"train"'* && $output == *'"acknowledged":10'* ]]
}

@test "of jobs that are over the last twenty are shown, and how many more there are" {
	local readers=()
	service
	for i in {1..22}; do
		dsvc-read -J "job-$i-" -t none -e 'range 0' &
		readers+=($!)
	done
	wait "${readers[@]}"
	run -0 dsvc-status
	(($(grep -c 'job-.*finished' <<< "$output") == 20))
	[[ $output == *"and 2 more (--all)"* ]]
	run -0 dsvc-status --all
	(($(grep -c 'job-.*finished' <<< "$output") == 22))
	[[ $output != *more* ]]
}

@test "the books of a finished job balance" {
	service 2
	dsvc-read -J train -t none -e 'range 100000'
	run -0 dsvc-status --audit train
	[[ ${lines[0]} == *made*acknowledged*lost*repeated* ]]
	[[ ${lines[1]} == *train*finished*100000*balanced ]]
	run -0 dsvc-status --audit train --json
	[[ $output == *'"acknowledged":100000'*'"lost":0,"repeated":0'* ]]
	run -66 dsvc-status --audit nobody
}

@test "an open job is open" {
	service
	mkfifo "$BATS_TEST_TMPDIR/out"
	spawn read bash -c "exec dsvc-read -J long -e counter >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	IFS= read -r -t "$patience" -u 9 _
	run -0 dsvc-status --audit long
	[[ ${lines[1]} == *running*open ]]
	exec 9<&-
}

@test "readers, rates and streams are shown" {
	service
	mkfifo "$BATS_TEST_TMPDIR/out"
	spawn read bash -c "exec dsvc-read -J long -e counter >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	IFS= read -r -t "$patience" -u 9 _
	run -0 dsvc-status -v
	[[ $output == *"PER SECOND"* && $output == *READER*reading* && $output == *RESTART* ]]
	run -0 dsvc-status --json
	[[ $output == *'"balanced":false,"per_second":'* ]]
	[[ $(jq -r '.readers[0].name' <<<"$output") == "$(uname -n):${pid[read]}" ]]
	[[ $(jq -r '.readers[0].hostname, .workers[0].hostname' <<<"$output") == "$(uname -n)"$'\n'"$(uname -n)" ]]
	# a number that programs which read JSON would round is a text
	[[ $(jq -r '.jobs[0].iterations[0].seed' <<<"$output") == "$(grep -o '"seed":"[0-9]*"' <<<"$output" | tr -dc 0-9)" ]]
	run -0 dsvc-status
	[[ ${lines[1]} == *' HOST' && ${lines[2]} == *"  $(uname -n)" ]]
	exec 9<&-
}

@test "below a pass that runs stands who waits, what is wanted, how long it takes, and what limits it" {
	local shares='readers wait [0-9]* %  workers held back [0-9]* %  [0-9]* slots* wanted'
	service
	spawn slow dsvc-read -q -J slow -t none -e 'range 100000000 | sleep 1ms'
	mkfifo "$BATS_TEST_TMPDIR/out" # which nobody reads
	spawn held bash -c "exec dsvc-read -q -J held -e counter >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	paced() { run -0 dsvc-status -v && (($(grep -c '^    limit: ' <<<"$output") == 2)); }
	until_true "$patience"s paced
	[[ $(grep -A 2 '^slow ' <<<"$output") =~ $shares'  about '[0-9a-z\ ]+' left'.*'limit: too few workers: their ' ]]
	[[ $(grep -A 2 '^held ' <<<"$output") =~ $shares$'\n    limit: the output of the reader took nothing' ]]
	stop slow
	run -0 dsvc-status
	[[ $(grep -A 1 '^slow ' <<<"$output") != *limit* ]]
	exec 9<&-
}

@test "a pass that failed is told as such, and spoils no other books" {
	service
	run -65 --separate-stderr dsvc-read -J bad -e 'range 300 | sleep 2ms | map 1 // (x - 250)'
	local had=${#lines[@]}
	dsvc-read -J good -t none -e 'range 10'
	run -65 --separate-stderr dsvc-status --audit bad
	[[ ${lines[1]} == *"  failed  "*" failed" ]]
	# what it delivered stays in its books, but for what was under way
	read -ra row <<<"${lines[1]}"
	((row[7] > 0 && row[7] <= had))
	[[ $stderr == *"pass 1 failed: "*"division by zero"* ]]
	run -65 --separate-stderr dsvc-status --audit bad --json
	[[ $(jq -c '.jobs[0].iterations[0] | [.books, .balanced]' <<<"$output") == '["failed",false]' ]]
	run -0 dsvc-status --audit all
	[[ $output == *" failed"*balanced* && $output != *"DOES NOT"* ]]
}

@test "watch looks again and ends with INT" {
	service
	spawn watch env --default-signal=INT dsvc-status --watch --interval 0.05s
	twice() { (($(grep -c '^dispatcher' "$BATS_TEST_TMPDIR/watch.out") >= 2)); }
	until_true 5s twice
	stop watch INT
	((status == 0))
}

@test "watch looks on when the dispatcher was killed and is there again" {
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	spawn watch env --default-signal=INT dsvc-status --watch --interval 0.05s
	looks() { (($(grep -c '^dispatcher' "$BATS_TEST_TMPDIR/watch.out") >= $1)); }
	until_true 5s looks 2
	kill -KILL "${pid[dispatch]}"
	reap dispatch
	local before
	before=$(grep -c '^dispatcher' "$BATS_TEST_TMPDIR/watch.out")
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	until_true 8s looks $((before + 3))
	# also while nobody answers the first signal is enough
	kill -STOP "${pid[dispatch]}"
	stop watch INT
	((status == 0))
}

@test "the number of slots that are wanted: none, one, as many as there is work for" {
	service 0
	run -0 dsvc-status --wanted
	[[ $output == 0 ]]
	seq 3 >"$BATS_TEST_TMPDIR/a"
	cp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	cp "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/c"
	# It waits for a worker.
	spawn read dsvc-read -t none --wait-workers 1/60s -e "whole $BATS_TEST_TMPDIR/[abc] | sleep 60s"
	until_true 20s bash -c '[[ $(dsvc-status --wanted) == 1 ]]'
	start work dsvc-work -j 8
	until_true 20s bash -c 'dsvc-status --json | grep -q "\"slots_most\":[123],"'
	n=$(dsvc-status --wanted)
	((n >= 1 && n <= 3))
	n=$(dsvc-status --wanted=workers --busy 0.5)
	((n == 1))
	run -64 dsvc-status --wanted --metrics
	[[ $output == *"different things"* ]]
	run -64 dsvc-status --wanted --busy 1.5
	run -64 dsvc-status --busy 0.5
	run -64 dsvc-status --wanted=people
}

@test "a reader that waits for slow workers wants more of them" {
	service
	spawn read dsvc-read -t none -J slow -e 'range 1000000 | sleep 5ms'
	# Twice as many slots as there are are few enough to be wanted for sure.
	until_true 30s bash -c '(($(dsvc-status --wanted) > 1))'
	run -0 dsvc-status --json
	[[ $output == *'"slots_wanted":'* && $output == *'"slot_work_ms":'* ]]
	stop read
	until_true 10s bash -c '[[ $(dsvc-status --wanted) == 0 ]]'
}

@test "metrics have HELP and TYPE, and each series stands once" {
	service
	dsvc-read -t none -J 'a "b"\c' -e 'range 10'
	dsvc-read -t none -e 'range 10'
	dsvc-read -t none -e 'range 10'
	run -0 dsvc-status --metrics=workers
	[[ $output == *'dsvc_elements_acknowledged_total{dsvc_job="a \"b\"\\c"} 10'* ]]
	[[ $output == *'dsvc_elements_acknowledged_total{dsvc_job="-"} 20'* ]]
	[[ $output == *'dsvc_elements_lost_total{dsvc_job="-"} 0'* && $output == *'dsvc_worker_slots{worker='* ]]
	awk '/^#/ { if ($2 == "TYPE") type[$3] = $4; else help[$3] = 1; next }
		{ name = $1; sub(/[{].*/, "", name); series = $0; sub(/ [^ ]*$/, "", series) }
		!(name in type) || !(name in help) || seen[series]++ || !($NF ~ /^[0-9.e+-]+$/) { print "bad: " $0; bad = 1 }
		name != last && closed[name]++ { print "scattered: " name; bad = 1 }
		{ last = name }
		name ~ /_total$/ != (type[name] == "counter") { print "counter? " $0; bad = 1 }
		END { exit bad }' <<<"$output"
	run -0 dsvc-status --metrics
	[[ $output != *dsvc_worker_slots* ]]
}

@test "metrics tell the version, the start, slots, splits that are left and streams that moved" {
	local before=$EPOCHSECONDS value
	service 0
	start work1 dsvc-work -j 3
	run -0 dsvc-status --metrics
	[[ $output == *"dsvc_build_info{version=\"$(<VERSION)\",protocol="* ]]
	value=$(sed -n 's/^dsvc_start_time_seconds //p' <<<"$output")
	((${value%.*} >= before - 1 && ${value%.*} <= EPOCHSECONDS))
	[[ $output == *'dsvc_slots{state="idle"} 3'* && $output == *'dsvc_stream_moves_total{cause="lost"} 0'* ]]
	spawn read dsvc-read -q -J one -t none -e 'range 1_000_000_000 | sleep 1ms'
	spawn endless dsvc-read -q -J endless -t none -e 'counter | sleep 1ms'
	until_true 20s bash -c 'dsvc-status --metrics | grep -qx "dsvc_slots{state=\"idle\"} 0"'
	run -0 dsvc-status --metrics
	[[ $output =~ 'dsvc_splits_left{dsvc_job="one"} '[1-9] && $output != *'dsvc_splits_left{dsvc_job="endless"}'* ]]
	[[ $output == *'dsvc_jobs{state="running"} 2'* ]]
	stop work1 KILL
	until_true 20s bash -c 'dsvc-status --metrics | grep -q "^dsvc_stream_moves_total{cause=\"lost\"} [1-9]"'
	stop read KILL
	stop endless KILL
}

@test "a full disk is no success" {
	service 0
	run -74 bash -c 'dsvc-status >/dev/full'
	run -74 bash -c 'dsvc-status --json >/dev/full'
}

@test "the table fits 80 columns, names what people know, and ends with what happened; -v cuts nothing" {
	start dispatch dsvc-dispatch
	start work dsvc-work --name a-worker-with-a-name-that-is-much-too-long-for-a-column --tag gpu
	mkfifo "$BATS_TEST_TMPDIR/out"
	local pipeline='counter | map {text: "ä long pipeline, which goes on and on and on and on and on and on and on"}'
	spawn read bash -c "exec dsvc-read -J a-job-whose-name-is-long --where gpu -e '$pipeline' >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	IFS= read -r -t "$patience" -u 9 _
	run -0 dsvc-status
	local line
	for line in "${lines[@]}"; do
		((${#line} <= 80)) || echo "$line"
		((${#line} <= 80))
	done
	[[ $output == *'a-worker-with-a-n…  '*" ${pid[work]} "* && $output == *'a-job-whose-nam…  '*running* ]]
	[[ $output == *'ä long'*…* ]]
	[[ $output == *AGO*EVENT*'worker a-worker-with'*'joined'*'job a-job-whose-name-is-long began pass 1'* ]]
	run -0 dsvc-status -v
	[[ $output == *'and on and on"}'* ]]
	exec 9<&-
}

@test "time and elements of operators are counted for each dataset, as metrics too" {
	service 2
	dsvc-read -J one -t none -e 'range 1000 | filter x % 2 == 0 | map x + 1'
	elements() {
		[[ $(dsvc-status --json | jq -cS '.datasets[0].operators | map({(.operator | tostring): .elements}) | add') == \
			'{"1":1000,"2":500,"3":500}' ]]
	}
	until_true 10s elements
	dsvc-status --json | jq -e '[.datasets[0].operators[].busy_seconds] | add > 0 and add < 100'
	local id
	id=$(dsvc-status --json | jq -r '.datasets[0].id')
	[[ $(dsvc-status --metrics) == *$'\n'"dsvc_op_elements_total{dataset=\"$id\",op=\"2\"} 500"$'\n'* ]]
}

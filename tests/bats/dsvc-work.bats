#!/usr/bin/env bats
# SPDX-License-Identifier: MIT

load lib/dsvc

@test "help and version need nothing" {
	run -0 dsvc-work --version
	[[ ${lines[0]} == dsvc-work* ]]
	run -0 dsvc-work -h
	[[ $output == *--memory* ]]
	run -0 dsvc-work --help
}

@test "wrong options are usage errors" {
	run -64 dsvc-work -j -x
	run -64 dsvc-work -j many
	run -64 dsvc-work --memory 1
	run -64 dsvc-work operand
	run -64 dsvc-work -d 'ipc://'
}

@test "a dispatcher that is not there is told at once" {
	run -69 within 2s dsvc-work --insecure
	[[ $output == *"no dispatcher at $endpoint (the default): nothing is listening there"* ]]
	run -69 within 2s dsvc-work --insecure -d tcp://127.0.0.1:1
	[[ $output == *"tcp://127.0.0.1:1 (from -d): connection refused"* ]]
	DSVC_DISPATCHER=tcp://127.0.0.1:1 run -69 within 2s dsvc-work --insecure
	[[ $output == *"(from DSVC_DISPATCHER)"* ]]
}

@test "it binds as it reaches the dispatcher" {
	mkdir -m 700 "$sockets/dsvc"
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*' -b "$endpoint"
	local tcp=$ready
	start one dsvc-work
	[[ $ready == "ipc://$sockets/dsvc/work-"* ]]
	start two dsvc-work --insecure -d "$tcp"
	[[ $ready =~ ^tcp://127\.0\.0\.1:[0-9]+$ ]]
	start three dsvc-work -b "$(free_ipc mine)"
	[[ $ready == "$(free_ipc mine)" ]]
}

@test "TCP without a key is said by hand, on loopback too" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	run -77 --separate-stderr dsvc-work -d "$ready"
	[ "${stderr_lines[0]}" = "dsvc-work: no key is known for $ready" ]
	[ "${stderr_lines[1]}" = '  help: ask for an invitation: dsvc-invite work, on 127.0.0.1; or say --insecure, if the network is yours alone' ]
	DSVC_INSECURE=1 run -77 dsvc-work -d "$ready"
	run -64 dsvc-work -d "$ready" --insecure -b 'tcp://*:*'
	[[ $output == *"where readers find"* ]]
}

@test "an idle worker ends at the first signal" {
	service
	stop work1
	((status == 0))
}

@test "it ends with standard input when asked" {
	start dispatch dsvc-dispatch
	mkfifo "$BATS_TEST_TMPDIR/in"
	exec 9<>"$BATS_TEST_TMPDIR/in"
	dsvc-work --until-stdin-eof --ready-file "$BATS_TEST_TMPDIR/up" <"$BATS_TEST_TMPDIR/in" 9>&- 3>&- &
	pid[work]=$!
	echo $! >>"$BATS_TEST_TMPDIR/pids"
	until_true 5s test -e "$BATS_TEST_TMPDIR/up"
	exec 9>&-
	reap work 5
	((status == 0))
}

@test "a dispatcher that kept nothing and is lost ends its workers with 75" {
	service
	kill -KILL "${pid[dispatch]}"
	reap work1 8
	((status == 75))
	[[ $(<"$BATS_TEST_TMPDIR/work1.err") == *dispatcher* ]]
}

@test "a new dispatcher at the same address is served after the old one was lost" {
	service
	kill -KILL "${pid[dispatch]}"
	reap dispatch
	start dispatch dsvc-dispatch
	run -0 within 10s dsvc-read -t count -e 'range 1000'
	[[ $output == 1000 ]]
}

@test "socket files of killed workers are swept away" {
	service
	kill -KILL "${pid[work1]}"
	reap work1
	start again dsvc-work
	run bash -c "ls '$sockets/dsvc' | grep -c '^work-[^.]*$'"
	[[ $output == 1 ]]
}

@test "elements are the same compressed" {
	start dispatch dsvc-dispatch
	start work dsvc-work --compression snappy
	run -0 bash -c "dsvc-read -e 'range 100000' | sort -n | cmp - <(seq 0 99999)"
	run -0 bash -c "dsvc-read -n 70000 -e 'range 100000' | wc -l"
	[[ $output == 70000 ]]
}

# A worker that has a stream nobody takes elements of.
stuck_worker() {
	start dispatch dsvc-dispatch
	start work dsvc-work -j 1 --memory 1M "$@"
	mkfifo "$BATS_TEST_TMPDIR/out"
	spawn read bash -c "exec dsvc-read --window 1 -e 'range 3_000_000 | map [x, x, x, x]' >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	IFS= read -r -t "$patience" -u 9 _
	until_true 10s keeps_much # more than a pipe takes
}
keeps_much() { dsvc-status --json | grep -Eq '"kept_bytes":[0-9]{6,}'; }

@test "the second signal ends it at once" {
	stuck_worker
	kill -TERM "${pid[work]}"
	until_true 5s grep -q draining "$BATS_TEST_TMPDIR/work.err"
	kill -TERM "${pid[work]}" || : # it may have got rid of all in the meantime
	reap work 5
	((status == 0))
	exec 9<&-
}

@test "USR2 drains it" {
	service 1
	kill -USR2 "${pid[work1]}"
	reap work1
	((status == 0))
}

@test "draining ends in time, whoever does not read" {
	stuck_worker --drain-timeout 0.3s
	stop work
	((status == 75))
	[[ $(<"$BATS_TEST_TMPDIR/work.err") == *"in time"* ]]
	exec 9<&-
}

# The most threads that a process has had while another one runs.
threads_while() { # PID OF
	local most=0 n
	while kill -0 "$2" 2>/dev/null; do
		n=$(ls "/proc/$1/task" | wc -l)
		((n > most)) && most=$n
	done
	echo "$most"
}

@test "a thousand streams take turns on one slot" {
	start dispatch dsvc-dispatch
	start one dsvc-work -j 1
	spawn read dsvc-read --order stable --shards 1000 -e 'range 300000'
	local most
	most=$(threads_while "${pid[one]}" "${pid[read]}")
	reap read 30
	((status == 0))
	# main, those of libzmq, two of the pool and of listing, six for streams
	((most > 2 && most < 16))
	[[ $(sort -n "$BATS_TEST_TMPDIR/read.out" | cmp - <(seq 0 299999) && echo same) == same ]]
	# and the order is that of any other service
	stop one
	start four dsvc-work -j 4
	dsvc-read --order stable --shards 1000 -e 'range 300000' | cmp - "$BATS_TEST_TMPDIR/read.out"
}

@test "the first elements of many slow streams do not wait for all" {
	start dispatch dsvc-dispatch
	start work dsvc-work -j 1
	# each of 200 streams would take 20 s by itself
	run -0 within 10s dsvc-read -n 70 --order stable --shards 200 -e 'range 2000000 | sleep 2ms'
	((${#lines[@]} == 70))
}

@test "a job that never ends does not keep its slot from others" {
	start dispatch dsvc-dispatch
	start work dsvc-work -j 1
	spawn endless dsvc-read -t none -e counter
	spawn stuck dsvc-read -e 'range 1 | exec proto=stream -- sleep 1000'
	until_true 10s bash -c "(( \$(dsvc-status --json | jq '[.jobs[].iterations[].streams[] | select(.state == \"running\")] | length') == 2 ))"
	run -0 within 20s dsvc-read -t count -e 'range 1000'
	[[ $output == 1000 ]]
}

@test "children and state outlive a stream's rest" {
	start dispatch dsvc-dispatch
	start work dsvc-work -j 1
	# each of eight streams has a program of its own, which counts what it is given
	run -0 within 30s dsvc-read --order stable --shards 8 -e \
		'range 40000 | sleep 50us | exec window=16 -- grep -n --line-buffered .'
	((${#lines[@]} == 40000))
	(($(grep -c '^1:' <<<"$output") == 8))
}

@test "a stream that kills its workers fails, and leaves the others alone" {
	service 7 # a loss may count half
	# sees element 700 and kills the worker that it is a child of
	cat >"$BATS_TEST_TMPDIR/deadly" <<-'END'
		#!/bin/bash
		while IFS= read -r x; do
			[[ $x == 700 ]] && kill -KILL "$(ps -o ppid= $$)"
			echo "$x"
		done
	END
	chmod +x "$BATS_TEST_TMPDIR/deadly"
	spawn innocent dsvc-read -J innocent -t count -e 'range 600 | sleep 5ms'
	run -65 within 60s dsvc-read -J guilty -t none -e "range 1000 | exec window=1 -- $BATS_TEST_TMPDIR/deadly"
	[[ $output == *"stream "*" of dataset "*" has cost "*" workers, and got no further"*"its split "* ]]
	reap innocent 30
	((status == 0))
	[[ $(<"$BATS_TEST_TMPDIR/innocent.out") == 600 ]]
	run -0 within 20s dsvc-read -t count -e 'range 1000'
	[[ $output == 1000 ]]
}

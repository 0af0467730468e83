#!/usr/bin/env bats
# SPDX-License-Identifier: MIT

load lib/dsvc

@test "help and version need nothing" {
	run -0 dsvc-dispatch --version
	[[ ${lines[0]} == dsvc-dispatch* && $output == *"protocol 1"* ]]
	run -0 dsvc-dispatch -h
	[[ $output == *--exit-when-idle* ]]
	run -0 dsvc-dispatch --help
	[[ $output == *"EXIT"* || $output == *"Exit"* || $output == *69* ]]
}

@test "wrong options and operands are usage errors" {
	run -64 dsvc-dispatch --nonsense
	run -64 dsvc-dispatch operand
	run -64 dsvc-dispatch -b udp://here:5
	[[ $output == *"udp://here:5"* ]]
	run -64 dsvc-dispatch -b tcp://127.0.0.1:70000
}

@test "without options it serves the user's private socket" {
	start dispatch dsvc-dispatch
	[[ $ready == "$endpoint" ]]
	[[ $(stat -c %a "$sockets/dsvc") == 700 ]]
	stop dispatch
	((status == 0))
}

@test "a folder that others may enter is refused" {
	mkdir -m 755 "$sockets/dsvc"
	run -77 dsvc-dispatch
	[[ $output == *0700* ]]
}

@test "any free port is taken and told" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*'
	[[ $ready =~ ^tcp://127\.0\.0\.1:[0-9]+$ ]]
	stop dispatch INT
	((status == 0))
}

@test "several addresses serve one state" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*' -b "$(free_ipc second)"
	run -0 dsvc-register -d "$ready" --id one 'range 3'
	run -0 dsvc-register -d "$(free_ipc second)" --id one 'range 3'
	run -65 dsvc-register -d "$(free_ipc second)" --id one 'range 4'
}

@test "an address that is taken is refused in words" {
	start dispatch dsvc-dispatch
	run -69 within 5s dsvc-dispatch
	[[ $output == *"$endpoint"*"another program listens there"* ]]
	start tcp dsvc-dispatch -b 'tcp://127.0.0.1:*'
	run -69 within 5s dsvc-dispatch -b "$ready"
}

@test "the socket of a killed dispatcher is taken over" {
	start dispatch dsvc-dispatch
	kill -KILL "${pid[dispatch]}"
	reap dispatch
	[[ -S ${endpoint#ipc://} ]]
	start again dsvc-dispatch
	run -0 dsvc-register 'range 3'
}

@test "a file that is no socket is left alone" {
	mkdir -m 700 "$sockets/dsvc"
	echo precious >"${endpoint#ipc://}"
	run -78 dsvc-dispatch
	[[ $(<"${endpoint#ipc://}") == precious ]]
}

@test "addresses beyond this machine need --insecure" {
	run -77 dsvc-dispatch -b 'tcp://*:*'
	[[ $output == *--insecure* ]]
	run -77 dsvc-dispatch -b 'tcp://0.0.0.0:*'
}

@test "it ends when it is idle" {
	start dispatch dsvc-dispatch --exit-when-idle 0.3s
	reap dispatch 5
	((status == 0))
}

@test "it does not end while a job goes on" {
	start dispatch dsvc-dispatch --exit-when-idle 0.3s
	start work dsvc-work -j 1
	mkfifo "$BATS_TEST_TMPDIR/out"
	spawn read bash -c "exec dsvc-read -e 'range 2_000_000' >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	IFS= read -r -t 10 -u 9 _
	# a second in which only the job keeps it from being idle
	run ! dsvc_wait "${pid[dispatch]}" 1
	cat <&9 >"$BATS_TEST_TMPDIR/all"
	exec 9<&-
	(($(wc -l <"$BATS_TEST_TMPDIR/all") == 1999999))
	reap dispatch 5
	((status == 0))
}

@test "it ends with standard input when asked" {
	mkfifo "$BATS_TEST_TMPDIR/in"
	exec 9<>"$BATS_TEST_TMPDIR/in"
	dsvc-dispatch --until-stdin-eof --ready-file "$BATS_TEST_TMPDIR/up" <"$BATS_TEST_TMPDIR/in" 9>&- 3>&- &
	pid[dispatch]=$!
	echo $! >>"$BATS_TEST_TMPDIR/pids"
	until_true 5s test -e "$BATS_TEST_TMPDIR/up"
	[[ $(<"$BATS_TEST_TMPDIR/up") == "$endpoint" ]]
	exec 9>&-
	reap dispatch 5
	((status == 0))
}

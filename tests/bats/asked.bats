#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Servers under a scheduler or a service manager: they say where they stand, leave by themselves, and tell
# the manager how they are.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

@test "USR1: where it stands in one line, and nothing else happens" {
	service
	kill -USR1 "${pid[dispatch]}" "${pid[work1]}"
	until_true 5s grep -qx 'dsvc-dispatch: 1 worker with [0-9]* slots\?; 0 streams; 0 readers; 0 jobs' dispatch.err
	until_true 5s grep -q '^dsvc-work: 0 streams on [0-9]* slots\?; 0.0 MB kept for readers; in contact with the dispatcher at ipc:' \
		work1.err
	[[ $(dsvc-read -e 'range 3') == $'0\n1\n2' ]]
}

@test "HUP: a dispatcher without a terminal reads its keys again, a worker its addresses, and both go on" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*' --ready-file up
	start work dsvc-work -d "$endpoint"
	kill -HUP "${pid[dispatch]}" "${pid[work]}"
	until_true 5s grep -q 'reading .*allowed again' dispatch.err
	[[ $(dsvc-read -d "$endpoint" -e 'range 3') == $'0\n1\n2' ]]
	stop work
	((status == 0))
}

@test "--exit-when-idle: a worker with nothing to do leaves in order, one with a stream does not" {
	start dispatch dsvc-dispatch
	start idle dsvc-work --exit-when-idle 300ms
	reap idle
	((status == 0))
	grep -q 'nothing to do for 0.3 s' idle.err
	mkfifo pipe
	spawn reader bash -c 'exec dsvc-read --window 1 -e "range 3000000 | map \"an element of some length\"" >pipe'
	exec 9<pipe
	start work dsvc-work -j 1 --memory 1M --exit-when-idle 2s
	IFS= read -r -t "$patience" -u 9 _
	kill -USR1 "${pid[work]}"
	until_true 5s grep -q '[1-9] stream' work.err
	[[ $(wc -l <&9) == 2999999 ]]
	reap reader
	((status == 0))
	reap work 20
	((status == 0))
	[[ ! $(dsvc-status --json | jq '.workers[]') ]]
}

@test "--lifetime: a worker drains by itself, and others finish the pass" {
	start dispatch dsvc-dispatch
	spawn short dsvc-work -j 1 --memory 1M --lifetime 1s
	start long dsvc-work -j 1 --memory 1M
	run -0 dsvc-read -t count -e 'range 200 | exec -- sh -c "while read -r x; do sleep 0.01; echo $x; done"'
	[[ $output == 200 ]]
	reap short 20
	((status == 0))
	grep -q 'its lifetime is over' short.err
	[[ $(dsvc-status --audit all) == *balanced* ]]
}

@test "a service manager is told READY, STATUS, STOPPING, and again and again that the loop turns" {
	cat >manager.py <<-'END'
		import os, socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind(sys.argv[1])
		os.write(int(sys.argv[-1]), b"up\n")
		while True:
		    print(s.recv(4096).decode(), flush=True)
	END
	start manager python3 manager.py "$PWD/notify"
	start dispatch env NOTIFY_SOCKET="$PWD/notify" WATCHDOG_USEC=100000 dsvc-dispatch
	start work env NOTIFY_SOCKET="$PWD/notify" WATCHDOG_USEC=100000 WATCHDOG_PID=1 dsvc-work # it is not meant
	until_true 5s grep -q 'STATUS=ready on ipc:' manager.out
	until_true 5s grep -q 'STATUS=works for the dispatcher at ipc:' manager.out
	(($(grep -c READY=1 manager.out) == 2))
	until_true 5s eval '(($(grep -c WATCHDOG=1 manager.out) >= 3))'
	# Programs of pipelines do not speak in its name.
	run -0 dsvc-read -e 'range 1 | exec proto=stream -- env'
	[[ $output == *PATH=* && $output != *NOTIFY_SOCKET* && $output != *WATCHDOG* ]]
	stop work
	stop dispatch
	until_true 5s eval '(($(grep -c STOPPING=1 manager.out) == 2))'
}

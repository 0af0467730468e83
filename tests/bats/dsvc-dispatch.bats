#!/usr/bin/env bats
# SPDX-License-Identifier: MIT

load lib/dsvc

@test "help and version need nothing" {
	run -0 dsvc-dispatch --version
	[[ ${lines[0]} == dsvc-dispatch* && $output == *"protocol 2"* ]]
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

@test "beat and loss must leave room for one late sign of life" {
	run -64 dsvc-dispatch --beat 3s --loss 5s
	[[ $output == *"--loss 5000ms"*"twice --beat 3000ms"*"--beat 3000ms --loss 15000ms"* ]]
	run -64 dsvc-dispatch --beat 3s
	run -64 dsvc-dispatch --loss 0
	run -64 dsvc-dispatch --beat 1ms
	run -64 dsvc-dispatch --loss 5s --job-gc soon
	[[ $output == *"never"* ]]
	start dispatch dsvc-dispatch --beat 100ms --loss 200ms
	stop dispatch
	((status == 0))
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
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	[[ $ready =~ ^tcp://127\.0\.0\.1:[0-9]+$ ]]
	stop dispatch INT
	((status == 0))
}

@test "several addresses serve one state" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*' -b "$(free_ipc second)"
	run -0 dsvc-register -d "$ready" --id one 'range 3'
	run -0 dsvc-register -d "$(free_ipc second)" --id one 'range 3'
	run -65 dsvc-register -d "$(free_ipc second)" --id one 'range 4'
}

@test "an address that is taken is refused in words" {
	start dispatch dsvc-dispatch
	run -69 within 5s dsvc-dispatch
	[[ $output == *"$endpoint"*"another program listens there"* ]]
	start tcp dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
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

@test "the environment does not lift the guard: TCP without keys is said by hand" {
	DSVC_INSECURE=1 DSVC_DISPATCH_INSECURE=1 start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*'
	grep -q " key [a-z2-7]\\{52\\} (keys of others: $XDG_CONFIG_HOME/dsvc/allowed)" "$BATS_TEST_TMPDIR/dispatch.err"
	run -77 dsvc-status -d "$ready"
	DSVC_INSECURE=nonsense run -0 dsvc-dispatch --version
}

@test "it ends when it is idle" {
	start dispatch dsvc-dispatch --exit-when-idle 0.3s
	reap dispatch 5
	((status == 0))
}

@test "it does not end while a job goes on" {
	mkfifo "$BATS_TEST_TMPDIR/out"
	start dispatch dsvc-dispatch --exit-when-idle 2s
	# The reader waits for the worker, and meanwhile the dispatcher is not idle.
	spawn read bash -c "exec dsvc-read -e 'range 2_000_000' >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	start work dsvc-work -j 1 9<&-
	IFS= read -r -t "$patience" -u 9 _
	# a time in which only the job keeps it from being idle
	run ! dsvc_wait "${pid[dispatch]}" 2.5
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

@test "a ready file is of this run: removed at the start, and at the end" {
	local file=$BATS_TEST_TMPDIR/up
	echo tcp://127.0.0.1:1 >"$file"
	# Whoever looks for the file finds the address of the one that is starting.
	spawn one dsvc-dispatch --ready-file "$file"
	until_true 5s grep -qsxF "$endpoint" "$file"
	run -0 dsvc-status -d "@$file"
	echo old >"$BATS_TEST_TMPDIR/work"
	start two dsvc-work --insecure -d "@$file" --ready-file "$BATS_TEST_TMPDIR/work"
	[[ $(<"$BATS_TEST_TMPDIR/work") == "$ready" ]]
	stop two
	[[ ! -e $BATS_TEST_TMPDIR/work ]]
	stop one
	[[ ! -e $file ]]
	# One that cannot start leaves no file that says it could.
	echo old >"$file"
	run -64 dsvc-dispatch -b tcp://127.0.0.1 --ready-file "$file"
	echo old >"$file"
	mkdir "$BATS_TEST_TMPDIR/taken"
	run -78 dsvc-dispatch -b "$BATS_TEST_TMPDIR/taken" --ready-file "$file"
	[[ ! -e $file ]]
}

@test "a FIFO as the ready file gets the line" {
	mkfifo "$BATS_TEST_TMPDIR/up"
	spawn d dsvc-dispatch --ready-file "$BATS_TEST_TMPDIR/up"
	local line
	read -r -t "$patience" line <"$BATS_TEST_TMPDIR/up"
	[[ $line == "$endpoint" ]]
	stop d
	[[ -p $BATS_TEST_TMPDIR/up ]]
}

@test "a socket is for its owner alone, and gone at the end" {
	umask 0
	local at=$sockets/at
	start d dsvc-dispatch --insecure -b "ipc://$at"
	[[ $(stat -c %a "$at") == 600 ]]
	start w dsvc-work -d "ipc://$at" -b "ipc://$sockets/w"
	[[ $(stat -c %a "$sockets/w") == 600 ]]
	start v dsvc-work -d "ipc://$at"
	stop v
	stop w
	stop d
	run -0 find "$sockets" -type s -o -name '*.lock'
	[[ $output == '' ]]
}

@test "-b and -d take the same spellings of an address" {
	local at
	for at in 'tcp://127.0.0.1:*' '127.0.0.1:*' 'localhost:*' 'tcp://localhost:*' "$sockets/plain" "ipc://$sockets/full"; do
		start d dsvc-dispatch --insecure -b "$at"
		run -0 dsvc-status -d "$ready"
		run -0 dsvc-status -d "${ready#*://}"
		start w dsvc-work --insecure -d "${ready#*://}" -b "$(sed "s/plain\|full/w/" <<<"$at")"
		stop w
		stop d
	done
	run -64 dsvc-dispatch -b localhost
	[[ $output == *'there is no port'* ]]
	run -64 dsvc-work -b http://x:1
	[[ $output == *'neither tcp:// nor ipc://'* ]]
}

@test "too few files that may be open are told at the start" {
	service
	local files program
	for files in 8 12 15 20 24 30; do
		for program in 'dsvc-dispatch --until-stdin-eof' 'dsvc-work --until-stdin-eof' 'dsvc-status' \
			"dsvc-read -e 'range 3'" "dsvc-register 'range 3'" "dsvc-run 'range 3 | distribute'"; do
			run within 10s bash -c "ulimit -n $files; exec $program" </dev/null
			((status == 78)) || { echo "$files: $program: $status: $output"; return 1; }
			[[ $output == *'files may be open (the limit is '*'help: raise the limit: ulimit -n'* ]]
		done
	done
	run -0 bash -c 'ulimit -n 64; dsvc-read -t count -e "range 3"'
	[[ $output == 3 ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# How far the work is: --progress, and the signal USR1.
load lib/dsvc

setup() {
	dsvc_setup
	mkfifo "$BATS_TEST_TMPDIR/in"
	exec 8<>"$BATS_TEST_TMPDIR/in"
}

said() { # NAME PATTERN
	grep -qE "$2" "$BATS_TEST_TMPDIR/$1.err"
}
gave() { # NAME LINE
	grep -qx "$2" "$BATS_TEST_TMPDIR/$1.out"
}

has_handler() { # NAME: it takes USR1, which would end it before
	local caught
	caught=$(awk '$1 == "SigCgt:" {print $2}' "/proc/${pid[$1]}/status")
	((0x$caught & 1 << 9))
}

@test "USR1 gets a line from a run at any time, and the run goes on" {
	spawn run dsvc-run -n 4 "lines $BATS_TEST_TMPDIR/in"
	echo a >&8
	until_true 5s gave run a
	kill -USR1 "${pid[run]}"
	until_true 5s said run '^dsvc-run: 1 elements  .*/s  read 2B  25%  ETA [0-9:]+$'
	printf '%s\n' b c d >&8
	reap run
	((status == 0))
	[[ $(<"$BATS_TEST_TMPDIR/run.out") == $'a\nb\nc\nd' ]]
	(($(wc -l <"$BATS_TEST_TMPDIR/run.err") == 1))
}

@test "a run tells how much of its files it has read" {
	seq 1000 >"$BATS_TEST_TMPDIR/numbers"
	printf '#!/bin/bash\nread -r x <%q/in\nexec cat\n' "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/waits"
	chmod +x "$BATS_TEST_TMPDIR/waits"
	spawn run dsvc-run -q "lines $BATS_TEST_TMPDIR/numbers | exec -- $BATS_TEST_TMPDIR/waits"
	# Asked again, since the first may come before the file has been read.
	asks() { kill -USR1 "${pid[run]}" && said run 'read 3.80KiB of 3.80KiB  100%$'; }
	until_true 5s has_handler run
	until_true 5s asks
	echo go >&8
	reap run
	((status == 0))
	(($(wc -l <"$BATS_TEST_TMPDIR/run.out") == 1000))
}

# A run of PIPELINE behind which a program stands still after 25 elements says at last what matches PATTERN.
stands_at_25() { # PIPELINE PATTERN
	local pattern="^dsvc-run: 25 elements .*/s  $2\$"
	spawn run dsvc-run -q "$1 | exec -- $BATS_TEST_TMPDIR/stops"
	asks() { kill -USR1 "${pid[run]}" && said run "$pattern"; }
	until_true "$patience"s has_handler run
	until_true "$patience"s asks
	echo go >&8
	reap run
	((status == 0))
}

@test "the share that is done is that of the elements, where it is known how many come out" {
	printf '#!/bin/bash\nfor ((i = 0; i < 25; i++)); do read -r x; echo "$x"; done\nread -r go <%q/in\nexec cat\n' \
		"$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/stops"
	chmod +x "$BATS_TEST_TMPDIR/stops"
	# The source was read ahead of the program; what has come out counts.
	stands_at_25 'range 100' '25%  ETA [0-9:]+'
	# Where an operator holds all back, it is the source that tells.
	stands_at_25 'range 100 | sort' '100%'
}

# Asks the reader until it has said how many elements it has, and which share they are; sets n and share.
reads_some() { # NAME PATTERN
	kill -USR1 "${pid[$1]}" || return 2
	[[ $(grep -oE '^dsvc-read: [1-9][0-9]* elements .*' "$BATS_TEST_TMPDIR/$1.err" | tail -n 1) =~ $2 ]] || return
	n=${BASH_REMATCH[1]} share=${BASH_REMATCH[2]-}
}

@test "a reader tells its share if nobody else takes elements of the job, or by -n" {
	local n share known='read: ([0-9]+) elements .*  ([0-9]+)%  ETA [0-9:]+  0 of'
	service
	# slow enough that none of them ends before it is asked
	spawn own dsvc-read -p never -e 'range 500 | sleep 500ms'
	spawn named dsvc-read -p never -J j -e 'range 500 | sleep 500ms'
	spawn some dsvc-read -p never -J k -n 200 -e 'counter | sleep 500ms'
	# Programs that write nothing: what they have worked on counts.
	spawn silent dsvc-read -p never --joblog "$BATS_TEST_TMPDIR/log" -e 'range 500 | sleep 500ms | exec proto=arg -- true'
	until_true "$patience"s has_handler own
	until_true "$patience"s reads_some own "$known"
	((share == n / 5))
	until_true "$patience"s has_handler some
	until_true "$patience"s reads_some some "$known"
	((share == n / 2))
	until_true "$patience"s has_handler silent
	until_true "$patience"s reads_some silent "$known"
	((share == n / 5))
	until_true "$patience"s has_handler named
	until_true "$patience"s reads_some named 'read: ([0-9]+) elements .*B  0 of'
	kill -KILL "${pid[@]}"
}

@test "a run shows progress by itself only on a terminal to which no elements go" {
	local say="lines $BATS_TEST_TMPDIR/in"
	spawn never script -qec "dsvc-run -p never -o $BATS_TEST_TMPDIR/o1 '$say'" /dev/null
	spawn mixed script -qec "dsvc-run '$say'" /dev/null
	spawn stdout script -qec "dsvc-run -o - '$say'" /dev/null
	spawn none script -qec "dsvc-run -t none '$say'" /dev/null
	spawn plain dsvc-run -o "$BATS_TEST_TMPDIR/o2" "$say"
	spawn shown script -qec "stty cols 20; dsvc-run -o $BATS_TEST_TMPDIR/o3 '$say'" /dev/null
	until_true 10s grep -q 'elements' "$BATS_TEST_TMPDIR/shown.out"
	until_true 10s grep -q elements "$BATS_TEST_TMPDIR/none.out"
	# Cut to the terminal's width, so that it can be erased.
	run ! grep -aqE '[^[:cntrl:]]{20,}' <(sed 's/\x1b\[K/\n/g' "$BATS_TEST_TMPDIR/shown.out")
	run ! grep -q elements "$BATS_TEST_TMPDIR"/{never,mixed,stdout}.out "$BATS_TEST_TMPDIR/plain.err"
	kill -KILL "${pid[@]}"
}

@test "a reader and a save answer USR1, too" {
	service
	spawn read dsvc-read -p never -e "lines $BATS_TEST_TMPDIR/in"
	spawn save dsvc-save -p never "$BATS_TEST_TMPDIR/saved" -e "lines $BATS_TEST_TMPDIR/in"
	reads() { kill -USR1 "${pid[read]}" && said read '^dsvc-read: 0 elements .*streams done'; }
	saves() { kill -USR1 "${pid[save]}" && said save '^dsvc-save: 0 chunks .*streams done'; }
	until_true 5s has_handler read
	until_true 5s has_handler save
	until_true 5s reads
	until_true 5s saves
	kill -KILL "${pid[read]}" "${pid[save]}"
}

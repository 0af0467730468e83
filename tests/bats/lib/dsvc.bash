#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What every bats file loads: `load lib/dsvc`. No sleeps, no fixed ports or
# paths, no process that outlives its test.
#
#	start NAME PROGRAM ARG...   runs a program until it says that it is ready
#	                            (--ready-fd is added); $ready is its endpoint,
#	                            ${pid[NAME]} its process
#	spawn NAME PROGRAM ARG...   the same without waiting for anything
#	stop NAME [SIGNAL]          signals (TERM) and waits; $status is its exit code
#	reap NAME                   waits for its end; $status is its exit code
#	within 5s COMMAND...        fails when the command takes much longer
#	take_lines N DESCRIPTOR     prints the next N lines of a pipe
#	until_true 5s COMMAND...    repeats a command until it succeeds
#	free_ipc NAME               prints another endpoint that nobody uses
#	service [N]                 a dispatcher and N workers (default 1) on $endpoint
#
# A limit says what a quiet machine needs at most; of 1 s and more, it is stretched to
# $patience, since a loaded machine and a sanitizer are ten times slower, and a test that
# passes does not wait for it.
#
# What programs print goes to $BATS_TEST_TMPDIR/NAME.out and NAME.err, and is
# shown when the test fails. Programs are taken from $B/bin.

bats_require_minimum_version 1.5.0

# The status of a pipeline is that of the first program in it that failed.
set -o pipefail

B=${B:-$PWD/build}
[[ $B == /* ]] || B=$PWD/$B
PATH=$B/bin:$PATH
declare -gA pid=()
patience=100 # seconds

# A file's own setup may call this again; loading has done it.
dsvc_setup() {
	local name
	for name in ${!DSVC_*}; do unset "$name"; done
	unset NO_COLOR CLICOLOR_FORCE
	# A socket's path has at most 107 bytes, and the test's own folder may be
	# deep: the folder of sockets lies beside the run's, with a short name.
	if [[ ${BATS_TEST_TMPDIR-} ]]; then
		sockets=$BATS_TEST_TMPDIR
		if ((${#sockets} > 70)); then
			sockets=$(mktemp -d "${TMPDIR:-/tmp}/dsvcXXXXXX")
		fi
		export XDG_RUNTIME_DIR=$sockets
		# Where keys are: each test has its own.
		export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
		# The private default: what -d is when nothing is said.
		endpoint=ipc://$sockets/dsvc/dispatch
	fi
}

# Whether memory is the programs' own: the address sanitizer needs much besides.
measured() { ! grep -q __asan_init "$(type -P dsvc-work)"; }

# Runs in the background, cut off from the descriptors that bats waits for.
# Sets ${pid[NAME]}. With a READY file it is given --ready-fd for it.
dsvc_launch() { # NAME READY PROGRAM ARG...
	local name=$1 ready=$2
	shift 2
	local out=$BATS_TEST_TMPDIR/$name.out err=$BATS_TEST_TMPDIR/$name.err
	if [[ $ready ]]; then
		"$@" --ready-fd 7 7>"$ready" 3>&- >"$out" 2>"$err" </dev/null &
	else
		"$@" 3>&- >"$out" 2>"$err" </dev/null &
	fi
	pid[$name]=$!
	# Known to the teardown also when this runs in a subshell.
	echo "$!" >>"$BATS_TEST_TMPDIR/pids"
}

spawn() {
	local name=$1
	shift
	dsvc_launch "$name" '' "$@"
}

start() {
	local name=$1 fifo=$BATS_TEST_TMPDIR/ready.$1
	shift
	rm -f "$fifo"
	mkfifo "$fifo"
	# Opened for both, so that neither side waits for the other here; the
	# program's end is seen because its process is gone.
	exec 8<>"$fifo"
	dsvc_launch "$name" "$fifo" "$@" 8>&-
	ready=
	local part tries=0
	# What was read when the time was over is part of the line.
	until IFS= read -r -t 0.2 -u 8 part; do
		ready+=$part
		if ! kill -0 "${pid[$name]}" 2>/dev/null || ((++tries > 5 * patience)); then
			exec 8>&-
			echo "$name is not ready: $*" >&2
			return 1
		fi
	done
	ready+=$part
	exec 8>&-
	rm -f "$fifo"
}

# What a limit in seconds comes to.
stretched() { # 5s
	local limit=${1%s}
	[[ $limit == *.* || $limit == 0 ]] || ((limit >= patience)) || limit=$patience
	echo "$limit"
}

reap() {
	status=0
	dsvc_wait "${pid[$1]}" "$(stretched "${2:-10}")" || {
		echo "$1 does not end" >&2
		return 1
	}
	wait "${pid[$1]}" || status=$?
	unset "pid[$1]"
}

# Waits for the end of a process for at most so many seconds.
dsvc_wait() {
	timeout "$2" tail --pid="$1" -s 0.02 -f /dev/null 3>&-
}

stop() {
	kill -"${2:-TERM}" "${pid[$1]}"
	reap "$1"
}

# A program and all it started is killed when the time is over; of a shell
# function only the function itself.
within() { # 5s COMMAND...
	local limit rc=0 job watch
	limit=$(stretched "$1")
	shift
	if [[ $(type -t "$1") == file ]]; then
		timeout -s KILL "$limit" "$@" || rc=$?
	else
		# stdin by name, or a job in the background gets none.
		"$@" <&0 &
		job=$!
		(dsvc_wait "$job" "$limit" || kill -KILL "$job") 3>&- >/dev/null 2>&1 &
		watch=$!
		wait "$job" || rc=$?
		wait "$watch" || :
	fi
	if ((rc == 137)); then
		echo "not within ${limit}s: $*" >&2
		return 124
	fi
	return "$rc"
}

# Prints the next N lines of a pipe, and takes no byte more from it: bats traps each command,
# so that a loop over thousands of lines would take minutes on a loaded machine.
take_lines() { # N DESCRIPTOR
	local lines
	mapfile -n "$1" -u "$2" lines
	printf '%s' "${lines[@]}"
}

until_true() { # 5s COMMAND...
	local limit
	limit=$(stretched "$1")
	shift
	local end=$((SECONDS + limit + 1))
	until "$@"; do
		if ((SECONDS >= end)); then
			echo "not true within ${limit}s: $*" >&2
			return 1
		fi
		# A pause of the loop, not of the test: it goes on at the first success.
		read -r -t 0.02 _ <> <(:) || :
	done
}

free_ipc() { echo "ipc://$sockets/$1"; }

service() { # N
	local n
	start dispatch dsvc-dispatch
	for ((n = 1; n <= ${1:-1}; n++)); do
		start "work$n" dsvc-work
	done
}

dsvc_teardown() {
	local p
	if [[ -e $BATS_TEST_TMPDIR/pids ]]; then
		while read -r p; do
			kill -KILL "$p" 2>/dev/null || :
		done <"$BATS_TEST_TMPDIR/pids"
		while read -r p; do
			wait "$p" 2>/dev/null || :
		done <"$BATS_TEST_TMPDIR/pids"
	fi
	if [[ ! ${BATS_TEST_COMPLETED-} ]]; then
		for p in "$BATS_TEST_TMPDIR"/*.out "$BATS_TEST_TMPDIR"/*.err; do
			[[ -s $p ]] || continue
			echo "--- ${p##*/}"
			tail -n 20 "$p"
		done
	fi
	[[ ${sockets-} && $sockets != "$BATS_TEST_TMPDIR" ]] && rm -rf "$sockets"
	return 0
}

# A file with its own setup or teardown calls these two in them.
setup() { dsvc_setup; }
teardown() { dsvc_teardown; }

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# How a worker keeps the programs of pipelines: their variables, limits, wrapper,
# and the wall of the kernel's around all of it.
load lib/dsvc

setup() {
	dsvc_setup
	# Temporary folders may be written by programs, so this is none of them, nor in one.
	local place=$B
	case $B in /tmp/* | /var/tmp/* | /dev/shm/*) place=$(getent passwd "$(id -u)" | cut -d: -f6) ;; esac
	closed=$(mktemp -d "$place/dsvc-sandbox.XXXXXX")
	data=$closed/data
	mkdir "$data"
	seq 3 >"$data/three"
	secret=$closed/secret
	echo SPDX >"$secret"
}

teardown() {
	dsvc_teardown
	rm -rf "$closed"
}

public() {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	start work dsvc-work --insecure --name b "$@"
}

ask() { within 20s dsvc-read -q --timeout 15s --wait-workers 1/10s -e "$@"; }

# A program runs with the kernel call of that number answered by "no such call".
without_call() { # NUMBER PROGRAM ARG...
	python3 -c '
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
rules = b"".join(struct.pack("HBBI", *x) for x in ((0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[1])),
    (6, 0, 0, 0x50000 | 38), (6, 0, 0, 0x7fff0000)))
text = ctypes.create_string_buffer(rules)
prog = struct.pack("HxxxxxxQ", 4, ctypes.addressof(text))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(prog), 0, 0):
    sys.exit("no filter")
os.execvp(sys.argv[2], sys.argv[2:])
' "$@"
}

@test "programs on TCP workers get the usual variables and those that are named" {
	SECRET=hidden OTHER=shown LANG=C public --allow-exec any --child-env OTHER
	run -0 ask 'cmd -- env'
	[[ $output != *SECRET* ]]
	[[ $output == *OTHER=shown* && $output == *PATH=* && $output == *LANG=C* ]]
	[[ $output == *DSVC_CHILD_WORKER=b* ]]
	# Nor can they look for them in the worker.
	run ask 'sh "cat /proc/$PPID/environ | tr \\\\0 \\\\n; true"'
	[[ $output != *SECRET* ]]
}

@test "on the private socket programs get all variables, until --child-env" {
	start dispatch dsvc-dispatch
	SECRET=hidden start work dsvc-work --insecure
	run -0 ask 'cmd -- env'
	[[ $output == *SECRET=hidden* ]]
	stop work
	SECRET=hidden start work dsvc-work --insecure --child-env OTHER
	run -0 ask 'cmd -- env'
	[[ $output != *SECRET* ]]
}

@test "limits hold for each process of a program" {
	start dispatch dsvc-dispatch
	start work dsvc-work --insecure --child-memory 64M --child-files 32 --sandbox auto
	run -0 ask 'cmd -- sh -c "ulimit -n; ulimit -d; ulimit -c"'
	[ "$output" = $'"32"\n"65536"\n"0"' ] || [ "$output" = $'32\n65536\n0' ]
	run -65 ask 'cmd -- /usr/bin/python3 -c "bytearray(200 << 20)"'
}

@test "a program of a TCP worker reaches no file that is not allowed, whatever it runs" {
	public --allow-exec any --allow-read "$data" --sandbox require
	run -0 ask "cmd -- cat $data/three"
	[ "$output" = $'1\n2\n3' ]
	run -0 ask "range 3 | sh 'while read x; do echo \$x; done'"
	run -65 ask "cmd -- cat $secret"
	[[ $output != *SPDX* && $output == *'ermission denied'* ]]
	run -65 ask "cmd -- cat /etc/shadow"
	run -65 ask "cmd -- cp $data/three $data/copy"
	[ ! -e "$data/copy" ]
	run -0 ask "cmd -- /usr/bin/python3 -c 'print(open(\"/etc/passwd\").read() != \"\")'"
	stop work
	start work dsvc-work --insecure --allow-exec any --allow-write "$data"
	run -0 ask "cmd -- cp $data/three $data/copy"
	run -0 ask "range 3 | save $data/saved format=text"
	run -0 ask "lines '$data/saved/*.txt'"
	run -65 ask "cmd -- touch $closed/made"
	[ ! -e "$closed/made" ]
}

@test "a worker without --allow-exec is confined as well, and works" {
	public --allow-read "$data" --allow-write "$closed" --sandbox require
	run -0 ask "lines '$data/*'"
	run -0 ask "range 200000 | sort mem=1M | count" --sharding off
	run -0 ask "range 3 | cache $closed/cached | repeat 2"
	run -0 ask 'range 3' --transfer shm
	stop work
	((status == 0))
}

@test "programs get no new privileges and not the calls that lead out" {
	public --allow-exec any
	run -0 ask "cmd -- grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status"
	[[ $output == *NoNewPrivs:*1*Seccomp:*2* ]]
	run ask 'cmd -- unshare -U true'
	((status == 65))
	run ask 'cmd -- /usr/bin/python3 -c "import ctypes, os; l = ctypes.CDLL(None, use_errno=True); print(l.ptrace(0, 0, 0, 0), ctypes.get_errno())"'
	[[ $output == *'-1 1'* ]]
	run -0 ask 'range 100 | exec -- /usr/bin/python3 -u -c "
import sys, threading
for line in sys.stdin:
    t = threading.Thread(target=print, args=(int(line),)); t.start(); t.join()
"'
	[ "$(wc -l <<<"$output")" = 100 ]
	stop work
	start work dsvc-work --insecure --allow-exec any --sandbox off
	run -0 ask "cmd -- grep -E '^NoNewPrivs:' /proc/self/status"
	[[ $output == *0* ]]
}

@test "--exec-wrap stands before each command" {
	start dispatch dsvc-dispatch
	cat >"$BATS_TEST_TMPDIR/wrap" <<-'END'
		#!/bin/sh
		echo "$@" >>"$0.log"
		shift
		exec "$@"
	END
	chmod +x "$BATS_TEST_TMPDIR/wrap"
	start work dsvc-work --insecure --exec-wrap "$BATS_TEST_TMPDIR/wrap  --" --allow-exec cat
	run -0 ask 'range 3 | exec -- cat'
	[ "$(sort <<<"$output")" = $'0\n1\n2' ]
	[[ $(head -1 "$BATS_TEST_TMPDIR/wrap.log") == '-- /'*/cat ]]
	run -77 ask 'range 3 | exec -- tr a b'
	stop work
	run -66 dsvc-work --exec-wrap 'no-such-wrapper --'
	[[ $output == *'--exec-wrap no-such-wrapper: '* ]]
}

@test "what a kernel lacks is said, or done without where that is allowed" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	run -78 without_call 444 dsvc-work --insecure --sandbox require
	[[ $output == *'--sandbox require: this kernel has no Landlock'*'  help: '* ]]
	start work without_call 444 dsvc-work --insecure
	grep -q 'this kernel has no Landlock' "$BATS_TEST_TMPDIR/work.err"
	run -0 ask 'range 3'
	stop work
	run -78 without_call 437 dsvc-work --insecure --allow-read "$data"
	[[ $output == *'--allow-read needs a kernel with openat2'*'  help: '* ]]
	start work without_call 437 dsvc-work --insecure
	run -0 ask 'range 3'
	run -77 ask "lines $data/three"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --trace FILE: what each thread does and when, for Perfetto.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

traces() { # FILE...
	python3 "$BATS_TEST_DIRNAME/lib/trace.py" "$@" >seen || { cat seen; false; }
}

has() { # PHASE CATEGORY NAME [ELEMENTS]
	grep -qP "^$1\t$2\t$3\t${4-[0-9]+}\$" seen || { echo "no $*"; cat seen; false; }
}

@test "a run: operators with what they made, threads with names, the output" {
	run -0 dsvc-run --trace t.json 'range 100k | map x * x | filter x % 2 == 0 | prefetch | batch 100' -t count
	[ "$output" = 512 ]
	traces t.json
	has X operator 'range 102400' 102400
	has X operator 'map x \* x' 102400
	has X operator 'filter x % 2 == 0' 51200
	has X operator prefetch 51200
	has X operator 'batch 100' 512
	has X output write 512
	has thread '' main
	has thread '' prefetch
	has M '' process_name
	[ "$(tail -c 3 t.json)" = $'\n]' ] # complete
	grep -q '"clock":"wall"' t.json
}

@test "the clock is that of the wall" {
	local before after
	before=$(date +%s%6N)
	dsvc-run --trace t.json 'range 10' -t none
	after=$(date +%s%6N)
	jq -e --argjson a "$before" --argjson b "$after" \
		'[.[] | select(.ph == "X") | .ts] | length > 0 and all(. >= $a - 1000 and . <= $b + 1000)' t.json
}

@test "threads of -j, the pool, shuffle and inner pipelines are each on their thread, and nest" {
	seq 100000 >in
	run -0 dsvc-run --trace t.json -j 3 \
		'lines in | map int(x) | shuffle 1000 | map x + 1 parallel=2 | interleave (range 2 | map xx * 2) cycle=2 parallel=2 | prefetch' -t count
	[ "$output" = 200000 ]
	traces t.json
	has X operator 'lines in' 100000
	has X operator 'map int\(x\)' 100000
	# operators that take turns on a thread share spans
	has X operator '[^\t]*shuffle 1000[^\t]*'
	has X operator '[^\t]*map xx \* 2[^\t]*'
	has X pool '[^\t]*map x \+ 1 parallel=2[^\t]*'
	has X file 'open in'
	has thread '' -j
	has b split 'split [^\t]*in[^\t]*'
	[ "$(grep -c $'^b\tsplit' seen)" = "$(grep -c $'^e\tsplit' seen)" ]
}

@test "programs of exec and sh: process, element and exit code, from start to end" {
	run -0 dsvc-run --trace t.json 'range 8 | map x % 4 | sh "exit {}" proto=arg parallel=2 on_error=skip'
	traces t.json
	has b program sh
	has e program sh
	[ "$(jq -c '[.[] | select(.ph == "e" and .name == "sh") | .args.exit] | sort' t.json)" = '[0,0,1,1,2,2,3,3]' ]
	[ "$(jq -c '[.[] | select(.ph == "b" and .name == "sh") | .args.element] | sort' t.json)" = '[0,1,2,3,4,5,6,7]' ]
	jq -e '[.[] | select(.ph == "b" and .cat == "program") | .args.pid] | length > 2 and length == (unique | length)' t.json
	run -0 dsvc-run --trace t.json 'cmd seq 3 | exec cat' -t none
	traces t.json
	has e program seq
	has e program cat
}

@test "a file that cannot be written ends the program before anything runs" {
	run -74 --separate-stderr dsvc-run --trace none/t.json 'cmd touch ran'
	[ "$stderr" = 'dsvc-run: cannot write to none/t.json: No such file or directory' ]
	run -74 --separate-stderr dsvc-run --trace /dev/full 'cmd touch ran'
	[ "$stderr" = 'dsvc-run: cannot write to /dev/full: No space left on device' ]
	[ ! -e ran ]
	run -74 dsvc-work --trace none/t.json
	run -74 dsvc-read --trace none/t.json 'range 3'
	run -64 dsvc-run --trace t.json --trace-max 10 'range 3'
	DSVC_TRACE=t.json dsvc-run -q 'range 3' -t none # not for every program below
	[ ! -e t.json ]
}

@test "a full disk ends the trace, once and with a warning, and never the run" {
	# A limit on the size of files stands for the disk: what is written beyond it fails.
	run -0 --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 64
		dsvc-run --trace t.json "range 30000 | batch 1 | concat (range 20000 | map [x]) | map x[0]" -t none; seq 3'
	[ "$output" = $'1\n2\n3' ]
	traces t.json
	run -0 --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 16
		dsvc-run --trace t.json "cmd seq 3000 | sh \"echo {}\" proto=arg parallel=8 | filter false"'
	((${#stderr_lines[@]} == 1))
	[[ $stderr == 'dsvc-run: cannot write the trace t.json: File too large; it ends here, and the work goes on' ]]
	traces t.json
	has b program sh
}

@test "--trace-max bounds the file, which is complete as far as it goes" {
	run -0 --separate-stderr dsvc-run --trace t.json --trace-max 64k 'cmd seq 1000 | sh "echo {}" proto=arg parallel=4 | filter false'
	[[ $stderr == 'dsvc-run: the trace t.json has '*' bytes, as many as --trace-max allows; it ends here, and the work goes on' ]]
	(($(stat -c %s t.json) <= 65536))
	[ "$(tail -c 3 t.json)" = $'\n]' ]
	traces t.json
}

@test "worker and reader: splits, chunks sent and received, streams; and their clocks line up" {
	seq 20000 >in
	start dispatch dsvc-dispatch
	start work dsvc-work --trace w.json --name wilma -j 2 --restart-interval 1ms
	run -0 dsvc-read --trace r.json -t count 'lines in | shuffle 100 | map int(x) | prefetch | map x + 1 parallel=2'
	[ "$output" = 20000 ]
	run -0 dsvc-read --trace d.json -t count 'range 1000 | map x * 3 | distribute | map x + 1'
	stop work
	traces w.json
	has X operator 'lines [^\t]*/in' 20000
	has X stream stream
	has X chunk chunk 21000
	has X file 'open [^\t]*/in'
	grep -q $'^X\tchunk\tsend' seen
	grep -q $'^b\tsplit\tsplit ' seen
	grep -q $'^X\trestart\trestart point' seen
	grep -q '"name":"dsvc-work wilma on ' w.json
	traces r.json
	has X chunk receive 20000
	has X output write 20000
	has thread '' 'the network'
	traces d.json
	has X operator 'map x \+ 1' 1000
	# a chunk is received after it was sent first
	jq -se '([.[0][] | select(.cat == "chunk" and (.name | startswith("send")))] | min_by(.ts).ts) as $sent |
		([.[1][] | select(.name == "receive")] | max_by(.ts).ts) > $sent' w.json r.json
	jq -s add w.json r.json d.json >all.json
	traces all.json # no two of their processes or threads are taken for one
}

@test "the trace of a worker that is killed can be read" {
	start dispatch dsvc-dispatch
	start work dsvc-work --trace w.json
	spawn read dsvc-read -t none 'range 1000 | repeat | map x + 1'
	until_true 10s grep -q '"cat":"operator"' w.json
	stop work KILL
	traces w.json
	has X operator 'map x \+ 1'
	stop read
	# one that is told to end closes its array
	start second dsvc-work --trace s.json
	stop second
	[ "$(tail -c 3 s.json)" = $'\n]' ]
	traces s.json
}

@test "a run that is stopped by a signal closes its array" {
	spawn run dsvc-run --trace t.json -t none 'range 1000 | repeat'
	until_true 10s grep -q '"cat":"operator"' t.json
	stop run
	((status == 143))
	[ "$(tail -c 3 t.json)" = $'\n]' ]
	traces t.json
}

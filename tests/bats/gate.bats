#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What the pipelines of others may do on a worker: --allow-read, --allow-write,
# --allow-exec.
load lib/dsvc

setup() {
	dsvc_setup
	data=$BATS_TEST_TMPDIR/data out=$BATS_TEST_TMPDIR/out
	mkdir "$data" "$data/sub" "$out"
	seq 3 >"$data/three"
	seq 4 6 >"$data/sub/six"
	echo hidden >"$BATS_TEST_TMPDIR/secret"
}

# A dispatcher and a worker on TCP; further words are options of the worker.
public() {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	start work dsvc-work --insecure --name b "$@"
}

ask() { within 20s dsvc-read -q --timeout 15s --wait-workers 1/10s -e "$@"; }

refuses() { # WORDS SPEC
	run -77 --separate-stderr ask "$2"
	[[ $output != *hidden* && $stderr != *hidden* ]]
	[[ $stderr == *"$1"* ]] || { echo "$2: $stderr"; false; }
	[[ $stderr == *"  help: workers "* ]]
}

@test "on TCP a worker reads and writes no file unless its owner says which" {
	public
	refuses "worker b: cannot read '$data/three': this worker may read no files" "lines $data/three"
	refuses 'this worker may read no files' 'lines /proc/self/environ'
	refuses 'this worker may read no files' "lines '$data/*'"
	refuses 'this worker may write no files' "range 3 | save $out/x"
	refuses 'this worker may write no files' "range 3 | map fail('x') | ignore_errors log=$out/x"
	run -0 ask 'range 3'
	[ ! -e "$out/x" ]
}

@test "nothing that loosens is read from the environment" {
	DSVC_ALLOW_READ=/ DSVC_WORK_ALLOW_READ=/ DSVC_ALLOW_WRITE=/ DSVC_ALLOW_EXEC=any public
	refuses 'this worker may read no files' "lines $data/three"
	refuses 'this worker may write no files' "range 3 | cache $out"
	run -77 ask 'range 3 | exec -- cat'
}

@test "below --allow-read every source reads, and beside it none" {
	cp tests/docs/fruit.db "$data/"
	cp tests/docs/fruit.db "$BATS_TEST_TMPDIR/"
	printf 'a\n1\n' | tee "$data/t.csv" >"$BATS_TEST_TMPDIR/t.csv"
	ln -s ../secret "$data/up"
	ln -s /proc/self/root/etc/passwd "$data/magic"
	public --allow-read "$data"
	run -0 ask "lines $data/three"
	[ "$output" = $'1\n2\n3' ]
	run -0 ask "lines '$data/**/six'"
	run -0 ask "sqlite $data/fruit.db 'SELECT name FROM fruit ORDER BY name'"
	run -0 ask "elements [{a: 1}] | lookup $data/t.csv key=.a"
	local words="not below --allow-read $data" other
	for other in "$BATS_TEST_TMPDIR/secret" "$data/../secret" "$data/sub/../../secret" "$data/up" "$data/magic" \
		"/proc/self/root$data/three" /proc/self/environ "'$BATS_TEST_TMPDIR/*'" "'$data/*'"; do
		refuses "$words" "lines $other"
	done
	refuses "$words" "sqlite $BATS_TEST_TMPDIR/fruit.db 'SELECT * FROM fruit'"
	refuses "$words" "elements [{a: 1}] | lookup $BATS_TEST_TMPDIR/t.csv key=.a"
	refuses "$words" "whole $BATS_TEST_TMPDIR/secret"
	refuses "$words" "bytes 7 $BATS_TEST_TMPDIR/secret"
	refuses "$words" "tar $BATS_TEST_TMPDIR/secret"
	refuses "$words" "csv $BATS_TEST_TMPDIR/t.csv"
	refuses "$words" "files '$BATS_TEST_TMPDIR/*'"
	# Names that come out of elements.
	refuses "$words" "elements [\"$BATS_TEST_TMPDIR/secret\"] | interleave (lines x)"
	refuses "$words" "elements [\"$data/up\"] | interleave (whole x)"
	run -0 ask "elements [\"$data/three\"] | interleave (lines x)"
}

@test "splits that another worker listed are opened by what this one allows" {
	public --allow-read / --tag lists
	run -0 ask "lines $BATS_TEST_TMPDIR/secret"
	start other dsvc-work --insecure --name c --allow-read "$data"
	stop work
	run -77 ask "lines $BATS_TEST_TMPDIR/secret"
	[[ $output == *'worker c: '*"not below --allow-read $data"* ]]
}

@test "below --allow-write pipelines save, and read again what they saved" {
	public --allow-write "$out"
	run -0 ask "range 3 | save $out/saved format=text"
	run -0 ask "lines '$out/saved/*.txt'"
	[ "$output" = $'0\n1\n2' ]
	run -0 ask "range 3 | snapshot $out/shot"
	run -0 ask "range 3 | snapshot $out/shot"
	[ "$output" = $'0\n1\n2' ]
	run -0 ask "range 3 | cache $out/cached | repeat 2"
	run -0 ask "range 200000 | sort mem=1M tmp=$out | count" --sharding off
	run -0 ask "range 200000 | sort mem=1M | count" --sharding off
	run -0 ask "range 3 | map fail(\"x\") | ignore_errors log=$out/log"
	grep -q x "$out/log"
	ln -s "$data" "$out/link"
	local spec
	for spec in "save $data/x" "save $out/../x" "save $out/link/x" "snapshot $data/x" "cache $data" \
		"ignore_errors log=$data/x" "ignore_errors log=$out/link/x"; do
		refuses "not below --allow-write $out" "range 3 | $spec"
	done
	run -77 ask "range 200000 | sort mem=1M tmp=$data | count" --sharding off
	refuses "this worker may read no files" "lines $data/three"
	[ "$(find "$data" | wc -l)" = 4 ]
}

@test "--allow-exec names programs, folders of them, or any" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nexec cat\n' | tee "$BATS_TEST_TMPDIR/bin/mine" >"$BATS_TEST_TMPDIR/theirs"
	chmod +x "$BATS_TEST_TMPDIR/bin/mine" "$BATS_TEST_TMPDIR/theirs"
	ln -s ../theirs "$out/mine"
	public --allow-exec cat --allow-exec "$BATS_TEST_TMPDIR/bin"
	run -0 ask 'range 3 | exec -- cat'
	run -0 ask "range 3 | exec -- $BATS_TEST_TMPDIR/bin/mine"
	refuses 'cannot run tr: it is not among --allow-exec cat' 'range 3 | exec -- tr a b'
	refuses 'cannot run /bin/sh: it is not among' 'range 3 | sh cat'
	refuses 'it is not among' 'cmd -- seq 3'
	refuses 'it is not among' "range 3 | exec -- $BATS_TEST_TMPDIR/theirs"
	refuses 'it is not among' "range 3 | exec -- $BATS_TEST_TMPDIR/bin/../theirs"
	refuses 'it is not among' "range 3 | exec -- $out/mine"
	stop work
	start work dsvc-work --insecure --allow-exec any
	run -0 ask 'range 3 | sh cat'
}

@test "on the private socket all is allowed, until an option says what" {
	service 1
	run -0 ask "lines $BATS_TEST_TMPDIR/secret"
	run -0 ask 'range 3 | sh cat'
	stop work1
	start work dsvc-work --name b --allow-read "$data" --allow-read "$out" --allow-exec cat
	refuses "not below --allow-read $data" "lines $BATS_TEST_TMPDIR/secret"
	refuses 'it is not among --allow-exec cat' 'range 3 | sh cat'
	run -0 ask "range 3 | save $out/saved"
}

@test "what is allowed must be there" {
	start dispatch dsvc-dispatch
	run -66 dsvc-work --allow-read /no/such/folder
	[[ $output == *'--allow-read /no/such/folder: '* ]]
	run -66 dsvc-work --allow-exec no-such-program
	[[ $output == *'--allow-exec no-such-program: '*'  help: '* ]]
}

@test "a worker of the private socket allows no more when its dispatcher listens on TCP, too" {
	mkdir -m 700 "$sockets/dsvc"
	start dispatch dsvc-dispatch -b "$endpoint" -b 'tcp://127.0.0.1:*'
	start work dsvc-work --name b
	refuses 'worker b: ' "lines $data/three"
	refuses 'this worker may write no files' "range 3 | save $out/x"
	run -77 ask 'range 3 | sh cat'
	stop work
	start work dsvc-work --name b --allow-read "$data" --allow-exec any
	run -0 ask "lines $data/three"
	run -0 ask 'range 3 | sh cat'
	refuses "not below --allow-read $data" "lines $BATS_TEST_TMPDIR/secret"
}

@test "pipelines reach no other service from a worker that strangers reach" {
	service 1
	dsvc-register --id secrets 'range 3 | map "hidden"' >/dev/null
	local private=$endpoint at
	start far dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	start there dsvc-work --insecure --name b
	for at in "$private" "$DSVC_DISPATCHER" "$private,$DSVC_DISPATCHER"; do
		run -77 --separate-stderr within 20s dsvc-read -q --timeout 15s "$(dsvc-register "dataset secrets at=$at type=text | map x")"
		[[ $output$stderr != *hidden* && $stderr == *"may not read from the service at $at"* ]]
	done
	stop there
	start there dsvc-work --insecure --name b --allow-read "${private#ipc://}"
	run -0 within 20s dsvc-read -q "$(dsvc-register "dataset secrets at=$private type=text | map x")"
	[[ $output == *hidden* ]]
}

@test "with --datasets a worker runs what the list names and nothing else" {
	local list=$BATS_TEST_TMPDIR/list hash
	hash=$(dsvc-register --hash 'range 3   | map x*2')
	[[ $hash =~ ^[0-9a-f]{64}$ ]]
	printf '# of ada\n\n%s  doubles\n' "${hash^^}" >"$list"
	start dispatch dsvc-dispatch
	start work dsvc-work --name b --datasets "$list"
	run -0 ask 'range 3 | map x * 2'
	[ "$output" = $'0\n2\n4' ]
	run -0 dsvc-read -q "$(dsvc-register 'range 3 | map x * 2')"
	refuses "worker b: the pipeline is not among --datasets $list" 'range 3 | map x * 3'
	[[ $stderr == *"$(dsvc-register --hash 'range 3 | map x * 3')"* ]]
	printf '%s\nclicks\n' "$hash" >"$list"
	run -78 dsvc-work --datasets "$list"
	[[ $output == *"$list:2: a line begins with the 64 digits"* ]]
	run -66 dsvc-work --datasets "$list.none"
}

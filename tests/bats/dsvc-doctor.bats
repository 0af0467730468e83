#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Each check that can fail is made to fail, and the cure is said.

load lib/dsvc

# It asks all programs beside it for their version: here these are few, but for one test.
setup_file() {
	mkdir "$BATS_FILE_TMPDIR/bin"
	cp "${B:-build}"/bin/dsvc-{doctor,read} "$BATS_FILE_TMPDIR/bin"
}
setup() {
	dsvc_setup
	PATH=$BATS_FILE_TMPDIR/bin:$PATH
}

# Nothing is wrong; on a machine that is busy a program may be silent for a while.
in_order() { all=$(dsvc-doctor "$@"); }

# The check with this name is WRONG, and what it says has the text.
wrong() { # CHECK TEXT [OPTION...]
	local all
	all=$(dsvc-doctor --json "${@:3}") || :
	jq -es --arg check "$1" --arg text "$2" \
		'any(.check == $check and (.ok | not) and (.text + .help | contains($text)))' <<<"$all" >/dev/null
}

@test "help and version need nothing, and operands are refused" {
	run -0 dsvc-doctor --version
	run -0 dsvc-doctor -h
	[[ $output == *--shared* ]]
	run -64 dsvc-doctor operand
	run -66 dsvc-doctor -c missing
}

@test "without a dispatcher the machine is checked, and dsvc up is named" {
	run -1 "$B/bin/dsvc-doctor"
	[[ $output == *'ok    versions       '*' programs in '* ]]
	[[ $output == *'ok    open files '* && $output == *'ok    shared memory '* && $output == *'ok    clock '* ]]
	[[ $output == *"WRONG dispatcher     no dispatcher at $endpoint"*'help: '*'dsvc up'* ]]
	run -1 dsvc-doctor -q
	[[ $output != *'ok '* && $output == *'WRONG dispatcher'* ]]
}

@test "a service in order is all ok, and has 0" {
	service
	local all
	until_true 20s in_order
	[[ $all != *WRONG* ]]
	[[ $all == *'ok    clocks '* && $all == *'ok    workers        1, with '*' slot'*'; all are heard and none is stuck'* ]]
	until_true 20s in_order --json
	jq -es 'all(.ok) and length >= 10 and all(has("check") and has("text") and has("help"))' <<<"$all"
	until_true 20s in_order -q
	[ -z "$all" ]
}

@test "limits, folders and keys that are wrong are told with their cure" {
	run -1 bash -c 'ulimit -n 200; dsvc-doctor'
	[[ $output == *'WRONG open files     at most 200 files'*'help: raise it: ulimit -Hn'* ]]
	run -1 env TMPDIR=/nowhere dsvc-doctor
	[[ $output == *'WRONG temporary      /nowhere: '*'help: set TMPDIR'* ]]
	dsvc-keygen >/dev/null
	chmod 644 "$XDG_CONFIG_HOME/dsvc/key"
	wrong keys chmod
	mkdir -p "$sockets/dsvc"
	chmod 755 "$sockets/dsvc"
	wrong sockets 'with mode 0700'
}

@test "a program of another version is named" {
	local bin=$BATS_TEST_TMPDIR/bin
	mkdir "$bin"
	cp "$B/bin/dsvc-doctor" "$bin"
	printf '#!/bin/sh\necho dsvc-old 0.0.1\n' >"$bin/dsvc-old"
	chmod +x "$bin/dsvc-old"
	run -1 "$bin/dsvc-doctor"
	[[ $output == *'WRONG versions       dsvc-doctor is '*', but dsvc-old 0.0.1'*'help: install all programs of one version'* ]]
}

@test "a worker that is stopped is told of, and none at all" {
	start dispatch dsvc-dispatch --loss 100s --beat 200ms
	wrong workers 'dsvc up'
	start work dsvc-work --name bob
	kill -STOP "${pid[work]}"
	until_true 20s wrong worker "bob (pid ${pid[work]})"
	wrong worker "kill -CONT ${pid[work]}"
	kill -CONT "${pid[work]}"
}

@test "a worker that is inside one call of an operator for too long is stuck there" {
	service
	spawn read dsvc-read -J long -t none -e 'range 3 | map x | sleep 100s'
	until_true 20s wrong worker "is in operator 3 of job" --stuck 1500ms
	local all
	until_true 20s in_order
	dsvc-status --json | jq -e '.workers[0] | .call_operator == 3 and .call_ms > 1000 and .call_job > 0'
}

@test "a folder that all workers see is ok, and one that they may not read is not" {
	start dispatch dsvc-dispatch
	start one dsvc-work -j 1
	start two dsvc-work -j 1
	mkdir "$BATS_TEST_TMPDIR/a b" "$BATS_TEST_TMPDIR/c"
	local all
	until_true 20s in_order --shared "$BATS_TEST_TMPDIR/a b"
	[[ $all == *"ok    shared folder  $BATS_TEST_TMPDIR/a b: 2 workers see it"* ]]
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/a b")" ]
	run -1 dsvc-doctor --shared "$BATS_TEST_TMPDIR/missing"
	[[ $output == *'WRONG shared folder  '*missing* ]]
	start three dsvc-work -j 1 --allow-read "$BATS_TEST_TMPDIR/a b"
	run -1 dsvc-doctor --shared "$BATS_TEST_TMPDIR/c"
	[[ $output == *"WRONG shared folder  $BATS_TEST_TMPDIR/c: some worker does not see it"*'--allow-read'* ]]
}

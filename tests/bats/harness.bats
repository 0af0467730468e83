#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The test library itself: what it promises to all the others.

load lib/dsvc

# A daemon: says that it is ready, ends on TERM with 7.
daemon() {
	cat >"$BATS_TEST_TMPDIR/daemon" <<-'END'
		#!/bin/bash
		trap 'exit 7' TERM
		[[ $1 == --broken ]] && exit 3
		echo "started $*"
		echo "tcp://here:$1" >&"${!#}"
		tail --pid=$$ -f /dev/null & wait
	END
	chmod +x "$BATS_TEST_TMPDIR/daemon"
	echo "$BATS_TEST_TMPDIR/daemon"
}

@test "start waits for the ready line and gives it" {
	start one "$(daemon)" 5
	[[ $ready == tcp://here:5 ]]
	kill -0 "${pid[one]}"
	[[ $(<"$BATS_TEST_TMPDIR/one.out") == started* ]]
}

@test "stop ends a program and gives its exit code" {
	start one "$(daemon)" 5
	stop one
	[[ $status == 7 ]]
}

@test "a program that dies before it is ready is an error" {
	run start one "$(daemon)" --broken
	[[ $status == 1 && $output == *"is not ready"* ]]
}

@test "teardown leaves no process behind" {
	start one "$(daemon)" 5
	local p=${pid[one]}
	dsvc_teardown
	run ! kill -0 "$p"
	: >"$BATS_TEST_TMPDIR/pids"
}

@test "within passes on what happens and ends what takes too long" {
	run within 5s false
	[[ $status == 1 ]]
	run within 5s cat <<<hello
	[[ $output == hello ]]
	slow() { read -r <> <(:); }
	run within 0.1s slow
	[[ $status == 124 ]]
	run within 0.1s tail -f /dev/null
	[[ $status == 124 ]]
}

@test "until_true goes on at the first success" {
	(until_true 5s test -e "$BATS_TEST_TMPDIR/here" && : >"$BATS_TEST_TMPDIR/seen") &
	: >"$BATS_TEST_TMPDIR/here"
	wait $!
	[[ -e $BATS_TEST_TMPDIR/seen ]]
	run until_true 0s false
	[[ $status == 1 ]]
}

@test "each test has sockets of its own that are short enough" {
	[[ $endpoint == ipc://"$XDG_RUNTIME_DIR"/dsvc/dispatch ]]
	((${#endpoint} <= 107))
}

@test "nothing of the caller's environment comes through" {
	run bash -c 'compgen -e DSVC_'
	[[ $output == '' ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sources of very many files: their list is longer than one message.

load lib/dsvc

# 70000 empty files, whose names have more than 260 bytes with the folder.
many_names() { # FOLDER
	mkdir -p "$1"
	perl -e 'my $dir = shift; my $pad = "n" x 249;
		for (10000 .. 79999) { open my $f, ">", "$dir/$_-$pad" or die "$!" }' "$1"
}

@test "a list of 70000 long names is read, each once" {
	many_names "$BATS_TEST_TMPDIR/d"
	service 2
	run -0 within 60s dsvc-read -t count -e "whole '$BATS_TEST_TMPDIR/d/*' | map len(x)"
	[[ $output == 70000 ]]
}

@test "a list of 70000 long names is there after a restart of the dispatcher" {
	many_names "$BATS_TEST_TMPDIR/d"
	state() { start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"; }
	state
	start one dsvc-work --memory 1M
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	spawn reader bash -c 'exec dsvc-read --window 2 -e "$1" >"$2"' - \
		"whole '$BATS_TEST_TMPDIR/d/*' | map {n: len(x), pad: '$(printf %0900d 0)'}" "$BATS_TEST_TMPDIR/pipe"
	exec {pipe}<"$BATS_TEST_TMPDIR/pipe"
	IFS= read -r -t 60 -u "$pipe" _
	kill -KILL "${pid[dispatch]}"
	reap dispatch
	state
	n=$(wc -l <&"$pipe")
	exec {pipe}<&-
	reap reader 60
	((status == 0))
	((n == 69999))
	run -0 dsvc-status --audit all
	[[ $output == *balanced* ]]
}

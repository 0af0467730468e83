#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Who may join a feed at its socket: processes of its own user, and of root. Needs root.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
	((!EUID)) && other true || skip 'another user is needed: root and setpriv'
	cp "$BATS_TEST_DIRNAME/../../client/"dsvc_feed.[ch] "$BATS_TEST_DIRNAME/../../examples/core.c" .
	cc -std=c99 -I . -o core core.c dsvc_feed.c
}

# Another user, whom no file's mode stops: what is tested is what the feed asks the kernel for.
other() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +dac_override --ambient-caps +dac_override -- "$@"
}
listening=(dsvc-feed --local --batch 4 --results rows -v -e 'range 4')

@test "another user's process is refused with 77, and the feed goes on" {
	start feed "${listening[@]}" --listen "$BATS_TEST_TMPDIR/sock"
	[[ $(stat -c %A sock) == srwx------ ]]
	export DSVC_FEED=$BATS_TEST_TMPDIR/sock
	run -77 other ./core
	[[ $output == "core: the feed is another user's" ]]
	PYTHONPATH=$BATS_TEST_DIRNAME/../../python PYTHONDONTWRITEBYTECODE=1 run -0 other timeout 60 python3 -c 'import dsvc
try: next(iter(dsvc.feed()))
except dsvc.Error as e: print(e.code, e.text)'
	[[ $output == "77 the feed is another user's" ]]
	# Nonsense of theirs is not even read.
	other python3 -c 'import os, socket
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["DSVC_FEED"])
try: s.sendall(b"\xff" * 100000)
except OSError: pass'
	run -0 ./core
	reap feed
	((status == 0))
	[[ $(<feed.out) == $'0.0\n1.0\n4.0\n9.0' ]]
	[[ $(grep -c 'a process of another user wanted to join, and was sent away' feed.err) == 3 ]]
}

@test "root may join another user's feed" {
	mkdir theirs
	chown 65534:65534 theirs
	start feed other "${listening[@]}" --listen "$BATS_TEST_TMPDIR/theirs/sock"
	[[ $(stat -c %u theirs/sock) == 65534 ]]
	DSVC_FEED=$BATS_TEST_TMPDIR/theirs/sock run -0 ./core
	reap feed
	((status == 0))
	[[ $(<feed.out) == $'0.0\n1.0\n4.0\n9.0' ]]
}

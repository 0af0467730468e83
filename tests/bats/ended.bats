#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A service that is ended from outside: dsvc-stop -d.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

away() { # ARG...: a service that is not at the private socket
	start dispatch dsvc-dispatch --insecure -b '127.0.0.1:*' --ready-file up "$@"
	start work1 dsvc-work --insecure -d @up
	start work2 dsvc-work --insecure -d @up
}

# A reader that has written some lines and stands still.
reading() { # ARG...
	mkfifo out
	spawn read bash -c 'exec dsvc-read -d @up "$@" >out' - "$@"
	exec 9<out
	IFS= read -r -t "$patience" -u 9 _
}

all_end() {
	local name
	for name in dispatch work1 work2; do
		reap "$name"
		((status == 0))
	done
}

@test "at once: workers end with 0, readers that are not done with 75" {
	away --state state
	reading -e counter
	run -0 within 20s dsvc-stop -d @up
	[[ $output == *"has ended; there was 1 reader" ]]
	all_end
	cat <&9 >/dev/null
	reap read
	((status == 75))
	[[ ! -e up ]]
}

@test "--drain: workers hand over what they have, the reader's position is good" {
	away --state state
	spawn read dsvc-read -d @up -J j --checkpoint pos -e 'range 20000 | sleep 1ms'
	until_true 10s test -s read.out
	run -0 within 20s dsvc-stop -d @up --drain
	all_end
	grep -q 'draining' work1.err work2.err
	reap read
	((status == 75))
	# What was written is what the position says: it goes on there.
	start dispatch dsvc-dispatch --insecure -b '127.0.0.1:*' --ready-file up --state state
	start work1 dsvc-work --insecure -d @up
	run -0 within 30s dsvc-read -d @up -J j --checkpoint pos -e 'range 20000 | sleep 1ms' -n 2000
	[[ ! $(sort read.out - <<<"$output" | uniq -d) ]]
}

@test "--wait: the pass is read to its end first" {
	away
	spawn read dsvc-read -d @up -e 'range 1000 | sleep 1ms'
	until_true 10s test -s read.out
	run -0 within 30s dsvc-stop -d @up --wait
	all_end
	reap read
	((status == 0))
	[[ $(wc -l <read.out) == 1000 ]]
}

@test "who may not administer it does not end it" {
	start dispatch dsvc-dispatch -b '127.0.0.1:*'
	dsvc-invite -d "$endpoint" read,register,work | XDG_CONFIG_HOME=$PWD/theirs dsvc-join -q
	XDG_CONFIG_HOME=$PWD/theirs run -77 dsvc-stop -d "$ready"
	[[ $output == *"this key may: read,register,work"* ]]
	dsvc-invite -d "$endpoint" admin | XDG_CONFIG_HOME=$PWD/admin dsvc-join -q
	XDG_CONFIG_HOME=$PWD/admin run -0 dsvc-stop -d "$ready"
	reap dispatch
	((status == 0))
}

@test "the environment ends nothing elsewhere, and nobody there is 69" {
	start dispatch dsvc-dispatch --insecure -b '127.0.0.1:*'
	DSVC_DISPATCHER=$ready DSVC_CONTEXT=x run -0 dsvc-stop
	[[ $output == *"nothing is running"* ]]
	dsvc-status -d "$ready" >/dev/null
	run -64 dsvc-stop -d "$ready" --now
	[[ $output == *"this machine only"* ]]
	run -69 dsvc-stop -d "$(free_ipc nobody)" --connect-timeout 10ms
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A dispatcher with a state is started again at another address, and writes that into the file that all
# programs know it by: they follow it.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
	export DSVC_DISPATCHER=@up
}

many='range 60000 | map {i: x, pad: "012345678901234567890123456789012345678901234567890123456789"}'

# The dispatcher at a loopback address of its own, which nobody else has; then at another.
dispatcher() { # NAME WORD...
	local name=$1
	shift
	start "$name" dsvc-dispatch --state state --ready-file up \
		-b "tcp://127.$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1)):*" "$@"
}

slow() { # ARG...: one element is taken, the rest by rest
	mkfifo pipe
	spawn reader bash -c 'exec dsvc-read -v --window 2 "$@" >pipe' - "$@"
	exec 9<pipe
	IFS= read -r -t "$patience" -u 9 one
}

rest() {
	{ echo "$one"; cat <&9; } | sed 's/^{"i":\([0-9]*\),.*/\1/' | sort -n | cmp - <(seq 0 59999)
	reap reader 20
	((status == 0))
}

killed() {
	kill -KILL "${pid[$1]}"
	reap "$1"
}

@test "worker, reader and whoever asks follow a dispatcher that moves, and the pass comes out whole" {
	dispatcher first --insecure
	local before=$ready
	start work dsvc-work --insecure --memory 1M -j 1
	spawn events dsvc-events --insecure -v -f
	slow -e "$many"
	killed first
	dispatcher second --insecure
	[[ $ready != "$before" ]]
	until_true 10s grep -q "the dispatcher is now at $ready" work.err
	until_true 10s grep -q "the dispatcher is now at $ready" reader.err
	until_true 10s grep -q "the dispatcher is now at $ready" events.err
	rest
	run -0 dsvc-status --audit all
	[[ $output == *balanced* ]]
	[[ $(dsvc-status --json | jq '.workers | length') == 1 ]]
}

@test "with keys too: the key known for the old address must be that of the new one" {
	dispatcher first
	dsvc-invite -d "$ready" user,work >invitation 2>/dev/null || dsvc-invite -d "$endpoint" user,work >invitation
	XDG_CONFIG_HOME=$PWD/theirs dsvc-join -q invitation
	export XDG_CONFIG_HOME=$PWD/theirs
	start work dsvc-work --memory 1M -j 1
	slow -e "$many"
	killed first
	# Somebody else, with another key, who can write the file.
	XDG_CONFIG_HOME=$PWD/evil dispatcher evil --state evil
	until_true 10s grep -q "the dispatcher is now at $ready" work.err
	killed evil
	export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
	dispatcher second
	until_true 10s grep -q "the dispatcher is now at $ready" work.err
	rest
}

@test "a file that names a place where nobody is any more is read again at the start" {
	echo tcp://127.0.0.1:9 >up
	spawn reader dsvc-read --connect-timeout 0 -q -e 'range 3'
	spawn work dsvc-work -q --connect-timeout 0 --insecure
	dispatcher first --insecure
	reap reader
	((status == 0))
	[[ $(<reader.out) == $'0\n1\n2' ]]
}

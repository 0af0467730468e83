# SPDX-License-Identifier: MIT
# Rows of services with keys: what they cost at the start, and for elements.
# shellcheck shell=bash disable=SC2154

# keyed_up [ARG...]: a dispatcher with keys and one worker that takes ARG..., over tcp on this machine.
keyed_up() {
	export XDG_CONFIG_HOME=$work/config XDG_RUNTIME_DIR=$work/run
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	mkfifo "$work/hold"
	exec 8<> "$work/hold"
	"$bin/dsvc-dispatch" -q -b 'tcp://127.0.0.1:*' --ready-file "$work/ready.d" --until-stdin-eof <&8 &
	pids=$!
	until [ -s "$work/ready.d" ]; do :; done
	DSVC_DISPATCHER=$(head -n 1 "$work/ready.d"); export DSVC_DISPATCHER
	env -u DSVC_DISPATCHER "$bin/dsvc-invite" -q user,work | "$bin/dsvc-join" -q
	"$bin/dsvc-work" -q -j 1 --allow-read / --ready-file "$work/ready.w" "$@" <&8 &
	pids="$pids $!"
	until [ -s "$work/ready.w" ]; do :; done
}

keyed_down() {
	down
	unset XDG_CONFIG_HOME XDG_RUNTIME_DIR
	rm -rf "$work/config" "$work/run"
}

# first_more CLEAR: sets MS to what a reader of one element takes longer with keys than at the dispatcher
# CLEAR, where none are used. They run in turn, and of each the median counts.
first_more() {
	local i
	rm -f "$work"/first.*
	for ((i = 0; i < 60; i++)); do
		DSVC_DISPATCHER=$1 seconds "$bin/dsvc-read" -n 1 -e 'range 1' || return
		echo "$S" >> "$work/first.clear"
		seconds "$bin/dsvc-read" -n 1 -e 'range 1' || return
		echo "$S" >> "$work/first.keys"
	done
	MS=$(paste <(sort -g "$work/first.keys") <(sort -g "$work/first.clear") | awk 'NR == 30 { print ($1 - $2) * 1000 }')
}

row_keys() {
	local clear clear_pids mib="whole $one | repeat 1000"
	ours() { seconds "$bin/dsvc-read" --transfer copy -t count -e "$mib"; }
	up 1 1 'tcp://127.0.0.1:*' 'tcp://127.0.0.1:*'
	clear=$DSVC_DISPATCHER clear_pids=$pids
	rm -f "$work"/ready.* "$work/hold"
	keyed_up
	first_more "$clear" && at_most 'first element with keys, over that without' 5 "$MS" ms
	# shellcheck disable=SC2086
	kill $clear_pids
	theirs() { own "$yard/zmq" 'tcp://127.0.0.1:*' 1048576 1000 curve; }
	row '1 MiB elements, encrypted; zmq 1 MiB, CURVE' 0.9 1.048576 'GB/s' ours theirs
	keyed_down
	keyed_up --data clear
	theirs() { own "$yard/zmq" 'tcp://127.0.0.1:*' 1048576 1000; }
	row '  the same with --data clear; zmq 1 MiB' 0.8 1.048576 'GB/s' ours theirs
	keyed_down
}

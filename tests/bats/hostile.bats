#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Peers that do not behave (lib/peer.py), at both ends: servers that are no
# dispatcher, and strangers who connect to one.
load lib/dsvc

peer() { python3 "${BATS_TEST_DIRNAME}/lib/peer.py" "$@"; }

# Sets $port to that of a server of that kind, which ends when fd 6 is closed.
stranger() { # KIND
	local in=$BATS_TEST_TMPDIR/in.$1 out=$BATS_TEST_TMPDIR/out.$1
	mkfifo "$in" "$out"
	peer listen "$1" <"$in" >"$out" 2>"$BATS_TEST_TMPDIR/stranger.err" 3>&- &
	echo "$!" >>"$BATS_TEST_TMPDIR/pids"
	exec 6>"$in"
	read -r port <"$out"
}

mib_used() { awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/${pid[$1]}/status"; }

no_dispatcher() { # PROGRAM ARG...
	run -69 --separate-stderr within 15s "$@" -d "tcp://127.0.0.1:$port"
	[ "$output" = '' ]
	[ "${stderr_lines[0]}" = "$1: no dispatcher at tcp://127.0.0.1:$port (from -d): another kind of program answers there" ]
	[[ ${stderr_lines[1]} == '  help: '* ]]
	[ "${#stderr_lines[@]}" -eq 2 ]
}

@test "whatever else answers, every program says that it is no dispatcher" {
	local kind
	for kind in junk ssh http tls zmtp1 pub router; do
		stranger "$kind"
		no_dispatcher dsvc-status
		no_dispatcher dsvc-read -e 'range 3'
		no_dispatcher dsvc-work --insecure
		no_dispatcher dsvc-register -e 'range 3'
		exec 6>&-
	done
}

@test "one that hangs up at once is told as such" {
	stranger hangup
	# One that is slow to do so, on a loaded machine, is taken for a busy dispatcher.
	until_true 1s hangs_up
}
hangs_up() {
	run -69 --separate-stderr within 15s dsvc-status -d "tcp://127.0.0.1:$port"
	[[ ${stderr_lines[0]} == "dsvc-status: no dispatcher at tcp://127.0.0.1:$port (from -d): it hangs up" ]]
}

@test "one that speaks with keys where we do not, or the other way round, is told though it hangs up at once" {
	stranger keyed
	run -77 --separate-stderr within 15s dsvc-read -e 'range 3' -d "tcp://127.0.0.1:$port"
	[ "${stderr_lines[0]}" = "dsvc-read: tcp://127.0.0.1:$port wants a key" ]
	exec 6>&-
	stranger clear
	dsvc-keygen -q >/dev/null
	(umask 077; echo "tcp://127.0.0.1:$port $(dsvc-keygen --show)" >"$XDG_CONFIG_HOME/dsvc/services")
	run -77 --separate-stderr within 15s dsvc-work -d "tcp://127.0.0.1:$port"
	[[ ${stderr_lines[0]} == "dsvc-work: tcp://127.0.0.1:$port speaks without keys, and not with the key "*' as before' ]]
}

@test "one that accepts and says nothing does not outlast --timeout" {
	stranger silent
	run -124 within 15s dsvc-read --timeout 500ms -e 'range 3' -d "tcp://127.0.0.1:$port"
}

@test "garbage while a connection is being made never aborts, in 60 rounds" {
	stranger turns
	local i rc
	for ((i = 0; i < 60; i++)); do
		rc=0
		within 15s dsvc-read --timeout 100ms -e 'range 3' -d "tcp://127.0.0.1:$port" \
			2>"$BATS_TEST_TMPDIR/err" || rc=$?
		if ((rc != 69 && rc != 124)); then
			echo "round $i: $rc"
			cat "$BATS_TEST_TMPDIR/err"
			return 1
		fi
	done
}

@test "a worker finds its dispatcher again after something else had its port" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*' --state "$BATS_TEST_TMPDIR/state"
	local at=$ready
	start work dsvc-work --insecure -d "$at"
	stop dispatch KILL
	# It says a line to the worker, which hangs up.
	within 15s python3 -c '
import socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
c, _ = s.accept()
c.sendall(b"not the right one\r\n")
try:
    while c.recv(100):
        pass
except ConnectionResetError:
    pass
' "${at##*:}"
	start again dsvc-dispatch --insecure -b "$at" --state "$BATS_TEST_TMPDIR/state"
	run -0 --separate-stderr within 15s dsvc-read -d "$at" -e 'range 3'
	[ "$(sort <<<"$output" | tr '\n' ' ')" = '0 1 2 ' ]
}

# Iteration and seat are shown by STATUS to everybody; what is needed besides is not.
@test "who knows the numbers of a reader gets none of its elements, and acknowledges none" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready report data iteration seat gen
	start work dsvc-work --insecure -d "$at" -j 1 --memory 1M
	mkfifo "$BATS_TEST_TMPDIR/out"
	exec 6<>"$BATS_TEST_TMPDIR/out"
	dsvc-read -d "$at" -e 'range 1000000' >&6 2>"$BATS_TEST_TMPDIR/read.err" 3>&- &
	echo "$!" >>"$BATS_TEST_TMPDIR/pids"
	read -r -t "$patience" -u 6 first
	[ "$first" = 0 ]
	report=$(dsvc-status -d "$at" --json)
	data=$(jq -r '.workers[0].endpoint' <<<"$report")
	iteration=$(jq -r '.jobs[0].iterations[0].id' <<<"$report")
	gen=$(jq -r '.jobs[0].iterations[0].streams[0].generation' <<<"$report")
	seat=$(jq -r '.readers[0].seat' <<<"$report")
	[[ $(jq -r '.readers[0].peer' <<<"$report") =~ ^[0-9a-f]{8}$ ]]
	run -0 within 15s peer thief "$data" "$iteration" "$seat" "$gen"
	[ "$output" = 'got 42 42 42' ]
	run -0 within 60s head -n 999999 <&6
	[ "${lines[-1]}" = 999999 ]
}

# The id that libzmq makes up next must not be known. Its generator begins at these two
# numbers when nobody seeds it.
@test "ids that libzmq makes up cannot be guessed: dispatcher and worker live" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready base
	start work dsvc-work --insecure -d "$at" -b 'tcp://127.0.0.1:*'
	local data
	data=$(dsvc-status -d "$at" --json | grep -o 'tcp://127.0.0.1:[0-9]*' | grep -v "$at" | head -1)
	for base in 1804289383 3829176425; do
		peer rid "$at" "$base"
		peer rid "$data" "$base"
	done
	run -0 --separate-stderr within 15s dsvc-read -d "$at" -e 'range 3'
	kill -0 "${pid[dispatch]}"
	kill -0 "${pid[work]}"
}

# Floods the dispatcher until it is cut off, while others are served.
floods() { # KIND WORDS OF THE LOG
	local at=$1
	peer "$2" "$at" 20 >"$BATS_TEST_TMPDIR/flood" 3>&- &
	local flood=$!
	echo "$flood" >>"$BATS_TEST_TMPDIR/pids"
	while kill -0 "$flood" 2>/dev/null; do
		run -0 within 15s dsvc-read -d "$at" -t count -e 'range 1000'
		[ "$output" = 1000 ]
	done
	grep -qx cut "$BATS_TEST_TMPDIR/flood"
	grep -q "$3" "$BATS_TEST_TMPDIR/dispatch.err"
	(($(mib_used dispatch) < 500))
}

@test "who asks and does not read is cut off, and others are served meanwhile" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready
	start work dsvc-work --insecure -d "$at"
	dsvc-register -d "$at" --id large "elements [\"$(printf '%0100000d' 0)\"]"
	floods "$at" get 'peer [0-9a-f]* does not read: [0-9]* MB wait for it; cut its connection'
	: >"$BATS_TEST_TMPDIR/dispatch.err"
	floods "$at" junk 'peer [0-9a-f]* does not read: [0-9]* MB wait for it; cut its connection'
}

@test "who asks for more than a peer may have is told so, then cut off" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready
	start work dsvc-work --insecure -d "$at"
	floods "$at" status 'peer [0-9a-f]* asks too much and does not stop; cut its connection'
	(($(mib_used dispatch) < 200))
}

@test "greetings, handshakes and frames that are wrong in any way break neither dispatcher nor worker" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready data seed
	start work dsvc-work --insecure -d "$at" -b 'tcp://127.0.0.1:*'
	data=$ready
	for seed in 1 2; do
		run -0 within 60s python3 "$BATS_TEST_DIRNAME/lib/peer.py" zmtp "$at" "$seed" 300
		run -0 within 60s python3 "$BATS_TEST_DIRNAME/lib/peer.py" zmtp "$data" "$seed" 300
	done
	run -0 --separate-stderr within 15s dsvc-read -d "$at" -t count -e 'range 1000'
	[ "$output" = 1000 ]
	kill -0 "${pid[dispatch]}"
	kill -0 "${pid[work]}"
}

@test "a message without end is cut off, from one connection or from many" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready
	run -0 peer parts "$at" 20
	[[ $output == cut$'\n'* ]]
	run -0 peer halves "$at" 100
	until_true 10s grep -q 'cut a connection that sends a message without end' "$BATS_TEST_TMPDIR/dispatch.err"
	run -0 within 15s dsvc-status -d "$at"
}

@test "connections that say nothing do not use up the descriptors" {
	start dispatch bash -c 'ulimit -n 40; exec dsvc-dispatch --insecure -b "tcp://127.0.0.1:*" "$@"' dispatch
	local at=$ready
	mkfifo "$BATS_TEST_TMPDIR/idle"
	peer idle "$at" 200 <"$BATS_TEST_TMPDIR/idle" >"$BATS_TEST_TMPDIR/idle.out" 3>&- &
	echo "$!" >>"$BATS_TEST_TMPDIR/pids"
	exec 6>"$BATS_TEST_TMPDIR/idle"
	until_true 10s grep -q 'held 200' "$BATS_TEST_TMPDIR/idle.out"
	run -0 within 8s dsvc-status -d "$at" --timeout 5
	exec 6>&-
}

@test "names longer than a message may carry are usage errors" {
	local long
	long=$(printf '%0300d' 0)
	service 1
	for command in "dsvc-read $long" "dsvc-read -J $long -e 'range 3'" "dsvc-register --id $long 'range 3'" \
		"dsvc-status --audit $long" "dsvc-work --name $long" "dsvc-work --tag $long"; do
		run -64 within 5s bash -c "$command"
		[[ $output == *"a name has at most 256 bytes"* ]] || { echo "$command: $output"; false; }
	done
	for spec in "range 3 | distribute job=$long" "dataset $long"; do
		run -65 dsvc-run "$spec"
		[[ $output == *"a name has at most 256 bytes"* && $output == *^* ]]
	done
}

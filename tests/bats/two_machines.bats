#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Two machines, as two network namespaces with a cable between them, and somebody who listens
# at the cable. Needs root.

load lib/dsvc

setup() {
	dsvc_setup
	a=dsvc-a-$$-$BATS_TEST_NUMBER b=dsvc-b-$$-$BATS_TEST_NUMBER
	if ((EUID)) || ! ip netns add "$a" 2>/dev/null; then
		skip 'network namespaces need root'
	fi
	ip netns add "$b"
	ip -n "$a" link add cable type veth peer name cable netns "$b"
	ip -n "$a" address add 10.77.0.1/24 dev cable
	ip -n "$b" address add 10.77.0.2/24 dev cable
	local n
	for n in "$a" "$b"; do
		ip -n "$n" link set lo up
		ip -n "$n" link set cable up
	done
	mkdir -m 700 "$sockets/b"
	elements='range 20000 | map "an element that can be read"'
}
teardown() {
	dsvc_teardown
	ip netns del "$a" 2>/dev/null || :
	ip netns del "$b" 2>/dev/null || :
}

in_b=(env)
# The words before a command on the machine b.
machine_b() {
	in_b=(ip netns exec "$b" env "XDG_RUNTIME_DIR=$sockets/b" "XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/b")
}

# Sets ${pid[tap]}; what passes the cable goes to tap.out when it is stopped.
tap() {
	cat >"$BATS_TEST_TMPDIR/tap.py" <<-'END'
		import os, signal, socket, sys
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
		s.bind(("cable", 0))
		s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20) # SO_RCVBUFFORCE: whatever the system's limit is
		stop = []
		signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
		s.settimeout(0.05)
		os.write(int(sys.argv[sys.argv.index("--ready-fd") + 1]), b"up\n")
		with open(sys.argv[1], "wb") as out:
		    while True: # what had passed when it was stopped is still to be written
		        try:
		            out.write(s.recv(1 << 17))
		        except TimeoutError:
		            if stop:
		                break
	END
	start tap ip netns exec "$a" python3 "$BATS_TEST_TMPDIR/tap.py" "$BATS_TEST_TMPDIR/cable"
}

@test "join once, not twice, not with another key, and whoever listens sees no element" {
	machine_b
	start dispatch ip netns exec "$a" dsvc-dispatch -b 'tcp://10.77.0.1:*'
	local at=$ready
	dsvc-invite user --from 10.77.0.2 >"$BATS_TEST_TMPDIR/invitation"
	run -69 "${in_b[@]}" dsvc-status
	run -77 "${in_b[@]}" dsvc-status -d "$at"
	[[ $output == *"no key is known for $at"*'or say --insecure'* ]]
	run -0 "${in_b[@]}" dsvc-join "$BATS_TEST_TMPDIR/invitation"
	run -77 "${in_b[@]}" dsvc-join "$BATS_TEST_TMPDIR/invitation"
	[[ $output == *'the invitation was used'* ]]
	dsvc-invite work >"$BATS_TEST_TMPDIR/for-a"
	start work ip netns exec "$a" env XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/w" dsvc-work --join "$BATS_TEST_TMPDIR/for-a"
	[[ $ready == tcp://10.77.0.1:* ]]
	tap
	run -0 --separate-stderr within 30s "${in_b[@]}" dsvc-read -q --transfer copy --compression none -t count -e "$elements"
	[[ $output == 20000 ]]
	stop tap
	(($(stat -c %s "$BATS_TEST_TMPDIR/cable") > 100000))
	run ! grep -qa 'that can be read' "$BATS_TEST_TMPDIR/cable"
	local key
	key=$(ip netns exec "$a" dsvc-keygen -o "$BATS_TEST_TMPDIR/other")
	sed -i "s/ .*/ $key/" "$BATS_TEST_TMPDIR/b/dsvc/services"
	run -77 within 10s "${in_b[@]}" dsvc-status
	[[ $output == *"has not the key"* ]]
}

@test "a worker that no other machine can reach says so where the dispatcher is on one, unless that is meant" {
	machine_b
	start dispatch ip netns exec "$a" dsvc-dispatch --insecure -b 'tcp://10.77.0.1:*'
	local at said dispatch=$ready
	for at in 'tcp://127.0.0.1:*' 'tcp://[::1]:*' "ipc://$sockets/b/data"; do
		start work "${in_b[@]}" dsvc-work --insecure -d "$dispatch" -b "$at"
		said=$(<"$BATS_TEST_TMPDIR/work.err")
		[[ $said == *"only readers on this machine can reach $at, and the dispatcher is on another one: "* ]]
		[[ $said == *"such as tcp://10.77.0.2:*, or say --advertise $at if that is meant"* ]]
		stop work
	done
	at=$dispatch
	# on the dispatcher's machine, and by its outer address, it may be meant
	start near ip netns exec "$a" dsvc-work --insecure -d "$at" -b 'tcp://127.0.0.1:*'
	[[ $(<"$BATS_TEST_TMPDIR/near.err") != *"only readers"* ]]
	stop near
	start work "${in_b[@]}" dsvc-work --insecure -d "$at" -b 'tcp://127.0.0.1:*' --advertise 'tcp://127.0.0.1:*'
	[[ $ready == tcp://127.0.0.1:* && $(<"$BATS_TEST_TMPDIR/work.err") != *"only readers"* ]]
	run -0 --separate-stderr within 30s "${in_b[@]}" dsvc-read -q --insecure -d "$at" -t count -e "$elements"
	[[ $output == 20000 ]]
}

@test "with --data clear elements can be read at the cable, and only there" {
	machine_b
	start dispatch ip netns exec "$a" dsvc-dispatch -b 'tcp://10.77.0.1:*'
	dsvc-invite user >"$BATS_TEST_TMPDIR/invitation"
	"${in_b[@]}" dsvc-join -q "$BATS_TEST_TMPDIR/invitation"
	dsvc-invite work >"$BATS_TEST_TMPDIR/for-a"
	start work ip netns exec "$a" env XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/w" dsvc-work --data clear --join "$BATS_TEST_TMPDIR/for-a"
	tap
	run -0 --separate-stderr within 30s "${in_b[@]}" dsvc-read -q --transfer copy --compression none -t count -e "$elements"
	[[ $output == 20000 ]]
	stop tap
	grep -qa 'that can be read' "$BATS_TEST_TMPDIR/cable"
	# the ticket and all else went over the other connection
	run ! grep -qa 'map "an element' "$BATS_TEST_TMPDIR/cable"
}

@test "an invitation for another address, or one that is late, opens nothing" {
	machine_b
	start dispatch ip netns exec "$a" dsvc-dispatch -b 'tcp://10.77.0.1:*'
	dsvc-invite user --from 10.78.0.0/16 >"$BATS_TEST_TMPDIR/invitation"
	run -77 "${in_b[@]}" dsvc-join "$BATS_TEST_TMPDIR/invitation"
	[[ $output == *'is for another address'* ]]
	dsvc-invite user --for 1s --from 10.78.0.0/16 >"$BATS_TEST_TMPDIR/late"
	until_true 5s late
	run -0 dsvc-allow
	[[ ! $output ]]
}
late() { # as somebody else each time: who tried three times is not heard
	"${in_b[@]}" XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/b$RANDOM" dsvc-join "$BATS_TEST_TMPDIR/late" 2>"$BATS_TEST_TMPDIR/late.err" && return 2
	grep -q 'the invitation ended at ' "$BATS_TEST_TMPDIR/late.err"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A worker whose readers find it at another address than the one it is bound to.

load lib/dsvc

dispatcher() {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
}

told() {
	dsvc-status --json | grep -o '"endpoint":"[^"]*"' | cut -d'"' -f4
}

@test "--advertise is what readers and dsvc-status are told, with the port that was bound" {
	dispatcher
	start one dsvc-work --insecure -b '127.0.0.1:*' --advertise 'localhost:*'
	[[ $ready == tcp://127.0.0.1:* ]]
	[[ $(told) == "tcp://localhost:${ready##*:}" ]]
	run -0 dsvc-status
	[[ $output == *" tcp://localhost:${ready##*:}"* ]]
	run -0 dsvc-read -q --order source -e 'range 5'
	[[ $output == $'0\n1\n2\n3\n4' ]]
}

@test "a worker on all interfaces is found at the one that is advertised" {
	dispatcher
	start one dsvc-work --insecure -b 'tcp://*:*' --advertise 'tcp://127.0.0.2:*'
	[[ $(told) == tcp://127.0.0.2:+([0-9]) ]]
	run -0 dsvc-read -q --order source -e 'range 5'
	[[ $output == $'0\n1\n2\n3\n4' ]]
}

@test "a port that is advertised is a relay's" {
	dispatcher
	local behind port
	behind=$(free_ipc behind)
	start one dsvc-work --insecure -b "$behind" --advertise "$(free_ipc front)"
	[[ $ready == "$behind" && $(told) == "$(free_ipc front)" ]]
	# Nobody relays as yet: the reader waits.
	run -124 --separate-stderr dsvc-read -q --timeout 1s -e 'range 5'
	[[ ! $output ]]
	ln "${behind#ipc://}" "$sockets/front"
	run -0 within 20s dsvc-read -q --order source -e 'range 5'
	[[ $output == $'0\n1\n2\n3\n4' ]]
}

@test "what readers could not connect to is refused" {
	dispatcher
	run -64 dsvc-work --insecure --advertise 'nonsense'
	[[ $output == *"'nonsense' (from --advertise) is not an address"* ]]
	run -64 dsvc-work --insecure -b 'tcp://*:*' --advertise '*:5050'
	[[ $output == *"tcp://*:5050 does not say where readers find"*"--advertise 127.0.0.1:*"* ]]
	run -64 dsvc-work --insecure --advertise '0.0.0.0:*'
	run -64 dsvc-work --insecure --advertise '[::]:7'
	run -64 dsvc-work --insecure --advertise 'there:70000'
	run -64 dsvc-work --insecure -b "$(free_ipc mine)" --advertise 'there:*'
	[[ $output == *"has no port"* ]]
	run -64 dsvc-work --insecure -b 'tcp://*:*'
	[[ $output == *--advertise* ]]
}

@test "a worker that is advertised by TCP runs no programs" {
	start dispatch dsvc-dispatch
	start one dsvc-work --advertise "$(free_ipc other)"
	stop one
	start two dsvc-work -b "$(free_ipc here)" --advertise 'localhost:5050'
	run -77 dsvc-read -q --timeout 5s -e 'range 5 | exec -- cat'
	[[ $output == *--allow-exec* ]]
}

@test "a dispatcher on all interfaces tells the name of its host, or what --advertise says" {
	start named dsvc-dispatch --insecure -b 'tcp://*:*' --ready-file "$BATS_TEST_TMPDIR/up"
	[[ $ready == "tcp://$(hostname):"+([0-9]) && $(<"$BATS_TEST_TMPDIR/up") == "$ready" ]]
	start told dsvc-dispatch --insecure -b 'tcp://0.0.0.0:*' --advertise '127.0.0.3:*' --ready-file "$BATS_TEST_TMPDIR/up"
	[[ $ready == tcp://127.0.0.3:+([0-9]) && $(<"$BATS_TEST_TMPDIR/up") == "$ready" ]]
	start one dsvc-work --insecure -d "@$BATS_TEST_TMPDIR/up"
	run -0 dsvc-read -d "@$BATS_TEST_TMPDIR/up" -q --order source -e 'range 5'
	[[ $output == $'0\n1\n2\n3\n4' ]]
}

@test "what others could not connect to is no dispatcher's address either" {
	run -64 dsvc-dispatch --advertise 'nonsense'
	[[ $output == *"'nonsense' (from --advertise) is not an address"* ]]
	run -64 dsvc-dispatch --insecure -b '127.0.0.1:*' --advertise '*:5050'
	[[ $output == *"tcp://*:5050 does not say where others find this dispatcher"*"--advertise login1:*"* ]]
	run -64 dsvc-dispatch --advertise 'there:*'
	[[ $output == *"has no port"* ]]
}

@test "names of interfaces and of hosts can be bound, with any free port" {
	start lo dsvc-dispatch --insecure -b 'tcp://lo:*'
	[[ $ready == tcp://127.0.0.1:+([0-9]) ]]
	start host dsvc-dispatch --insecure -b 'tcp://localhost:*'
	[[ $ready == tcp://127.0.0.1:+([0-9]) ]]
}

@test "an invitation has the address that is advertised" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*' --advertise 'localhost:*'
	run -0 --separate-stderr dsvc-invite -d "$endpoint" work
	[[ $output == "dsvc-invitation-1 tcp://localhost:${ready##*:} "* ]]
}

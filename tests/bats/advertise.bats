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

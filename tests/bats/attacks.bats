#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Attacks of the review before there were keys. Each has a test that does no harm:
#
#	three connections that guess ids                hostile.bats, with keys keys.bats
#	wrong greetings, handshakes and frames          hostile.bats (zmtp), keys.bats (curve)
#	connections that say nothing                    hostile.bats (idle)
#	messages without end, frames half sent          hostile.bats (parts, halves)
#	floods of requests, and of junk                 hostile.bats (status, get, junk)
#	floods of datasets, specs and OPENs             unit/host/quota_test, unit/core/disp_pending_test
#	jobs of very many shards                        unit/core/role_test, keys.bats
#	a worker that lies: chunks, units, ends, codes  foreign.bats (lib/evil.py)
#	... and leaves a state that is none             foreign.bats (restart-), fuzz/state_fuzz
#	elements and seats of others                    hostile.bats (thief), here (claim)
#	tickets that are wrong, guessed or cut          hostile.bats (thief), sim/hostile_sim, fuzz/wire_fuzz
#	invitations that are replayed, cut or invented  keys.bats, two_machines.bats, sim/join_sim, fuzz/trust_fuzz
#	keys that were struck out                       keys.bats, sim/service_sim, unit/core/disp_struck_test
#	messages with any values in their fields        here (fuzz), sim/hostile_sim
#	files of the worker read and written            gate.bats, sandbox.bats
#	parameters that become a script                 cases/exec.case
#	sockets that all may write to                   dsvc-dispatch.bats (umask)
#	guards lifted by the environment                dsvc-dispatch.bats, keys_programs.bats
#	addresses that only look local                  unit/net/sock_test
#	positions and states with changed bytes         sim/hostile_sim, fuzz/position_fuzz, fuzz/row_fuzz, durable.bats
#	texts that broke a parser                       fuzz/corpus

load lib/dsvc

setup() { dsvc_setup; }
teardown() { dsvc_teardown; }

anything() { within 60s python3 "$BATS_TEST_DIRNAME/lib/anything.py" "$@"; }

@test "messages with any values in their fields break neither dispatcher nor worker" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready role
	start work dsvc-work --insecure -d "$at"
	for role in 1 2 3; do
		run -0 anything fuzz "$at" "$role" "7$role" 500
		[[ $output == 'said 5'* ]]
	done
	run -0 anything fuzz "$ready" 0 70 500
	run -0 --separate-stderr within 30s dsvc-read -d "$at" -t count -e 'range 1000'
	[ "$output" = 1000 ]
	kill -0 "${pid[dispatch]}"
	kill -0 "${pid[work]}"
	[[ $(<"$BATS_TEST_TMPDIR/dispatch.err") != *$'\e'* ]]
}

@test "who names the seat of another acknowledges, holds and closes nothing, and does not get it" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready report first
	start work dsvc-work --insecure -d "$at" -j 1 --memory 1M
	mkfifo "$BATS_TEST_TMPDIR/out"
	exec 6<>"$BATS_TEST_TMPDIR/out"
	spawn read dsvc-read -d "$at" -o "$BATS_TEST_TMPDIR/out" -e 'range 300000'
	read -r -t "$patience" -u 6 first
	report=$(dsvc-status -d "$at" --json)
	run -0 anything claim "$at" "$(jq -r '.jobs[0].iterations[0].id' <<<"$report")" "$(jq -r '.readers[0].seat' <<<"$report")"
	[ "$output" = 'GONE GONE GONE GONE' ]
	run -0 within 30s head -n 299999 <&6
	[ "$first" = 0 ]
	[ "${lines[-1]}" = 299999 ]
	reap read
	((status == 0))
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT

load lib/dsvc

# Two jobs that go on.
two_jobs() {
	service
	spawn one dsvc-read -J one -t none -e 'range 100000000 | sleep 1ms'
	spawn two dsvc-read -J two -t none -e 'range 100000000 | map x | sleep 2ms'
	until_true 20s eval '(($(dsvc-status --json | jq "[.jobs[].iterations[] | select(.state == \"running\")] | length") == 2))'
}

top_under_terminal() { within 100s env LC_ALL=C.UTF-8 python3 "$BATS_TEST_DIRNAME/lib/top.py" "$@" 3>&-; }

@test "help and version need nothing, and operands are refused" {
	run -0 dsvc-top --version
	run -0 dsvc-top -h
	[[ $output == *--interval* ]]
	run -64 dsvc-top operand
	run -64 dsvc-top -n 0
	run -69 dsvc-top
	[[ $output != *$'\033'* ]]
}

@test "into a pipe each look is text, without a control character, as often as asked" {
	service
	dsvc-read -J squares -t none -e 'range 10 | map x*x'
	run -0 dsvc-top -n 2 --interval 50ms
	[[ $output != *$'\033'* && $output != *'q quit'* ]]
	(($(grep -c 'WAITS FOR' <<<"$output") == 2))
	grep -qE '^ squares +1 +0 +0 .* finished$' <<<"$output"
	grep -qE '^1 worker, [0-9]+ slots?, 0 readers, 0/s ' <<<"$output"
	run -124 dsvc-top --timeout 0.2s
}

@test "JSON has an object for each look, with rates, limits and who is in which operator" {
	two_jobs
	spawn json dsvc-top --json --interval 200ms
	local out=$BATS_TEST_TMPDIR/json.out
	busy_in_json() {
		jq -es '.[-1] | .per_second > 0 and .seconds > 0 and (.jobs | length) == 2 and .workers[0].slots > 0 and
			all(.jobs[]; .per_second > 0 and .limit != "" and .operator_share > 0)' "$1" >/dev/null 2>&1
	}
	until_true 20s busy_in_json "$out"
	stop json
	((status == 0))
	grep -q '"operator_text":"sleep 1ms"' "$out"
	run ! grep -q $'\033' "$out"
}

@test "on a terminal there are keys, another size and ^Z, and it is given back as it was" {
	two_jobs
	top_under_terminal quit
}

@test "a signal or the end of the dispatcher gives the terminal back, too" {
	two_jobs
	top_under_terminal interrupt
	top_under_terminal terminate
	top_under_terminal lost "${pid[dispatch]}"
}

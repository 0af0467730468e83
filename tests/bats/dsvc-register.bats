#!/usr/bin/env bats
# SPDX-License-Identifier: MIT

load lib/dsvc

@test "help and version need nothing" {
	run -0 dsvc-register --version
	run -0 dsvc-register -h
	[[ $output == *"dsvc-register 'range 10 | map x*x'"* ]]
	run -0 dsvc-register --help
}

@test "it prints the id and nothing else" {
	service 0
	run -0 --separate-stderr dsvc-register 'range 10 | map x*x'
	[[ $output =~ ^[0-9a-f]{16}$ && ! $stderr ]]
}

@test "the same pipeline has the same id, however it is laid out" {
	service 0
	local first
	first=$(dsvc-register 'range 10 | map x*x')
	run -0 dsvc-register $'  range 10  # numbers\n  | map x * x'
	[[ $output == "$first" ]]
	run -0 dsvc-register -s n=10 -e 'range @n | map x*x'
	[[ $output == "$first" ]]
	run -0 dsvc-register range 10 'then' map 'x*x'
	[[ $output == "$first" ]]
	run -0 dsvc-register 'range 11 | map x*x'
	[[ $output != "$first" ]]
}

@test "an id that was asked for belongs to one pipeline" {
	service 0
	run -0 dsvc-register --id squares 'range 10 | map x*x'
	[[ $output == squares ]]
	run -0 dsvc-register --id squares 'range 10 | map x*x'
	run -65 dsvc-register --id squares 'range 10 | map x+x'
	[[ $output == *'x * x'* && $output == *'x + x'* || $output == *'x*x'* && $output == *'x+x'* ]]
}

@test "an id is one word" {
	service 0
	local id
	for id in 'two words' -x 'a|b' $'a\tb'; do
		run -64 dsvc-register --id "$id" 'range 10'
		[[ $output == *"an id is one word"* ]]
	done
	run -0 dsvc-register 'range 10' --id web-errors/2
	[[ $output == web-errors/2 ]]
}

@test "--timeout is 124" {
	run -124 within 5s dsvc-register --timeout 1ms -d "ipc://$BATS_TEST_TMPDIR/none" 'range 3'
	[[ $output == "dsvc-register: --timeout expired" ]]
}

@test "a mistake is shown with its place and nothing is registered" {
	run -65 dsvc-register 'range 10 | btach 4'
	[[ $output == *"<arg>:1:12"* && $output == *"^^^^^"* && $output == *batch* ]]
}

@test "check and explain need no service" {
	run -0 --separate-stderr dsvc-register --check 'range 10 | map x*x'
	[[ ! $output ]]
	run -65 dsvc-register --check 'range 10 | map x+'
	run -0 dsvc-register --explain 'range 10 | map x*x'
	[[ $output == *range* && $output == *map* ]]
}

@test "what is missing is named" {
	run -66 dsvc-register --check 'lines /nowhere/at-all.txt'
	[[ $output == *"/nowhere/at-all.txt"* ]]
	run -66 dsvc-register -f /nowhere/spec.dsvc
	run -64 dsvc-register
	run -64 dsvc-register -e 'range 1' 'range 2'
}

@test "what cannot run on workers is refused" {
	local spec
	for spec in 'lines -' 'csv - | map x' 'elements [1] | interleave (ndjson -)' \
		'elements [{id: 1}] | join (csv -) on=.id'; do
		run -65 dsvc-register --check "$spec"
		[[ $output == *"own input; it cannot run on workers"* || $output == *"reads standard input"* ]]
	done
	run -0 dsvc-register --explain 'lines - | map x'
	[[ $output == *"dynamic  refused: "*"own input"* ]]
	run -65 dsvc-register --check 'stdin | map x'
	[[ $output == *"cannot run on workers"* ]]
	run -0 dsvc-register --check 'range 10 | take 3'
	[[ $output == *'read it with --sharding off' ]]
}

@test "a full disk is no success" {
	service 0
	run -74 bash -c "dsvc-register 'range 10' >/dev/full"
}

@test "a dispatcher that is not there is told at once" {
	run -69 within 2s dsvc-register 'range 10'
	[[ $output == *"no dispatcher at $endpoint"* ]]
}

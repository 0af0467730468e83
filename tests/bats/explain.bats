#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Seeing what a pipeline does before it runs: --explain.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

@test "the plan with types, scopes and numbers of elements" {
	run -0 dsvc-run --explain 'range 10 | map x*x | batch 4'
	[[ ${lines[0]} == " 1 range 10 "*" element int  10 elements  splits" ]]
	[[ ${lines[1]} == " 2 map x * x "*" element int  10 elements" ]]
	[[ ${lines[2]} == " 3 batch 4 "*" stream  [int]  3 elements" ]]
	run -0 dsvc-run --explain 'zip a=(range 3) b=(counter 0)'
	[[ ${lines[0]} == *"{a: int, b: int}  3 elements" ]]
	[[ ${lines[2]} == *"counter"*"int  without end"* ]]
	run -0 dsvc-run --explain 'range 9 | filter x > 3'
	[[ ${lines[1]} == *" int" ]]
}

@test "what lines are searched for" {
	run -0 dsvc-run --explain 'lines /etc/passwd | filter x ~ "root|daemon"'
	[[ ${lines[0]} == *' text  searches for "root" or "daemon"  splits' ]]
	run -0 dsvc-run --explain 'lines /etc/passwd | filter x ~ "a\tb."'
	[[ ${lines[0]} == *' searches for "a\tb"'* ]]
	local spec
	for spec in 'lines /etc/passwd | filter x ~ "."' 'lines /etc/passwd | map upper(x) | filter x ~ "ROOT"' \
		'words /etc/passwd | filter x ~ "root"' 'lines /etc/passwd with_name=true | filter .line ~ "root"'; do
		run dsvc-run --explain "$spec"
		[[ $output != *"searches for"* ]]
	done
}

@test "what is not known before it runs, or has no end, is said so" {
	run -0 dsvc-run --explain 'range 3 | interleave (range x)'
	[[ ${lines[1]} == *"[int]" || ${lines[1]} == *" int" ]]
	[[ ${lines[2]} == *"range x "* && ${lines[2]} != *elements* ]]
	run -0 dsvc-run --explain 'range 3 | interleave (range 4)'
	[[ ${lines[2]} == *"range 4 "*"4 elements"* ]]
	local spec
	for spec in 'lines /etc/passwd | repeat' 'counter | flat_map [x, x]' 'counter | dedup' \
		'counter | map (x > 3 ? x : skip())' 'range 3 | interleave (counter)'; do
		run -0 dsvc-run --explain "$spec"
		[[ ${lines[1]} == *"  without end" ]]
	done
	run -0 dsvc-run --explain 'counter | take_while x < 3'
	[[ ${lines[1]} != *"without end" ]]
}

@test "where the source is cut" {
	cd "$BATS_TEST_TMPDIR"
	seq 3 >small.txt
	gzip -k small.txt
	seq 500000 >large.txt
	run -0 dsvc-run --explain 'lines *.txt*'
	[[ $output == *"splits: 3 units, 1 of them to be cut"* ]]
	[[ $output == *"large.txt, "*"cut into byte ranges between elements"* ]]
	[[ $output == *"small.txt, the whole file"* ]]
	[[ $output == *"small.txt.gz, the whole file"* ]]
	run -0 dsvc-run --explain 'range 10'
	[[ $output == *"splits: 1 unit"$'\n'"  elements 0 to 9, cut into ranges"* ]]
	run -0 dsvc-run --explain 'counter'
	[[ $output == *"elements from 0 on, without end, cut into ranges"* ]]
	run -0 dsvc-run --explain 'lines small.txt small.txt.gz'
	[[ $output == *"2 units, none to be cut: work for 2 workers at a time"* ]]
	run -0 dsvc-run --explain 'range 5 | map x | repeat 3'
	[[ $output == *"splits: 1 unit; read 3 times"* ]]
}

@test "what each policy gives for this very pipeline" {
	run -0 dsvc-run --explain 'range 10 | batch 4'
	[[ $output == *"  off      N workers give N whole copies of 3 elements, all alike"* ]]
	[[ $output == *"  dynamic  exactly once"*'`batch` works on each worker'* ]]
	run -0 dsvc-run --explain 'range 10 | shuffle 5 | repeat'
	[[ $output == *"  off      N workers give N whole copies, each without end, each with random numbers of its own in \`shuffle\`"* ]]
	[[ $output == *"once in each pass"* ]]
	run -0 dsvc-run --explain 'range 10 | take 3 | map x'
	[[ $output == *'  dynamic  refused: operator 2 `take 3` must see all elements'* ]]
	run -0 dsvc-run --explain 'range 10 | take 3 per_stream=true | map x'
	[[ $output == *"  dynamic  exactly once"*'`take` gives an answer for each worker'* ]]
	run -0 dsvc-run --explain 'stdin'
	[[ $output == *"  off      refused: \`stdin\`"*"  dynamic  refused: \`stdin\`"* ]]
	run -0 dsvc-run --explain 'sample (range 3) (range 4)'
	[[ $output == *"  dynamic  "* ]]
	run -0 dsvc-run --explain 'range 3 | exec cat'
	[[ $output == *"runs programs: workers on TCP need --allow-exec"* ]]
}

@test "ahead of distribute: the workers' part" {
	run -0 dsvc-run --explain 'range 5 | map x | distribute | take 2'
	[[ $output == *"on workers:"*" 2 map x "*"sharding:"*"exactly once"* ]]
}

@test "what is explained is what happens: exactly once, and whole copies" {
	service 2
	run -0 dsvc-read -d "$endpoint" -e 'range 1000 | map x' -t count
	[[ $output == 1000 ]]
	run -0 dsvc-read -d "$endpoint" --sharding off -e 'range 1000 | map x' -t count
	[[ $output == 2000 ]]
	run -65 dsvc-read -d "$endpoint" -e 'range 1000 | take 3' -t count
}

@test "dsvc-register --explain says it, too, also what it would refuse" {
	run -0 dsvc-register --explain 'range 10 | map x*x'
	[[ $output == *"exactly once"* ]]
	run -0 dsvc-register --explain 'range 10 | sort'
	[[ $output == *'refused: operator 2 `sort x`'* ]]
	run -0 dsvc-register --explain 'stdin | map x'
	[[ $output == *"refused"* ]]
	run -0 dsvc-register --check 'range 10 | sort'
	[[ $output == *'`sort` must see all elements'* ]]
	run -65 dsvc-register --explain 'range 10 | srt'
}

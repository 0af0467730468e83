#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Seeing what a pipeline does while it runs: --try and --stats.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

@test "three elements and the type after every operator" {
	run -0 dsvc-run --try 'range 10 | map x*x | batch 4'
	[[ $output == "range 10   int    0   1   2   …
map x * x  int    0   1   4   …
batch 4    [int]  [0,1,4,9]   [16,25,36,49]   [64,81]" ]]
	run -0 dsvc-run --try -n 1 'range 10 | map {v: x}'
	[[ ${lines[1]} == 'map {v: x}  {v: int}  {"v":0}   …' ]]
}

@test "standard input is read once, and only as far as needed" {
	run -0 bash -c 'seq 4 | dsvc-run --try "stdin | map int(x) | filter x > 2"'
	[[ $output == 'stdin         text  "1"   "2"   "3"   …
map int(x)    int   1   2   3   …
filter x > 2  int   3   4' ]]
	run -0 within 20s dsvc-run --try 'counter | map x + 1'
	[[ ${lines[1]} == 'map x + 1  int  1   2   3   …' ]]
}

@test "long elements stand on lines of their own, huge ones are told by size" {
	run -0 dsvc-run --try 'range 9 | map pad("", 200, "ä")'
	[[ ${lines[2]} == '    "ääää'*… ]]
	run -0 dsvc-run --try 'range 1 | map pad("", 200000, "a")'
	[[ $output == *"bytes)"* ]]
}

@test "what came before a mistake is shown, then the mistake" {
	run -65 --separate-stderr dsvc-run --try 'range 5 | map 1/(x-2)'
	[[ ${lines[1]} == "map 1 / (x - 2)  float  -0.5   -1.0" ]]
	[[ $stderr == *"division by zero"* ]]
	run -0 dsvc-run --try 'range 5 | filter x > 9 | map x'
	[[ ${lines[2]} == *"nothing" ]]
}

@test "a tap does not change where a cache lies" {
	cd "$BATS_TEST_TMPDIR"
	run -0 dsvc-run 'range 4 | map x | cache c | map x+1'
	run -0 ls c
	before=$output
	run -0 dsvc-run --try 'range 4 | map x | cache c | map x+1'
	run -0 ls c
	[[ $output == "$before" ]]
}

@test "--stats: elements, time and share of each operator, and the bottleneck" {
	run -0 --separate-stderr dsvc-run --stats 'range 3 | sleep 20ms | map x+1 | batch 2'
	[[ $output == $'[1,2]\n[3]' ]]
	[[ ${stderr_lines[0]} == "dsvc-run: 3 elements in "* || ${stderr_lines[0]} == "dsvc-run: 2 elements in "* ]]
	[[ ${stderr_lines[1]} =~ ^\ +operator\ +elements\ +time\ +share$ ]]
	[[ ${stderr_lines[2]} =~ ^\ +1\ range\ 3\ +3\ +0\.[0-9]+\ s\ +[0-9]+\ %$ ]]
	[[ ${stderr_lines[3]} =~ ^\ +2\ sleep\ .*\ 3\ +0\.[0-9]+\ s\ +[0-9]+\ %$ ]]
	[[ ${stderr_lines[5]} =~ ^\ +4\ batch\ 2\ +2\  ]]
	[[ ${stderr_lines[6]} =~ ^\ +output\ +2\  ]]
	[[ ${stderr_lines[7]} =~ ^operator\ 2\ \`sleep\ .*\`\ takes\ [0-9]+\ %\ of\ the\ time$ ]]
}

@test "--stats counts the same with threads, in branches, and when it ends early" {
	run -0 --separate-stderr dsvc-run --stats -j 2 -t none 'range 300000 | map x*x | filter x > 3 | batch 100'
	[[ ${stderr_lines[2]} =~ 1\ range\ 300000\ +300000\  ]]
	[[ ${stderr_lines[4]} =~ 3\ filter\ x\ \>\ 3\ +299998\  ]]
	[[ ${stderr_lines[5]} =~ 4\ batch\ 100\ +3000\  ]]
	run -0 --separate-stderr dsvc-run --stats -t none 'zip (range 4) (range 5) | map x'
	[[ ${stderr_lines[2]} =~ 1\ zip && ${stderr_lines[3]} =~ 2\ range\ 4\ +4 && ${stderr_lines[5]} =~ 4\ map ]]
	run -0 --separate-stderr dsvc-run --stats -n 3 'counter | prefetch 1'
	[[ ${stderr_lines[4]} =~ output\ +3\  ]]
}

@test "a cache is known again with threads" {
	cd "$BATS_TEST_TMPDIR"
	dsvc-run -t none 'range 200000 | map x*x | cache c'
	run -0 ls c
	before=$output
	dsvc-run -j 2 -t none 'range 200000 | map x*x | cache c'
	run -0 ls c
	[[ $output == "$before" ]]
}

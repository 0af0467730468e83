#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dsvc-feed: loops, cores that are started anew for each, and the smaller options.
# shellcheck disable=SC2016

load lib/dsvc

feed() { timeout 30 dsvc-feed --local --as ndjson "$@"; }
core=(sh -c 'echo start >&2; while IFS= read -r b; do printf "%s\n" "$b"; done')

@test "with --each-loop the command is started for each loop, and gets its steps only" {
	run -0 --separate-stderr feed -n 2 --batch 2 --loop 2 --each-loop --results step -e 'range 10' -- "${core[@]}"
	[[ $(jq -c .result <<<"$output") == $'[0]\n[1]\n[2]\n[3]\n[4]\n[5]\n[6]\n[7]\n[8]\n[9]' ]]
	for i in 0 1; do [[ $(grep -c "core $i: start" <<<"$stderr") == 3 ]]; done
	run -0 --separate-stderr feed --loop 2 --each-loop -e 'range 4' -- "${core[@]}"
	[[ $(grep -c start <<<"$stderr") == 2 ]]
	run -0 --separate-stderr feed --loop 2 --each-loop -e 'range 0' -- "${core[@]}"
	[[ $output == '' ]]
	run -3 feed --loop 1 --each-loop -e 'range 4' -- sh -c 'read -r x; [ "$x" = 0 ] || exit 3'
	[[ $output == *'exited with status 3 in step '* ]]
}

@test "a loop may be given as a duration" {
	run -0 --separate-stderr feed --loop 1ms --each-loop --results step -e 'range 5' -- "${core[@]}"
	[[ $(jq -c .result <<<"$output" | paste -sd' ') == '0 1 2 3 4' ]]
	(($(grep -c start <<<"$stderr") >= 1))
	run -64 feed --loop 3x -e 'range 3' -- cat
	[[ $output == *"'3x' is neither a number of steps nor a duration"* ]]
	run -64 feed --each-loop -e 'range 3' -- cat
	[[ $output == *'--loop N'* ]]
	run -64 dsvc-feed --local --loop 2 --each-loop -e 'range 3'
}

@test "the last row can pad, and the mask tells it from a real one" {
	run -0 --separate-stderr feed --batch 3 --tail pad --pad last --mask m -e 'range 4 | map {x: x, t: str(x)}' -- cat
	[[ ${lines[1]} == '{"x":[3,3,3],"t":["3","3","3"],"m":[true,false,false]}' ]]
	# more text than its slot has room for
	run -0 --separate-stderr bash -c "dsvc-feed --local --as ndjson --batch 64 --tail pad --pad last -e 'range 2 | map pad(\"a\", 1 + x * 300)' -- jq -c '[length, .[1] == .[63], (.[1] | length)]'"
	[[ $output == '[64,true,301]' ]]
}

@test "steps as files of numpy" {
	run -0 bash -c "dsvc-feed --local --as npy --batch 2 --steps 1 -e 'range 4 | map tensor([x, x], \"u8\")' -- cat | dsvc-run 'npy -'"
	[[ $output == $'[0,0]\n[1,1]' ]]
	run -65 feed --as npy --batch 2 -e 'range 4 | map {x: x}' -- cat
	[[ $output == *'--as npy is for numbers and tensors, and the elements are records'* ]]
}

@test "elements that fail are told and recorded, up to so many" {
	cd "$BATS_TEST_TMPDIR"
	local spec='elements [1, "a", 2, "b"] | map int(x) on_error=skip'
	run -0 --separate-stderr feed --errors errs -e "$spec" -- cat
	[[ $output == $'1\n2' && $stderr == *'2 elements failed; see errs'* && $(wc -l <errs) == 2 ]]
	run -65 feed --errors errs --max-errors 1 -e "$spec" -- cat
	[[ $output == *'more than the 1 that --max-errors allows'* ]]
	run -0 feed -j 2 --batch 8 -e 'range 8 | map x*x' -- cat
	[[ $output == '[0,1,4,9,16,25,36,49]' ]]
	run -64 dsvc-feed -j 2 -e 'range 8' -- cat
	service
	run -0 --separate-stderr timeout 30 dsvc-feed -J train --order any --as ndjson --errors errs -e "$spec" -- cat
	[[ $(sort <<<"$output") == $'1\n2' && $stderr == *'2 elements failed; see errs'* && $(wc -l <errs) == 2 ]]
	run -65 timeout 30 dsvc-feed --as ndjson --max-errors 1 -e "$spec" -- cat
}

@test "passes may begin with another one than the first" {
	run -0 feed --seed 1 --batch 9 --epochs 3 -e 'range 9 | shuffle 9' -- cat
	local all=("${lines[@]}")
	run -0 feed --seed 1 --batch 9 --epoch 2 --epochs 2 -e 'range 9 | shuffle 9' -- cat
	[[ ${lines[0]} == "${all[1]}" && ${lines[1]} == "${all[2]}" ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dsvc-feed --axis: batches that are cut along another axis than the first.
# shellcheck disable=SC2016

load lib/dsvc

feed() { timeout "$patience" dsvc-feed --local "$@"; }
two='elements [{x: [[1, 2], [3, 4]], y: [5, 6]}] | map {x: tensor(.x), y: .y}'
cube='range 1 | map reshape(tensor(range(24)), [2, 3, 4])'

@test "each core gets its part along the axis, and of the other fields along the first" {
	run -0 feed -n 2 --element host --axis x=1 --as ndjson --results step -e "$two" -- sed -u ''
	[[ $output == $'{"step":0,"core":0,"result":{"x":[[1],[3]],"y":[5]}}\n{"step":0,"core":1,"result":{"x":[[2],[4]],"y":[6]}}' ]]
	run -0 feed -n 2 --element host --axis r.x=1 --as ndjson --results step -e "$two | map {r: {x: .x}, y: .y}" -- sed -u ''
	[[ $output == *'"result":{"r":{"x":[[2],[4]]},"y":[6]}}' ]]
	run -0 feed -n 2 --element host --axis 2 --as ndjson --results step -t ndjson -e "$cube" -- sed -u ''
	[[ $(jq -c .result <<<"$output") == $'[[[0,1],[4,5],[8,9]],[[12,13],[16,17],[20,21]]]\n[[[2,3],[6,7],[10,11]],[[14,15],[18,19],[22,23]]]' ]]
	run -0 feed -n 3 --element host --axis 1 --as ndjson --results step -t ndjson -e "$cube" -- sed -u ''
	[[ $(jq -c .result <<<"$output" | tail -1) == '[[[8,9,10,11]],[[20,21,22,23]]]' ]]
}

@test "npy and memory have the same numbers, with numpy and without" {
	cd "$BATS_TEST_TMPDIR"
	feed --element host --axis 1 --as npy -e "$cube" -- sh -c 'cat >got.npy'
	[[ $(dsvc-run 'npy got.npy' | jq -cs 'flatten') == "$(seq 0 23 | jq -cs .)" && $(dsvc-run 'npy got.npy | map shape(x)' | head -1) == '[3,4]' ]]
	cat >core.py <<-'END'
		import sys
		if sys.argv[1] == "plain":
		    sys.modules["numpy"] = None
		import dsvc
		feed = dsvc.feed()
		for batch in feed:
		    feed.put([list(batch.shape), batch.tolist()])
	END
	for how in numpy plain; do
		PYTHONPATH=$BATS_TEST_DIRNAME/../../python PYTHONDONTWRITEBYTECODE=1 run -0 feed -n 2 --element host --axis 2 --results step -t ndjson \
			-e "$cube" -- python3 core.py $how
		[[ $(jq -c .result <<<"$output") == $'[[2,3,2],[[[0,1],[4,5],[8,9]],[[12,13],[16,17],[20,21]]]]\n[[2,3,2],[[[2,3],[6,7],[10,11]],[[14,15],[18,19],[22,23]]]]' ]]
	done
}

@test "the last batch may have fewer rows along the axis, and is padded there" {
	run -0 --separate-stderr feed -n 2 --element host --axis 1 --as ndjson --results step -t ndjson \
		-e 'range 2 | map reshape(tensor(range(8 - 4 * x)), [2, 4 - 2 * x])' -- sed -u ''
	[[ $(jq -c .result <<<"$output" | tail -2) == $'[[0,1],[2,3]]\n[[0,0],[0,0]]' ]]
	[[ $stderr == *'the last step has 2 of 4 rows, the others are padding'* ]]
}

@test "hosts cut one batch along an axis" {
	service
	cd "$BATS_TEST_TMPDIR"
	for h in 0 1; do
		spawn "h$h" dsvc-feed --host $h/2 -J a --element step --axis 2 --as ndjson -e "$cube" -- sh -c "cat >out.$h"
	done
	for h in 0 1; do
		reap "h$h" 60
		((status == 0))
	done
	[[ $(cat out.0 out.1) == $'[[[0,1],[4,5],[8,9]],[[12,13],[16,17],[20,21]]]\n[[[2,3],[6,7],[10,11]],[[14,15],[18,19],[22,23]]]' ]]
}

@test "an axis that is not there is said" {
	run -65 feed -n 2 --element host --axis x=2 --as ndjson -e "$two" -- cat
	[[ $output == *'elements have no common axis'*'--axis'* ]]
	run -65 feed -n 2 --element host --axis z=1 --as ndjson -e "$two" -- cat
	[[ $output == *'--axis z=1: elements have no field `z`'* ]]
	run -65 feed -n 4 --element host --axis 1 --as ndjson -e "$cube" -- cat
	[[ $output == *'3 rows cannot be shared evenly by 4 cores'* ]]
	run -65 feed --element host --axis 1 --as ndjson -e 'range 2 | map (x == 0 ? tensor([[1, 2]]) : tensor([1, 2]))' -- cat
	run -64 feed --axis x=1 --as ndjson -e "$two" -- cat
	[[ $output == *'--element host or step'* ]]
	run -64 feed --batch 2 --axis x=1 --as ndjson -e "$two" -- cat
	for wrong in x x=-1 x=99 x=; do
		run -64 feed --element host --axis $wrong --as ndjson -e "$two" -- cat
		[[ $output == *'does not end in an axis'* ]]
	done
	run -64 feed --element host --axis x=1 --axis x=0 --as ndjson -e "$two" -- cat
}

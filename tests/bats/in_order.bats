#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Order source: what dsvc-run gives, or a refusal with the remedies.

load lib/dsvc

setup() {
	dsvc_setup
	service 2
}

# Refused with 65, in the words given, wherever the pipeline is said to be in order.
refused() { # SPEC REASON REMEDY [OPTION...]
	local spec=$1 reason=$2 remedy=$3 id
	shift 3
	run -65 dsvc-read --order source "$@" -e "$spec"
	[[ $output == *"with order \`source\`, "*"$reason"* && $output == *"$remedy"* && $output == *^* ]]
	run -65 dsvc-run "$spec | distribute order=source"
	[[ ${1-} || $output == *"$reason"* ]]
	id=$(dsvc-register "$spec")
	run -65 dsvc-read --order source "$@" "$id"
	[[ $output == *"$reason"* && $output == *"$remedy"* ]]
}

@test "what works on parts is refused, and says what to do" {
	local alone="it works on each part of the source alone" one='put it after `distribute`, or use a single stream: shards=1'
	refused 'range 10 | batch 3' "$alone" "$one"
	refused 'range 10 | shuffle 4' "$alone" '`shuffle all` is one order of the whole'
	refused 'range 10 | window 3' "$alone" "$one"
	refused 'range 10 | scan 0 s + x' "$alone" "$one"
	refused 'elements [3, 2] | interleave (range x)' "$alone" 'cycle=1 reads one pipeline after the other'
	refused 'range 10 | exec proto=stream -- cat' "$alone" 'proto=line'
	refused 'range 10 | map i' '`i` starts again at 0 in each part' "$one"
	refused 'range 10 | filter i > 3' '`i` starts again at 0 in each part' "$one"
	refused 'range 10 | shuffle all | map i' '`i` starts again' "$one"
	refused 'range 10 | take 3 per_stream=true' 'per_stream=true' "$one"
	refused 'range 10 | prefetch | repeat 2' 'repeated alone' "$one"
	refused 'range 10 | sample_rate 0.5 seed=3' 'its seed' "$one"
	refused 'options seed=4; range 10 | map rand()' 'its seed' "$one"
}

@test "a seed of the job counts like one of the pipeline" {
	run -65 dsvc-read --order source --seed 3 -e 'range 10 | sample_rate 0.5'
	[[ $output == *"its seed"* ]]
	run -0 dsvc-read --order source -e 'range 10 | sample_rate 0.5'
	local id
	id=$(dsvc-register 'range 10 | sample_rate 0.5')
	run -65 dsvc-read --order source --seed 3 "$id"
	[[ $output == *"its seed"* ]]
}

@test "one stream gives all of it in order" {
	local spec
	for spec in 'range 10 | batch 3' 'range 200000 | map i * 2' 'range 10 | shuffle 4 seed=7' \
		'range 200000 | scan 0 s + x' 'range 10 | prefetch | repeat 2' \
		'range 200000 | sample_rate 0.5 seed=3' 'elements [3, 2] | interleave (range x)'; do
		dsvc-run -f /dev/stdin <<<"$spec" >"$BATS_TEST_TMPDIR/want"
		dsvc-read --order source --shards 1 -e "$spec" >"$BATS_TEST_TMPDIR/got"
		cmp "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	done
}

@test "what does not depend on parts is as without a service" {
	local spec
	for spec in 'range 300000 | prefetch | map x' 'range 300000 | tee (| take 3 | print)' \
		'range 300000 | shuffle all seed=3' 'range 30 | shuffle all seed=3 | repeat 2 | map x + 1' \
		'elements [3, 2] | interleave (range x) cycle=1' 'range 1000 | exec -- cat' \
		'random 300000 seed=5' 'range 300000 | cache' 'range 10 | repeat 3'; do
		dsvc-run "$spec" >"$BATS_TEST_TMPDIR/want" 2>/dev/null
		dsvc-read --order source -e "$spec" >"$BATS_TEST_TMPDIR/got"
		cmp "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	done
}

@test "names of files are the same with and without a service, and can be opened" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p here/"d[1]"
	cd here
	echo one >'d[1]/a.txt'
	echo two >'d[1]/*'
	# the workers' folder is another one
	for spec in "files d*/*" "files './d[1]/a.txt'" 'files "d\\[1\\]/\\*"' "files d*/* | interleave (lines x) cycle=1" \
		"files d*/* | exec proto=arg -- cat {}"; do
		dsvc-run "$spec" >want
		dsvc-read --order source -e "$spec" >got
		[[ -s want ]]
		cmp want got
	done
	run -0 dsvc-run 'files d*/*'
	[[ $output == "$PWD/d[1]/*"$'\n'"$PWD/d[1]/a.txt" ]]
}

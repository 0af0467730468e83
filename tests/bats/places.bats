#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Jobs that choose their workers by tag (--where) and by host (--target). Another host is
# another process namespace: the id of a host is made from both.

load lib/dsvc

elsewhere() { unshare -rpf --kill-child "$@"; }
# A worker elsewhere, and what runs beside it.
far_worker() {
	start far unshare -rpf --kill-child "$B/bin/dsvc-work" --name far
	beside_far=(nsenter -U -p --preserve-credentials -t "$(pgrep -P "${pid[far]}")")
}
needs_elsewhere() { elsewhere true 2>/dev/null || skip "no new process namespaces here"; }

# Names of the workers that have streams, once there are any.
workers() {
	dsvc-status --json | jq -ce '[.jobs[].iterations[].streams[].worker | select(. != "")] | unique | select(. != [])'
}

# A pass that goes on until its test is over.
endless() { # ARG...
	mkfifo "$BATS_TEST_TMPDIR/out"
	spawn read bash -c 'out=$1; shift; exec dsvc-read "$@" -e counter >"$out"' - "$BATS_TEST_TMPDIR/out" "$@"
	exec 9<"$BATS_TEST_TMPDIR/out"
	IFS= read -r -t 10 -u 9 _
}

@test "only workers with the tags have streams" {
	service
	start gpu dsvc-work --name gpu --tag gpu --tag big
	start old dsvc-work --name old --tag gpu --tag old
	endless --where 'gpu,!old'
	run -0 workers
	[[ $output == '["gpu"]' ]]
	run -0 dsvc-status --json
	[[ $(jq -c '.workers[] | select(.name == "gpu") | .tags' <<<"$output") == '["gpu","big"]' ]]
	[[ $(jq -c '.jobs[0] | [.target, .where]' <<<"$output") == '["auto","gpu,!old"]' ]]
	run -0 dsvc-status
	[[ $output == *"tags gpu,big"* && $output == *"target auto  where gpu,!old"* ]]
	exec 9<&-
}

@test "a tag that nobody has is named" {
	service
	run -69 dsvc-read --where gpu --wait-workers 1/0.2s -e 'range 3'
	[[ $output == *"0 of 1 workers have tag gpu"*"dsvc-work --tag gpu"* ]]
	spawn read dsvc-read --where gpu --wait-workers 1/60s -e 'range 3'
	start gpu dsvc-work --tag gpu
	reap read
	((status == 0))
	[[ $(sort "$BATS_TEST_TMPDIR/read.out" | paste -sd,) == 0,1,2 ]]
}

@test "workers that do not fit are not waited for" {
	service 2
	start gpu dsvc-work --tag gpu
	run -69 dsvc-read --where gpu --wait-workers 2/0.2s -e 'range 3'
	[[ $output == *"1 of 3 workers have tag gpu; 2 are wanted"* ]]
}

@test "a list of tags is checked, and so is a tag" {
	service
	for where in '' ',' 'gpu,' '!' 'a b' '!!a' 'a,!a'; do
		run -64 dsvc-read --where "$where" -e 'range 3'
	done
	for tag in '' 'a b' 'a,b' '!a'; do
		run -64 dsvc-work --tag "$tag"
	done
	run -64 dsvc-read --target home -e 'range 3'
}

@test "readers of a job agree on target and tags" {
	service
	start gpu dsvc-work --tag gpu
	endless -J train --where gpu
	run -64 dsvc-read -J train -e counter
	[[ $output == *"where=gpu; you asked for"* ]]
	run -64 dsvc-read -J train --where gpu --target any -e counter
	[[ $output == *"target=auto where=gpu; you asked for"*"target=any where=gpu"* ]]
	exec 9<&-
}

@test "local: copies of the reader's own host, and nothing from another" {
	needs_elsewhere
	service
	far_worker
	run -0 dsvc-read --sharding off --target any --wait-workers 2 -t none --stats -e 'range 1000'
	[[ $output == *"2000 elements"* ]]
	run -0 dsvc-read --sharding off --target local -e 'range 3'
	[[ $(sort <<<"$output" | paste -sd,) == 0,1,2 ]]
	run -0 dsvc-read -e 'range 3 | distribute sharding=off target=local where=!gpu | map x + 1'
	[[ $(sort <<<"$output" | paste -sd,) == 1,2,3 ]]
	run -0 "${beside_far[@]}" dsvc-read --target local -t none --stats -e 'range 1000'
	[[ $output == *"1000 elements"* ]]
	endless --target local
	run -0 workers
	[[ $output != *far* ]]
	exec 9<&-
}

@test "local: a host without workers is told so" {
	needs_elsewhere
	service
	run -69 elsewhere dsvc-read --target local --wait-workers 1/0.2s -e 'range 3'
	[[ $output == *"0 of 1 workers are on the reader's host"* ]]
}

@test "local: when a host has no reader any more, its streams go to another" {
	needs_elsewhere
	service
	far_worker
	spec='range 12000 | sleep 1ms'
	spawn away "${beside_far[@]}" dsvc-read -J both --target local -e "$spec"
	some() { (($(wc -l <"$BATS_TEST_TMPDIR/away.out") > 20)); }
	until_true 20s some
	spawn here dsvc-read -J both --target local -e "$spec"
	both() { [[ $(workers) == '["far","'* ]]; }
	until_true 20s both
	kill -KILL "$(pgrep -P "${pid[away]}")"
	reap away
	reap here 40
	((status == 0))
	run -0 dsvc-status --audit both
	[[ $output == *balanced* && $output != *unbalanced* ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Jobs that are shared by groups of readers: --share, --group, --from, --on-missed, --group-gc.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

shared() { dsvc-read -J feats --share lossless "$@"; }
# Reads as long as somebody takes what it writes, from descriptor FD.
reader() { # FD NAME ARG...
	local fd=$1 name=$2
	shift 2
	mkfifo "pipe.$name"
	spawn "$name" bash -c 'out=$1; shift; exec "$@" >"$out"' - "pipe.$name" \
		"$B/bin/dsvc-read" -J feats --share lossless --group "$name" "$@"
	eval "exec $fd<pipe.$name"
	IFS= read -r -t "$patience" -u "$fd" _
}
group() { dsvc-status --json | jq -c --arg g "$1" '.jobs[0].iterations[0].groups[] | select(.group == $g)'; }
group_is() { [[ $(group "$1" | jq -c "$2") == "$3" ]]; }

@test "each group gets every element, and within a group each comes once" {
	service
	seq 0 19999 >want
	for name in a b c; do
		spawn "$name" dsvc-read -J feats --share lossless --group "$name" --wait-workers 2 -o "got.$name" -e 'range 20000'
	done
	spawn more dsvc-read -J feats --share lossless --group c --wait-workers 2 -o got.more -e 'range 20000'
	until_true 5s bash -c '[[ $(dsvc-status --json | jq ".readers | length") == 4 ]]'
	start second dsvc-work
	for name in a b c more; do
		reap "$name"
		((status == 0))
	done
	cmp <(sort -n got.a) want
	cmp <(sort -n got.b) want
	cmp <(sort -n got.c got.more) want
	run -0 dsvc-status --audit feats
	[[ $output == *balanced* ]]
	[[ $output == *"group a  readers 0  elements 20000  acknowledged 20000  missed 0  lost 0  repeated 0"* ]]
	[[ $output == *"group c  readers 0  elements 20000  acknowledged 20000  missed 0"* ]]
	run -0 dsvc-status --json
	(($(jq '.jobs[0].iterations[0].made' <<<"$output") <= 40000))
}

@test "what is made once is not made again for each group" {
	service
	: >made
	for name in a b c d; do
		spawn "$name" dsvc-read -J feats --share lossless --group "$name" --wait-workers 2 -o "got.$name" \
			-e "range 500 | exec -- tee -a $PWD/made"
	done
	until_true 5s bash -c '[[ $(dsvc-status --json | jq ".readers | length") == 4 ]]'
	start second dsvc-work
	for name in a b c d; do
		reap "$name"
		((status == 0))
		(($(wc -l <"got.$name") == 500))
	done
	(($(wc -l <made) == 500))
}

@test "a group that stands still holds the others, and they miss nothing" {
	start dispatch dsvc-dispatch
	start work dsvc-work --memory 1M
	reader 7 slow -e 'range 3000000'
	spawn fast dsvc-read -J feats --share lossless --group fast --from start -o got -e 'range 3000000'
	until_true 20s group_is fast '.acknowledged > 1000 and .behind == 0' true
	[[ ! -e got ]]
	cat <&7 >/dev/null
	reap slow
	((status == 0))
	reap fast
	((status == 0))
	(($(wc -l <got) == 3000000))
	[[ $(cat "$BATS_TEST_TMPDIR/fast.err") != *missed* ]]
	exec 7<&-
}

@test "with a window a group that stands still holds nobody up, and is told what it missed" {
	start dispatch dsvc-dispatch
	start work dsvc-work --memory 2M
	local all=(-J feats --share window -e 'range 1000000')
	mkfifo pipe.slow
	spawn slow bash -c 'exec "$@" >pipe.slow' - "$B/bin/dsvc-read" --group slow "${all[@]}"
	exec 7<pipe.slow
	IFS= read -r -t 10 -u 7 _
	run -0 dsvc-read --group fast --from start --wait-workers 1 -o fast "${all[@]}"
	until_true 5s group_is slow '.missed > 0' true
	cat <&7 >got.slow
	reap slow
	((status == 0))
	exec 7<&-
	missed=$(sed -n 's/.*missed \([0-9]*\) elements (stream .*/\1/p' "$BATS_TEST_TMPDIR/slow.err")
	((missed > 0))
	((1 + $(wc -l <got.slow) + missed == 1000000))
	run -0 dsvc-status --audit feats
	[[ $output == *balanced*"group slow "*"missed $missed  lost 0  repeated 0"* ]]
	sums='[.elements, .acknowledged + .missed, .lost, .repeated]'
	[[ $(dsvc-status --audit feats --json | jq -c ".jobs[0].iterations[0].groups[] | $sums" | uniq) == '[1000000,1000000,0,0]' ]]
}

@test "with a window groups that keep up miss nothing, when a worker is killed, too" {
	start dispatch dsvc-dispatch
	start first dsvc-work
	local all=(-J feats --share window --share-window 8M -e 'range 20000 | rate 20000')
	for name in a b; do
		spawn "$name" dsvc-read --group "$name" --wait-workers 2 --on-missed fail -o "got.$name" "${all[@]}"
	done
	until_true 5s bash -c '[[ $(dsvc-status --json | jq ".readers | length") == 2 ]]'
	start second dsvc-work
	until_true 10s group_is a '.acknowledged > 2000' true
	stop first KILL
	for name in a b; do
		reap "$name"
		((status == 0))
		cmp <(sort -n "got.$name") <(seq 0 19999)
	done
}

@test "a reader that may miss nothing ends as soon as something is missing" {
	start dispatch dsvc-dispatch
	start work dsvc-work --memory 1M
	local all=(-J feats --share window -e 'counter')
	mkfifo pipe.slow
	spawn slow bash -c 'exec "$@" >pipe.slow' - "$B/bin/dsvc-read" --group slow --on-missed fail "${all[@]}"
	exec 7<pipe.slow
	IFS= read -r -t 10 -u 7 _
	spawn fast dsvc-read --group fast -t none "${all[@]}"
	until_true 10s group_is slow '.missed > 0' true
	cat <&7 >/dev/null
	reap slow
	((status == 65))
	[[ $(cat "$BATS_TEST_TMPDIR/slow.err") == *"the group missed "*"--share-window"* ]]
	exec 7<&-
	stop fast
}

@test "a group that dies holds the others no longer than --group-gc" {
	start dispatch dsvc-dispatch --group-gc 0.3s
	start work dsvc-work --memory 1M
	reader 7 dies -e 'range 3000000'
	spawn lives dsvc-read -J feats --share lossless --group lives --from start -o got -e 'range 3000000'
	until_true 10s group_is lives '.acknowledged > 1000' true
	stop dies KILL
	exec 7<&-
	reap lives
	((status == 0))
	(($(wc -l <got) == 3000000))
	run -0 dsvc-status --audit feats
	[[ $output == *"group dies "*" ended"*balanced* || $output == *balanced*"group dies "*" ended"* ]]
}

@test "a group that comes late begins with what is still there, and is told what it missed" {
	service
	local all=(-J feats --share lossless --order stable --shards 1 -e 'range 60000 | rate 20000')
	spawn early dsvc-read --group early -o early "${all[@]}"
	until_true 20s bash -c 'dsvc-status --json | jq -e ".jobs[0].iterations[0].streams[0].restart_point > 0"'
	spawn late dsvc-read --group late -o late "${all[@]}"
	# one reader at a time in each group
	run -75 dsvc-read --group early "${all[@]}"
	[[ $output == *'group `early` of job `feats`, which keeps an order, has a reader already'*'name another group'* ]]
	spawn strict dsvc-read --group strict --on-missed fail -o strict "${all[@]}"
	run -0 dsvc-read --group brief -n 1 "${all[@]}"
	[[ $output == *"missed "*" elements so far"* ]]
	reap early
	((status == 0))
	cmp early <(seq 0 59999)
	reap late
	((status == 0))
	first=$(head -n 1 late)
	((first > 0))
	cmp late <(seq "$first" 59999)
	[[ $(cat "$BATS_TEST_TMPDIR/late.err") == *"missed $first elements (stream 0: 0-$((first - 1)))"* ]]
	reap strict
	((status == 65))
	[[ $(cat "$BATS_TEST_TMPDIR/strict.err") == *"the group missed "*"--from start"* ]]
}

@test "a group that comes late gets what the workers still have, and nothing is made again for it" {
	service
	: >made
	local pipeline="range 300000 | exec -- tee -a $PWD/made"
	reader 7 early --sharding off -e "$pipeline"
	[[ $(dsvc-status --json | jq -r '.readers[0].group') == early && $(dsvc-status) == *'    group early'* ]]
	run -0 shared --group late --sharding off --on-missed fail -o late -e "$pipeline" # the other one has not
	cmp <(sort -n late) <(seq 0 299999)
	cat <&7 >/dev/null
	reap early
	((status == 0))
	exec 7<&-
	(($(wc -l <made) == 300000))
	run -0 dsvc-status --audit feats
	[[ $output == *"group late  readers 0  elements 300000  acknowledged 300000  missed 0"* ]]
}

@test "a late group can begin at the start as long as nothing is forgotten" {
	service
	reader 7 early -e 'range 300000'
	spawn late dsvc-read -J feats --share lossless --group late --from start -o late -e 'range 300000'
	reap late # the other one has not
	((status == 0))
	cat <&7 >/dev/null
	reap early
	((status == 0))
	cmp <(sort -n late) <(seq 0 299999)
	exec 7<&-
	run -0 shared --group last -e 'range 300000'
	[[ $output == *"missed 300000 elements"* ]]
}

@test "groups of an ordered job have one sequence, of several streams, and do not wait for each other's memory" {
	start dispatch dsvc-dispatch
	start one dsvc-work --memory 1M
	start two dsvc-work --memory 1M
	local all=(--order stable --shards 5 --wait-workers 2 -e 'range 1500000')
	mkfifo pipe.slow
	spawn slow bash -c 'exec "$@" >pipe.slow' - "$B/bin/dsvc-read" -J feats --share lossless --group slow "${all[@]}"
	exec 7<pipe.slow
	IFS= read -r -t 10 -u 7 first
	spawn fast dsvc-read -J feats --share lossless --group fast --from start -o fast "${all[@]}"
	until_true 10s group_is fast '.acknowledged > 100' true
	spawn late dsvc-read -J feats --share lossless --group late -o late "${all[@]}"
	until_true 10s group_is late .readers 1
	stop one KILL
	{ echo "$first" && cat <&7; } >got.slow
	exec 7<&-
	for name in slow fast late; do
		reap "$name"
		((status == 0))
	done
	cmp <(sort -n fast) <(seq 0 1499999)
	cmp got.slow fast
	cmp late <(tail -n "$(wc -l <late)" fast)
	missed=$(group late | jq .missed)
	((missed == 1500000 - $(wc -l <late)))
}

@test "what does not go together is refused" {
	service
	run -64 dsvc-read --share lossless --group a -e 'range 3'
	[[ $output == *"--job NAME"* ]]
	run -64 shared -e 'range 3'
	[[ $output == *"--group NAME"* ]]
	run -64 shared --group '' -e 'range 3'
	run -64 dsvc-read -J feats --group a -e 'range 3'
	[[ $output == *"--share lossless"* ]]
	run -64 shared --group a --order source -e 'range 3'
	run -64 dsvc-read -J feats --share window --group a --order stable --shards 1 -e 'range 3'
	[[ $output == *'--share lossless'* ]]
	run -64 shared --group a --share-window 1M -e 'range 3'
	[[ $output == *'--share window'* ]]
	run -64 shared --group a --shard 0 --sharding data --shards 2 -e 'range 3'
	run -64 shared --group a --target local -e 'range 3'
	run -64 dsvc-read --on-missed fail -e 'range 3'
	[[ $output == *"--share lossless"* ]]
	run -0 shared --group a -e 'range 3'
	run -64 dsvc-read -J feats -e 'range 3'
	[[ $output == *"it has "*share=lossless*"you asked for"* ]]
	run -64 dsvc-read -J feats --share window --group a -e 'range 3'
	[[ $output == *"it has "*share=lossless*"you asked for"*share=window* ]]
	run -0 dsvc-run "range 3 | distribute job=other share=window share_window=1M group=x | count"
	[[ $output == 3 ]]
	run -0 dsvc-run "range 3 | distribute job=third share=lossless group=x | count"
	[[ $output == 3 ]]
	run -0 dsvc-run "range 3 | distribute job=third share=lossless group=late | count"
	[[ $output == *"missed 3 elements"* ]]
}

@test "the next pass waits for all groups" {
	service
	seq 0 999 | sed p | sort -n >want
	for name in a b; do
		spawn "$name" dsvc-read -J feats --share lossless --group "$name" --wait-workers 2 --epochs 2 -o "got.$name" \
			-e 'range 1000'
	done
	until_true 5s bash -c '[[ $(dsvc-status --json | jq ".readers | length") == 2 ]]'
	start second dsvc-work
	for name in a b; do
		reap "$name"
		((status == 0))
		cmp <(sort -n "got.$name") want
	done
}

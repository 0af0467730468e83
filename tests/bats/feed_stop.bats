#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dsvc-feed: an end that a core or a signal asks for, on several hosts: all of them have the same steps.
# shellcheck disable=SC2016

load lib/dsvc

# Hosts 0 and 1 in the background, as h0 and h1, with two cores each, which write their parts of steps of 8 rows
# into out.RANK, a line each.
hosts() { # ARG...
	local h batch=(--batch 8)
	cd "$BATS_TEST_TMPDIR" || return
	rm -f out.?
	[[ $* != *--element* ]] || batch=()
	for h in 0 1; do
		spawn "h$h" dsvc-feed --as ndjson --host $h/2 -n 2 "${batch[@]}" --shards 1 "$@" -- sh -c 'exec cat >out.$DSVC_RANK'
	done
}
# All of them are at work.
begun() { [[ -s out.0 && -s out.1 && -s out.2 && -s out.3 ]]; }
# The number of steps, which all have; they are the first ones of the data.
steps() {
	local n
	n=$(wc -l <out.0)
	cmp <(cat out.? | jq -s 'flatten | sort | .[]') <(seq 0 $((8 * n - 1))) && echo "$n"
}

@test "with nothing to do no command is started" {
	for options in '--until 0' '--until 1 --from 3'; do
		# shellcheck disable=SC2086 # words
		run -0 dsvc-feed --local $options -v --batch 2 --as ndjson -e 'range 6' -- sh -c 'echo started'
		[[ $output == *'nothing to do: '*' steps are done'* && $output != *started* ]]
	done
}

@test "a signal to one host ends all of them at the same step" {
	service
	hosts -J a -e 'range 400000 | rate 20000'
	until_true 10s begun
	kill -TERM "${pid[h0]}"
	reap h0 60
	((status == 143))
	reap h1 60
	((status == 0))
	(($(steps) < 50000))
}

@test "with loops they end at the end of a loop" {
	service
	hosts -J a --loop 7 -e 'range 400000 | rate 20000'
	until_true 10s begun
	kill -TERM "${pid[h1]}"
	reap h1 60
	((status == 143))
	reap h0 60
	((status == 0))
	(($(steps) % 7 == 0))
}

@test "a core's wish ends the cores of all hosts, in the second pass too, and their positions are equal" {
	service
	cd "$BATS_TEST_TMPDIR"
	cat >core.py <<-'END'
		import sys, dsvc
		feed = dsvc.feed()
		for epoch in feed.epochs():
		    for batch in epoch:
		        if feed.rank == 3 and feed.step == int(sys.argv[1]):
		            feed.stop("enough")
		with open(f"rank{feed.rank}", "w") as f:
		    print(feed.step, file=f)
	END
	export PYTHONPATH=$BATS_TEST_DIRNAME/../../python PYTHONDONTWRITEBYTECODE=1
	run_from() { timeout 30 dsvc-feed --as ndjson --host 0/1 -J "$1" --batch 8 --shards 2 --seed 1 --epochs 3 --checkpoint "$1" --steps 2 -e "$spec" -- cat; }
	local spec='range 4000 | shuffle 20' at h
	for at in 5 520; do
		for h in 0 1; do
			spawn "h$h" dsvc-feed --host $h/2 -n 2 -J "a$at" --batch 8 --shards 2 --seed 1 --epochs 3 --checkpoint "pos$at.$h" -v -e "$spec" -- python3 core.py $at
		done
		for h in 0 1; do
			reap "h$h" 60
			((status == 0))
		done
		[[ $(cat rank? | sort -u | wc -l) == 1 ]]
		(($(cat rank0) >= at && $(cat rank0) <= at + 995))
		rm rank?
	done
	[[ $(cat h1.err) == *': enough'* && $(cat h0.err) == *'another host ends'* ]]
	run_from pos520.0 >next.0
	run_from pos520.1 >next.1
	[[ $(wc -l <next.0) == 2 ]]
	cmp next.0 next.1
}

@test "batches that all hosts cut, or get whole, end at the same step too" {
	service
	local batches='range 400000 | rate 20000 | batch 8' n
	# a quarter of each batch for each core; and with copy all of it
	hosts -J cut --element step -e "$batches"
	until_true 10s begun
	kill -TERM "${pid[h0]}"
	reap h0 60
	((status == 143))
	reap h1 60
	((status == 0))
	steps
	hosts -J whole --element copy --loop 5 -e "$batches"
	until_true 10s begun
	kill -TERM "${pid[h1]}"
	reap h1 60
	((status == 143))
	reap h0 60
	((status == 0))
	for n in 1 2 3; do
		cmp out.0 out.$n
	done
	(($(wc -l <out.0) % 5 == 0))
	cmp <(jq '.[]' out.0) <(seq 0 $(($(wc -l <out.0) * 8 - 1)))
}

@test "the end may be asked for when the data is at its own" {
	service
	hosts -J a --epochs 2 -e 'range 80'
	until_true 10s begun
	kill -TERM "${pid[h0]}" 2>/dev/null || :
	reap h0 60
	reap h1 60
	((status == 0))
	[[ $(wc -l <out.0) == "$(wc -l <out.3)" ]]
}

@test "the traceback of a core that is not ours is shown" {
	cd "$BATS_TEST_TMPDIR"
	start feed dsvc-feed --local --batch 2 --listen "$BATS_TEST_TMPDIR/sock" -e 'range 6'
	cat >core.py <<-'END'
		import dsvc
		with dsvc.feed() as feed:
		    for batch in feed:
		        raise ValueError("a bad \x1b row")
	END
	PYTHONPATH=$BATS_TEST_DIRNAME/../../python PYTHONDONTWRITEBYTECODE=1 DSVC_FEED=$BATS_TEST_TMPDIR/sock run -1 python3 core.py
	reap feed
	((status == 1))
	[[ $(cat feed.err) == *$'core 0: Traceback'*$'core 0:   File '*'core 0: ValueError: a bad ? row'* ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Coordinated reads: consumers of a job of rounds (--consumer) get element K from round K.

load lib/dsvc

# Consumer I of N in the background: spawned as `cI`.
consumer() { # I/N ARG...
	spawn "c${1%/*}" dsvc-read -J train --consumer "$@"
}
out() { cat "$BATS_TEST_TMPDIR/c$1.out"; }
ends_well() { # I...
	local i
	for i; do
		reap "c$i" 60
		((status == 0))
	done
}
# Each element with its offset in its stream: those of a round follow each other, but in the
# last rounds, which are made of what streams had left.
numbered='enumerate per_stream=true | map str(x[0]) ++ "," ++ str(x[1])'
in_step() { # FILE FILE
	run -0 awk -F'[, ]' '$3 != $1 + 1 || $1 % 2 { print NR ": " $0; exit 1 }' <(paste -d' ' "$1" "$2" | head -n -8)
}
values() { sort -n <(cut -d, -f2- "$@"); }
waits_for() { dsvc-status | grep -q "waits for consumer $1"; }
# Round by round: a line each, one column for each consumer.
rounds() { paste -d' ' "$BATS_TEST_TMPDIR"/c[0-9].out; }

@test "consumers of a job get element K from round K, and each element goes to one" {
	service 2
	for i in 0 1; do consumer $i/2 -e "range 3000 | $numbered"; done
	ends_well 0 1
	[[ $(rounds | wc -l) == 1500 ]]
	in_step "$BATS_TEST_TMPDIR"/c[01].out
	cmp <(values "$BATS_TEST_TMPDIR"/c[01].out) <(seq 0 2999)
	run -0 dsvc-status --audit train
	[[ $output == *balanced* ]]
}

@test "consumers that share a job get all of it, in step, and it is made once" {
	service 2
	for i in 0 1; do consumer $i/2 --share lossless --seed 1 --shards 3 -e 'range 1001 | shuffle 100'; done
	ends_well 0 1
	cmp "$BATS_TEST_TMPDIR"/c[01].out
	cmp <(sort -n "$BATS_TEST_TMPDIR/c0.out") <(seq 0 1000)
	run -0 dsvc-status --json --audit train
	[[ $(jq -c '.jobs[0] | [.consumers, (.iterations[0] | .rounds, .made, .elements, .acknowledged, .balanced)]' <<<"$output") == \
		'[2,1001,1001,1001,1001,true]' ]]
	run -64 dsvc-read -J b --consumer 0/1 --share lossless -e 'range 3'
	[[ $output == *'--consumer I/N'* ]]
	run -64 dsvc-read -J b --consumer 0/2 --share lossless --tail pad -e 'range 3'
	[[ $output == *'each element is a round of its own'* ]]
}

@test "elements that do not fill a round are dropped and told, filled up with null, or an error" {
	service
	for i in 0 1 2; do consumer $i/3 --seed 1 -e 'range 20'; done
	ends_well 0 1 2
	[[ $(rounds | wc -l) == 6 ]]
	[[ $(cat "$BATS_TEST_TMPDIR/c0.err") == *"2 elements did not fill a round and went to nobody"* ]]
	run -0 dsvc-status --json --audit train
	[[ $(jq -c '.jobs[0] | [.consumers, (.iterations[0] | .rounds, .dropped, .elements, .acknowledged, .balanced)]' <<<"$output") == \
		'[3,6,2,20,18,true]' ]]
	for i in 0 1 2; do consumer $i/3 --epoch 2 --tail drop -e 'range 20'; done
	for i in 0 1 2; do reap c$i; ((status == 64)); done # seeds differ
	for i in 0 1 2; do spawn c$i dsvc-read -J pad --consumer $i/3 --tail pad -t ndjson -e 'range 20'; done
	ends_well 0 1 2
	[[ $(rounds | grep -c null) == 1 && $(rounds | tr ' ' '\n' | grep -c null) == 1 ]]
	cmp <(rounds | tr ' ' '\n' | grep -v null | sort -n) <(seq 0 19)
	for i in 0 1; do spawn c$i dsvc-read -J spread --consumer $((2 * i))-$((2 * i + 1))/4 --tail spread -t ndjson --shards 1 -e 'range 6'; done
	ends_well 0 1
	[[ $(paste -sd' ' "$BATS_TEST_TMPDIR/c0.out") == '0 1 4 null' && $(paste -sd' ' "$BATS_TEST_TMPDIR/c1.out") == '2 3 5 null' ]]
	for i in 0 1 2; do spawn c$i dsvc-read -J fail --consumer $i/3 --tail fail -e 'range 20'; done
	for i in 0 1 2; do
		reap c$i
		((status == 65))
		[[ $(cat "$BATS_TEST_TMPDIR/c$i.err") == *"the last round has 2 of 3 elements"*"--tail drop"* ]]
	done
}

@test "the end of each stream can be a round of its own" {
	service
	for i in 0 1; do consumer $i/2 --shards 3 --tail-of stream --tail pad -t ndjson -e 'range 9'; done
	ends_well 0 1
	cmp <(rounds | tr ' ' '\n' | grep -v null | sort -n) <(seq 0 8)
	[[ $(out 0 | wc -l) == $(out 1 | wc -l) ]]
}

@test "consumers with several places get so many elements of each round" {
	service
	spawn c0 dsvc-read -J train --consumer 0-2/4 --shards 1 -e 'range 400'
	spawn c1 dsvc-read -J train --consumer 3/4 --shards 1 -e 'range 400'
	ends_well 0 1
	cmp <(out 1) <(seq 3 4 399)
	cmp <(out 0) <(seq 0 399 | awk 'NR % 4')
}

@test "a consumer that is killed is replaced, and the others go on in step" {
	service 2
	local spec="range 400000 | $numbered"
	mkfifo "$BATS_TEST_TMPDIR/slow"
	consumer 0/2 -e "$spec"
	spawn c1 bash -c 'exec dsvc-read -J train --consumer 1/2 -e "$1" >"$2"' - "$spec" "$BATS_TEST_TMPDIR/slow"
	exec 9<"$BATS_TEST_TMPDIR/slow"
	IFS= read -r -t "$patience" -u 9 _
	run -75 dsvc-read -J train --consumer 1/2 -e "$spec"
	[[ $output == *"consumer 1/2 of job \`train\` is there already: process "* ]]
	kill -9 "${pid[c1]}"
	exec 9<&-
	reap c1
	until_true 10s waits_for 1/2
	consumer 1/2 -e "$spec"
	ends_well 0 1
	[[ $(out 0 | wc -l) == 200000 ]]
	# it has the last rounds, each beside that of the other
	n=$(out 1 | wc -l)
	((n > 0))
	in_step <(out 0 | tail -n "$n") "$BATS_TEST_TMPDIR/c1.out"
}

@test "a consumer with a position goes on from its own round" {
	service 2
	cd "$BATS_TEST_TMPDIR"
	for i in 0 1; do consumer $i/2 --checkpoint pos$i -o out$i -n 300 -e "range 2000 | $numbered"; done
	ends_well 0 1
	for i in 0 1; do consumer $i/2 --checkpoint pos$i -o out$i -e "range 2000 | $numbered"; done
	ends_well 0 1
	in_step out0 out1
	cmp <(values out0 out1) <(seq 0 1999)
	run -65 dsvc-read -J train --consumer 0/4 --checkpoint pos0 -o out0 -e "range 2000 | $numbered"
	[[ $output == *"the position belongs to consumer 0/2, not to consumer 0/4"* ]]
}

@test "a worker that is killed does not bring consumers out of step" {
	service 2
	for i in 0 1; do consumer $i/2 -e "range 3000 | sleep 200us | $numbered"; done
	until_true 10s test -s "$BATS_TEST_TMPDIR/c0.out"
	kill -9 "${pid[work1]}"
	ends_well 0 1
	in_step "$BATS_TEST_TMPDIR"/c[01].out
	cmp <(values "$BATS_TEST_TMPDIR"/c[01].out) <(seq 0 2999)
}

@test "a pass begins when all consumers are there, and waits no longer than it is told to" {
	service
	run -75 dsvc-read -J train --consumer 0/3 --seat-wait 100ms -e 'range 30'
	[[ $output == *"no consumer came for place 1, 2 of the 3 of job \`train\`"*--seat-wait* ]]
	spawn c0 dsvc-read -J late --consumer 0/2 --seat-wait 2s -e counter
	spawn c1 dsvc-read -J late --consumer 1/2 --seat-wait 2s -n 5 -e counter
	reap c1
	((status == 0))
	reap c0
	((status == 75))
	[[ $(cat "$BATS_TEST_TMPDIR/c0.err") == *"consumer 1/2 is away, and the others wait for it"* ]]
}

@test "after a pass that waited for a consumer in vain, the same commands begin it again" {
	service
	cd "$BATS_TEST_TMPDIR"
	run -75 dsvc-read -J train --consumer 0/3 --seat-wait 50ms -e 'range 30'
	# also with another number of consumers, since nothing was begun
	local spec='range 200000'
	consumer 0/2 --seat-wait 2s --checkpoint pos0 -o out0 --shards 1 -e "$spec"
	consumer 1/2 --seat-wait 2s --checkpoint pos1 -o out1 --shards 1 -n 5 -e "$spec"
	reap c1
	((status == 0))
	reap c0
	((status == 75))
	# they go on, each from its own round
	for i in 0 1; do consumer $i/2 --checkpoint pos$i -o out$i --shards 1 -e "$spec"; done
	ends_well 0 1
	cmp out0 <(seq 0 2 199998)
	cmp out1 <(seq 1 2 199999)
	# the attempt that failed is in the books, without a name
	run -0 dsvc-status --json --audit all
	[[ $(jq -c '[.jobs[].name]' <<<"$output") == '["","train"]' ]]
}

@test "where elements of a kind are put together, each stream gives one round at a time" {
	service
	local spec="range 8000 | bucket x%2 bounds=[1] sizes=[10,10] | enumerate per_stream=true | map x[0]"
	for i in 0 1; do consumer $i/2 --shards 2 -e "$spec"; done
	ends_well 0 1
	[[ $(out 0 | head -n 4 | xargs) == "0 0 2 2" ]]
}

@test "what does not go with rounds is refused" {
	service
	run -64 dsvc-read --consumer 0/2 -e 'range 3'
	[[ $output == *"--job NAME"* ]]
	for consumer in 2/2 x 1 0/0 0/10001 2-1/4 0-4/4 /; do
		run -64 dsvc-read -J a --consumer $consumer -e 'range 3'
		[[ $output == *"$consumer"* ]]
	done
	for order in any source; do
		run -64 dsvc-read -J b --consumer 0/2 --order $order -e 'range 3'
		[[ $output == *"order \`$order\` does not go with rounds"* ]]
		run -64 dsvc-run "range 3 | distribute job=b consumer=0/2 order=$order"
	done
	for option in --tail=drop --tail-of=pass --seat-wait=5m; do
		run -64 dsvc-read -J b $option -e 'range 3'
		[[ $output == *"are for jobs of rounds"*"--consumer I/N"* ]]
		option=${option#--}
		run -64 dsvc-run "range 3 | distribute job=b ${option//-/_}"
	done
	run -64 dsvc-read -J b --consumer 0/2 --share lossless --group g -e 'range 3'
	[[ $output == *"a consumer of a job that is shared gets all of it, and is in no group"* ]]
	run -64 dsvc-read -J c --consumer 0/2 --target local -e 'range 3'
	run -64 dsvc-read -J d --consumer 0/2 --sharding data --shard 0 -e 'range 3'
	consumer 0/2 -e 'range 30'
	until_true 10s waits_for 1
	run -64 dsvc-read -J train --consumer 1/3 -e 'range 30'
	[[ $output == *"consumers=2"*"consumers=3"* ]]
	run -64 dsvc-read -J train --consumer 0-1/2 -e 'range 30'
	[[ $output == *"consumer 0-1/2 wants places that consumer 0/2"* ]]
	for option in --tail=pad --tail-of=stream --shards=3; do
		run -64 dsvc-read -J train --consumer 1/2 $option -e 'range 30'
		[[ $output == *"it has "*"; you asked for "*"${option#--}"* ]]
	done
	run -64 dsvc-read -J train -e 'range 30'
	consumer 1/2 -e 'range 30'
	ends_well 0 1
}

@test "distribute takes the place of a consumer, and so does the reader's option" {
	service
	spawn c0 dsvc-run 'range 40 | distribute job=train consumer=0/2 shards=1 tail_of=stream | map x'
	spawn c1 dsvc-read -J train --consumer 1/2 --shards 1 --tail-of stream -e 'range 40 | distribute | map x'
	ends_well 0 1
	cmp <(out 0) <(seq 0 2 39)
	cmp <(out 1) <(seq 1 2 39)
	run -0 dsvc-run 'range 5 | distribute job=odd consumer=0-1/2 shards=1 | count'
	[[ $output == *"1 element did not fill a round and went to nobody"* ]]
}

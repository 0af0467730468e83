#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# One random order of all elements, whoever reads which part of it.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

here() { cd "$BATS_TEST_TMPDIR" || return; }

# What dsvc-run gives, and what two workers give in the same order and in any.
same_through_workers() { # SPEC
	dsvc-run --seed 5 "$1" >want
	dsvc-read --seed 5 --order source -e "$1" >same
	cmp want same
	dsvc-read --seed 5 -e "$1" >any
	sort want | cmp - <(sort any)
}

@test "two workers give the order of dsvc-run, or the same elements in another" {
	here
	service 2
	same_through_workers 'range 200000 | map x - 1 | filter x % 2 == 0 | shuffle all | map x + 1'
	sort -n want | cmp - <(seq 1 2 199999)
	same_through_workers 'range 9 | shuffle all'
	same_through_workers 'range 0 | shuffle all'
}

@test "what counts elements may stand before it" {
	here
	service 2
	same_through_workers 'zip (range 900000 | skip 5 | take 50000 | repeat 3 | enumerate) (counter 7) | shuffle all'
	same_through_workers 'range 300000 | batch 2 | enumerate | shuffle all | map x[0] * 2 - x[1][0] + x[1][1]'
	cmp <(sort -n want) <(seq 1 2 299999)
	same_through_workers 'concat (range 80000) (range 7) (range 100000 | shard 2 1) | shuffle all | map x'
}

@test "each pass is in an order of its own, and whole" {
	here
	service 2
	same_through_workers 'range 50000 | shuffle all | map x | repeat 3'
	for i in 1 2 3; do
		sed -n "$((i * 50000 - 49999)),$((i * 50000))p" want >"pass$i"
		sort -n "pass$i" | cmp - <(seq 0 49999)
	done
	run -1 cmp -s pass1 pass2
	run -1 cmp -s pass2 pass3
	same_through_workers 'range 50000 | shuffle all reshuffle=false | repeat 2'
	cmp <(head -n 50000 want) <(tail -n 50000 want)
	# Short passes, many in one split.
	same_through_workers 'range 10 | shuffle all | repeat 9000'
	((5 < $(xargs -n 10 <want | sort -u | wc -l)))
	# Without end: what comes first is the first passes.
	dsvc-read --seed 5 --order source -n 25 -e 'range 10 | shuffle all | repeat' >endless
	cmp endless <(head -n 25 want)
}

@test "threads of dsvc-run give the same order" {
	here
	for spec in 'range 300000 | map x | shuffle all' 'range 600000 | shuffle all | repeat 2 | map x'; do
		[[ $(dsvc-run -j 3 --seed 2 "$spec" | cksum) == "$(dsvc-run --seed 2 "$spec" | cksum)" ]]
	done
}

@test "with sharding off each worker gives the whole" {
	here
	service 2
	dsvc-read --wait-workers 2 --sharding off -e 'range 1000 | shuffle all' >both
	sort -n both | cmp - <(seq 0 999 | sed p)
}

@test "records of files" {
	here
	service 2
	head -c 240000 <(seq -w 0 79999) >a.bin
	seq -w 0 79999 | tail -c 240000 >b.bin
	: >c.bin
	same_through_workers "bytes 6 $PWD/a.bin $PWD/c.bin $PWD/b.bin | map str(x) | shuffle all"
	((80000 == $(grep . want | sort -u | grep -c .)))
	dsvc-run -t npy 'range 10000 | batch 2 as=tensor' >a.npy
	dsvc-run -t npy 'range 20000 20100 | batch 2 as=tensor' >b.npy
	same_through_workers "npy $PWD/a.npy $PWD/b.npy | shuffle all"
	((5050 == $(sort -u want | grep -c .)))
	dsvc-run -t npy 'range 1000' >n.npy
	dsvc-run "npy $PWD/n.npy | shuffle all" | sort -n | cmp - <(seq 0 999)
	mkdir many
	# More files than are kept open.
	for i in {100..399}; do printf '%s' "$i" >"many/$i"; done
	dsvc-run "bytes 3 many/* | shuffle all" | grep . | sort | cmp - <(seq 100 399)
	same_through_workers "files $PWD/many/* shuffle=true | shuffle all"
	((300 == $(sort -u want | grep -c .)))
}

@test "files that changed in between are told, and not mixed up" {
	here
	service 2
	head -c 400000 /dev/zero >a.bin
	id=$(dsvc-register "bytes 4 $PWD/a.bin | shuffle all | map len(x)")
	mkfifo pipe
	spawn reader bash -c 'exec dsvc-read --window 1 "$1" >pipe' - "$id"
	exec {pipe}<pipe
	read -r -t 10 -u "$pipe" _
	exec {pipe}<&-
	printf xyz >>a.bin
	run -65 --separate-stderr dsvc-run "bytes 4 a.bin | shuffle all"
	[[ $stderr == *"a.bin:100001: "*"the last 3 bytes are not a whole record of 4"* ]]
	run -0 --separate-stderr dsvc-run -t count "bytes 4 a.bin on_error=skip | shuffle all"
	[[ $output == 100000 && $stderr == *"1 element failed"* ]]
}

@test "a worker killed in mid-pass loses and repeats nothing, and keeps the order" {
	here
	local spec='range 150000 | shuffle all | map {i: x, pad: "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"}'
	start dispatch dsvc-dispatch
	start one dsvc-work --memory 1M -j 1
	start two dsvc-work --memory 1M -j 1
	mkfifo pipe
	spawn reader bash -c 'exec dsvc-read --window 2 --wait-workers 2 --order source --seed 4 -e "$1" >pipe' - "$spec"
	exec {pipe}<pipe
	IFS= read -r -t 10 -u "$pipe" first
	kill -KILL "${pid[one]}"
	{ echo "$first"; cat <&"$pipe"; } >all
	exec {pipe}<&-
	reap reader
	((status == 0))
	dsvc-run --seed 4 "$spec" | cmp - all
}

@test "--explain says what it means for workers" {
	run -0 dsvc-run --explain 'range 50 | take 10 | shuffle all | map x'
	[[ ${lines[2]} == " 3 shuffle all "*" source  int  10 elements  splits" ]]
	[[ $output == *"splits: 1 unit"$'\n'"  one random order of 10 elements, cut into ranges"$'\n'* ]]
	[[ $output == *"  off      "*"each with random numbers of its own in \`shuffle\`"* ]]
	[[ $output == *"  dynamic  exactly once"*'`shuffle all` puts the whole into one random order, of which each worker reads parts'* ]]
	run -0 dsvc-run --explain 'range 50 | shuffle all | repeat'
	[[ $output == *"one random order of 50 elements, another in each pass, cut into ranges"* ]]
	[[ $output == *" in each pass"* ]]
	run -65 dsvc-register --check -e 'range 50 | shuffle 3 | shuffle all'
}

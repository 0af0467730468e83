#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Rounds: another number of consumers goes on (--checkpoint-rounds).

load lib/dsvc

spec='range 3000 | enumerate per_stream=true | map str(x[0]) ++ "," ++ str(x[1])'
# Consumer I of N with its position and output in this folder; spawned as `cI`.
consumer() { # I/N ARG...
	local i=${1%/*}
	spawn "c$i" dsvc-read -J train --consumer "$1" --checkpoint "pos$i" -o "out$i" "${@:2}"
}
ends_well() { # I...
	local i
	for i; do
		reap "c$i" 60
		((status == 0))
	done
}
# Consumer I of N runs until it has N elements, and all at least so many.
begin() { # N ELEMENTS...
	local i=0 n=$1
	for i in "${!elements[@]}"; do consumer "$i/$n" --checkpoint-rounds 10 -n "${elements[i]}" -e "$spec"; done
	ends_well "${!elements[@]}"
}
warned() { cat "$BATS_TEST_TMPDIR/c$1.err"; }
values() { sort -n <(cut -d, -f2- "$@"); }
waits_for() { dsvc-status | grep -q "waits for consumer $1"; }
in_step() { # FILE FILE: each element with its offset in its stream, which follow each other in a round
	run -0 awk -F'[, ]' '$3 != $1 + 1 { print NR ": " $0; exit 1 }' <(paste -d' ' "$1" "$2")
}

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || exit
}

@test "more consumers go on from a round that all of the earlier ones had" {
	service 2
	elements=(105 112)
	begin 2
	# one comes without a position
	for i in 0 1 2; do consumer $i/3 --checkpoint-rounds 10 -e "$spec"; done
	ends_well 0 1 2
	for i in 0 1 2; do [[ $(warned $i) == *"begins at round 100"* ]]; done
	[[ $(wc -l <out0) == $((100 + (3000 - 200) / 3)) ]]
	[[ $(wc -l <out2) == $(((3000 - 200) / 3)) ]]
	in_step <(head -n 100 out0) <(head -n 100 out1)
	in_step <(sed -n '101,800p' out0) <(sed -n '101,800p' out1)
	in_step <(sed -n '101,800p' out1) <(head -n 700 out2)
	# one element did not fill a round
	[[ $(cat out0 out1 out2 | wc -l) == 2999 ]]
	[[ -z $(values out0 out1 out2 | uniq -d) ]]
}

@test "fewer consumers go on, with the positions of all, in a pass that can be killed again" {
	service 2
	elements=(60 75 90)
	begin 3
	# what consumer 2 had would be lost
	for i in 0 1; do consumer $i/2 --checkpoint-rounds 10 -e "$spec"; done
	for i in 0 1; do
		reap c$i
		((status == 65))
		[[ $(warned $i) == *"nobody has the position of consumer 2/3"*--checkpoint* ]]
	done
	consumer 0/2 --checkpoint-rounds 10 --checkpoint pos2 -n 100 -e "$spec"
	consumer 1/2 --checkpoint-rounds 10 -n 120 -e "$spec"
	ends_well 0 1
	[[ $(warned 1) == *"begins at round 60"* ]]
	# the same number: each from its own round; the service has forgotten all
	for name in dispatch work1 work2; do kill -9 "${pid[$name]}"; reap $name; done
	service 2
	for i in 0 1; do consumer $i/2 --checkpoint-rounds 10 -e "$spec"; done
	ends_well 0 1
	in_step <(sed -n '61,1400p' out0) <(sed -n '61,1400p' out1)
	head -n 60 out2 >cut2
	cmp <(values out0 out1 cut2) <(seq 0 2999)
	[[ $(wc -l <out0) == $(wc -l <out1) ]]
	# and once more another one: it goes on behind their last common round
	run -64 dsvc-read -J train --consumer 0/2 --checkpoint pos0 --checkpoint pos1 --checkpoint-rounds 10 -o out0 -e "$spec"
	[[ $output == *"goes on from a position of its own"* ]]
}

@test "positions without a common round are refused, with the rounds of each" {
	service 2
	elements=(25 25)
	begin 2
	cp pos0 old0
	elements=(30 30)
	begin 2
	for i in 0 1 2; do consumer $i/3 --checkpoint-rounds 10 -n 5 -e "$spec"; done
	ends_well 0 1 2
	[[ $(warned 2) == *"begins at round 50"* ]]
	run -65 dsvc-read -J train --consumer 0/4 --checkpoint new --checkpoint pos2 --checkpoint old0 --checkpoint-rounds 10 \
		-e "$spec"
	[[ $output == *"no round in common: one has rounds 50, another one 0, 10, 20"* ]]
	cp old0 pos0
	rm out3 pos3 2>/dev/null || :
	for i in 0 1 2 3; do consumer $i/4 --checkpoint-rounds 10 -e "$spec"; done
	for i in 0 1 2 3; do
		reap c$i
		((status == 65))
		[[ $(warned $i) == *"of job \`train\` have no round in common: "*"consumer 0/4 has 0, 10, 20"* ]]
		[[ $(warned $i) == *"consumer 1/4 has 50"* ]]
	done
}

@test "what does not go with --checkpoint-rounds is refused" {
	service
	run -64 dsvc-read -J a --checkpoint pos --checkpoint-rounds 10 -e 'range 3'
	[[ $output == *"checkpoint-rounds is for jobs of rounds"*--consumer* ]]
	run -64 dsvc-read -J a --consumer 0/1 --checkpoint pos --checkpoint-rounds 10 -e 'range 3'
	run -64 dsvc-read -J a --consumer 0/2 --checkpoint-rounds 10 -e 'range 3'
	[[ $output == *"--checkpoint FILE"* ]]
	run -66 dsvc-read -J a --consumer 0/2 --checkpoint pos --checkpoint none --checkpoint-rounds 10 -e 'range 3'
	[[ $output == *"no position in none"* ]]
	# without it, a position is for its own place alone
	for i in 0 1; do consumer $i/2 -n 10 -e "$spec"; done
	ends_well 0 1
	run -65 dsvc-read -J train --consumer 0/3 --checkpoint pos0 --checkpoint-rounds 10 -e "$spec"
	[[ $output == *"the position belongs to consumer 0/2, not to consumer 0/3"*"--checkpoint-rounds"* ]]
	# the number must be the same for all
	spawn c0 dsvc-read -J b --consumer 0/2 --checkpoint new0 --checkpoint-rounds 10 -e 'range 30'
	until_true 10s waits_for 1
	run -64 dsvc-read -J b --consumer 1/2 --checkpoint new1 --checkpoint-rounds 20 -e 'range 30'
	[[ $output == *"checkpoint-rounds=10"*"checkpoint-rounds=20"* ]]
}

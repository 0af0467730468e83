#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `distribute` and `dataset` inside a pipeline that dsvc-read runs, and what the
# options of dsvc-read mean to them.

load lib/dsvc

numbers() { seq 0 "$(($1 - 1))"; }

@test "a pipeline may end with distribute: as text, file or words" {
	service 1
	run -0 --separate-stderr dsvc-read -e 'range 5 | distribute order=source'
	[[ $output == "$(numbers 5)" ]]
	echo 'range 5 | map x | distribute order=source' >"$BATS_TEST_TMPDIR/spec"
	run -0 dsvc-read -f "$BATS_TEST_TMPDIR/spec"
	[[ $output == "$(numbers 5)" ]]
	run -0 dsvc-read range 5 'then' distribute order=source
	[[ $output == "$(numbers 5)" ]]
	run -0 dsvc-run 'range 5 | distribute order=source'
	[[ $output == "$(numbers 5)" ]]
}

@test "a dataset alone is read as one that is named" {
	service 1
	dsvc-register --id five 'range 5'
	cd "$BATS_TEST_TMPDIR"
	run -0 dsvc-read --checkpoint pos -e 'dataset five order=source'
	[[ $output == "$(numbers 5)" ]]
}

@test "options reach the one distribute of a pipeline" {
	service 2
	run -0 dsvc-read --sharding off -e 'range 5 | distribute | map x'
	[[ $(sort -n <<<"$output" | uniq -c | tr -s ' ' | cut -d' ' -f2 | sort -u) == 2 ]]
	run -0 dsvc-read --order source -e 'zip (range 3 | distribute) (range 3)'
	[[ $output == $'[0,0]\n[1,1]\n[2,2]' ]]
	run -0 dsvc-read --epochs 3 --order source -e 'range 2 | distribute | map x'
	[[ $output == $'0\n1\n0\n1\n0\n1' ]]
	dsvc-read -J train -n 100 -e 'range 5 | distribute | map x'
	run -0 dsvc-status --audit train
	[[ $output == *train* ]]
	DSVC_ORDER=source run -0 dsvc-read -e 'range 3 | distribute'
	[[ $output == "$(numbers 3)" ]]
}

@test "an option and the pipeline may say the same, and not otherwise" {
	service 1
	run -0 dsvc-read --sharding off -e 'range 3 | distribute sharding=parallel_epochs'
	run -0 dsvc-read -J a -e 'range 3 | distribute job=a'
	run -64 dsvc-read --order source -e 'range 3 | distribute order=any'
	[[ $output == *"--order is source"*"says order=any"* ]]
	run -64 dsvc-read -J a -e 'range 3 | distribute job=b | map x'
	[[ $output == *"-J is a"*"says job=b"* ]]
	run -64 dsvc-read --seed 7 -e 'range 3 | distribute seed=8'
	run -64 dsvc-read -J a -e 'zip (range 3 | distribute) (range 3 | distribute)'
	[[ $output == *"in 2 places"*"job=..."* ]]
	dsvc-register --id three 'range 3'
	run -64 dsvc-read --set n=3 three
	[[ $output == *"already set"* ]]
}

@test "a pass that was read before is told, unless quiet" {
	service 1
	dsvc-read -J same -e 'range 5'
	run -0 --separate-stderr dsvc-read -J same -e 'range 5'
	[[ ! $output ]]
	[[ $stderr == "dsvc-read: job \`same\`: pass 1 was read to its end; --epoch 2 reads another" ]]
	run -0 --separate-stderr dsvc-read -J same -q -e 'range 5'
	[[ ! $output && ! $stderr ]]
	run -0 --separate-stderr dsvc-read -J same -e 'range 5 | distribute | map x'
	[[ ! $output && $stderr == *"job \`same\`: pass 1 was read to its end"* ]]
	run -0 --separate-stderr dsvc-read -J same --epochs 2 --order any -e 'range 5'
	[[ $output && $stderr == *"pass 2 is next"* ]]
	cd "$BATS_TEST_TMPDIR"
	run -0 --separate-stderr dsvc-read --checkpoint pos -e 'range 5'
	[[ ! $stderr ]]
	run -0 --separate-stderr dsvc-read --checkpoint pos -e 'range 5'
	[[ ! $output && $stderr == *"pos is at the end of its pass"* ]]
	run -0 --separate-stderr dsvc-read -q --checkpoint pos -e 'range 5'
	[[ ! $output && ! $stderr ]]
}

@test "each repetition is the job's next pass" {
	service 1
	run -0 dsvc-read -e 'range 2 | distribute job=j order=source | repeat 3'
	[[ $output == $'0\n1\n0\n1\n0\n1' ]]
	run -0 dsvc-read -e 'range 2 | distribute order=source | repeat 2'
	[[ $output == $'0\n1\n0\n1' ]]
	run -0 dsvc-run 'range 2 | distribute order=source | repeat 2'
	[[ $output == $'0\n1\n0\n1' ]]
	# the first three are finished: they are empty, and count
	run -0 --separate-stderr dsvc-read -e 'range 2 | distribute job=j order=source | repeat 4'
	[[ $output == $'0\n1' ]]
	run -0 --separate-stderr dsvc-read -n 5 -e 'range 2 | distribute job=j order=source | repeat'
	[[ $output == $'0\n1\n0\n1\n0' ]]
	run -0 dsvc-read -e 'range 2 | distribute job=k order=source | repeat 2' --epochs 2
	[[ $output == $'0\n1\n0\n1\n0\n1\n0\n1' ]]
	# a pass without elements is the last
	run -0 within 5s dsvc-read -e 'range 0 | distribute job=none | repeat'
	[[ ! $output ]]
}

@test "what means something only over all elements is read with --sharding off" {
	service 1
	local id
	run -0 dsvc-read --sharding off -e 'range 10 | take 3'
	[[ $output == "$(numbers 3)" ]]
	run -65 dsvc-read -e 'range 10 | take 3'
	[[ $output == *'`take` must see all'*'^^^^^^'*'--sharding off'* ]]
	run -0 --separate-stderr dsvc-register --id three 'range 10 | take 3'
	[[ $output == three && $stderr == *'`take` must see all elements: read it with --sharding off' ]]
	# its worker knows; the client has but the name
	run -65 dsvc-read three
	[[ $output == *'`take` must see all'*'after `distribute`'*'--sharding off'* ]]
	run -0 dsvc-read --sharding off -e 'range 10 | take 3 | distribute | map x'
	[[ $output == "$(numbers 3)" ]]
	run -65 dsvc-read --sharding dynamic -e 'range 10 | take 3 | distribute | map x'
	run -65 dsvc-read -e 'dataset three | map x'
	run -65 dsvc-read -J j three
	run -0 dsvc-read --sharding off three
	[[ $output == "$(numbers 3)" ]]
	run -0 dsvc-read -e 'dataset three sharding=off | map x'
	[[ $output == "$(numbers 3)" ]]
	# by index a part is a part of the same order, and with per_stream it is asked for
	run -0 --separate-stderr dsvc-register 'range 10 | take 3 | shuffle all'
	[[ ! $stderr ]]
	run -0 dsvc-read "$output"
	run -0 --separate-stderr dsvc-register 'range 10 | take 3 per_stream=true'
	[[ ! $stderr ]]
}

@test "names are not empty" {
	service 1
	run -64 dsvc-read -J '' -e 'range 3'
	[[ $output == *"-J: a name cannot be empty"* ]]
	run -64 dsvc-read -J "$(printf 'x%.0s' {1..257})" -e 'range 3'
	[[ $output == *"at most 256 bytes"* ]]
	run -65 dsvc-read -e "range 3 | distribute job=''"
	[[ $output == *"job of \`distribute\`: a name cannot be empty"*"^^"* ]]
	run -64 within 5s dsvc-work --tag ''
	run -64 within 5s dsvc-work --tag 'a b'
	run -64 dsvc-register --id '' 'range 3'
	# an empty variable is one that is not set
	DSVC_JOB='' run -0 dsvc-read -e 'range 3'
}

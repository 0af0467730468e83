#!/usr/bin/env bats
# What is said of datasets and jobs: facts that a worker finds out, warnings, and what is refused.
load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

# Reads the dataset and gives what the status says of it.
facts() { # ID FIELDS [OPTION...]
	dsvc-read -t none "${@:3}" "$1" || true
	dsvc-status --json | jq -c --arg id "$1" ".datasets[] | select(.id == \$id) | [$2]"
}

@test "the facts of a dataset: found by a worker, kept over a restart, shown" {
	seq 9 >a.txt
	start dispatch dsvc-dispatch --state state
	start work dsvc-work --allow-exec any
	dsvc-register --id plain 'range 10 | map x+1 | repeat 2'
	[[ $(dsvc-status --json | jq -c '.datasets[0] | [.known, .cardinality]') == '[false,null]' ]]
	[[ $(facts plain .known,.cardinality,.global,.files,.hint,.orders,.repeats,.indexed,.programs) == \
		'[true,20,"",false,false,true,true,true,false]' ]]
	run -0 --separate-stderr dsvc-register --id whole 'range 10 | take 3'
	[[ $stderr == *'`take` must see all elements: read it with --sharding off' ]]
	# who reads it otherwise is refused, and the reason is known from then on
	[[ $(facts whole .cardinality,.global,.orders 2>refused) == '[3,"take 3",false]' ]]
	grep -q -- '--sharding off' refused
	[[ $(facts whole .global --sharding off) == '["take 3"]' ]]
	dsvc-register --id files "lines a.txt | exec cat"
	[[ $(facts files .cardinality,.files,.programs,.indexed) == '[-2,true,true,false]' ]]
	dsvc-register --id shares 'range 10 | shard auto auto' 2>warned
	grep -q -- 'read it with --sharding hint' warned
	[[ $(facts shares .hint --sharding hint) == '[true]' ]]
	dsvc-register --id clock 'range 3 | map now()'
	[[ $(facts clock .repeats) == '[false]' ]]
	dsvc-register --id endless 'range 3 | repeat'
	dsvc-read -n 1 -t none endless
	[[ $(facts endless .cardinality -n1) == '[-1]' ]]
	stop dispatch TERM || true
	start dispatch dsvc-dispatch --state state
	run -0 dsvc-status
	[[ $output == *'whole '*'range 10 | take 3'$'\n''    3 elements  must see all: take 3'* ]]
	[[ $output == *$'\n''    endless'* && $output == *$'\n''    3 elements  comes out otherwise each time'* ]]
	[[ $output == *$'\n''    takes its share from the job'* && $output == *$'\n''    runs programs'* ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Streams that a job has from its start move to workers that join later.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

# The streams of each worker, as [[name, streams], ...].
loads() { dsvc-status --json | jq -c '[.workers[] | [.name, .streams]] | sort'; }
spread_is() { [[ $(loads) == "$1" ]]; }

@test "streams of an ordered job move to a worker that joins, and the sequence stays the same" {
	service 0
	start small dsvc-work --name small -j 2
	spawn read dsvc-read --order stable --shards 8 -o got -n 40000 -e 'range 400000 | rate 3000'
	until_true 10s spread_is '[["small",8]]'
	start wide dsvc-work --name wide -j 8
	until_true 10s spread_is '[["small",2],["wide",6]]'
	reap read
	((status == 0))
	dsvc-read --order stable --shards 8 -o want -n 40000 -e 'range 400000'
	cmp got want
}

@test "shards move, too: each has the same elements" {
	service 0
	seq 0 39999 >want
	start one dsvc-work --name one -j 1
	spawn read dsvc-read --sharding data --shards 4 -J data -o got -e 'range 40000 | rate 2000'
	until_true 10s spread_is '[["one",4]]'
	start two dsvc-work --name two -j 1
	until_true 10s spread_is '[["one",2],["two",2]]'
	reap read
	((status == 0))
	cmp <(sort -n got) want
	run -0 dsvc-status --audit data
	[[ $output == *balanced ]]
}

@test "streams whose operators cannot say where they are stay" {
	service 0
	start small dsvc-work --name small -j 1
	spawn read dsvc-read --order stable --shards 3 -o got -n 12000 -e 'range 60000 | rate 3000 | exec "cat"'
	until_true 10s spread_is '[["small",3]]'
	start wide dsvc-work --name wide -j 4
	reap read
	((status == 0))
	dsvc-read --order stable --shards 3 -o want -n 12000 -e 'range 60000'
	cmp got want
}

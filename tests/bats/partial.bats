#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Aggregates right behind distribute: each stream makes an answer about its part, and the
# reader puts these together. The answer is that of dsvc-run.
# shellcheck disable=SC2016

bats_require_minimum_version 1.5.0
load lib/dsvc

setup() {
	dsvc_setup
}

source='range 9000 | map {k: x * 7919 % 13, v: x * 7919 % 10007 * 0.1, t: x % 3 == 0 ? null : str(x % 100)}'
exact=('count' 'group_by .k' 'group_by .k agg=sum of=.v' 'group_by .t agg=mean of=.v' 'group_by .v agg=min of=.k'
	'group_by .k n=count() c=count(.t) u=nulls(.t) s=sum(.v) m=mean(.v) d=distinct(.t) a=min(.v) b=max(.t)'
	'group_by .t a=stddev(.v) b=median(.v) c=quantile(.k, 0.9)' 'stats .v' 'stats .v by=.k quantiles=[0, 0.5]' 'stats .k by=.t'
	'stats .v mem=4k' 'stats .v quantiles=[] by=[.k, .t]')
both=('top 5 [.v, .k]' 'top 300 .v reverse=true' 'unique .k | map .k' 'unique [.k, .t] | count')
in_order=('unique .t' 'unique .v' 'top 20 .t' 'group_by .t f=first(.v) l=last(.v)' 'group_by .k agg=list of=.t')

# as dsvc-run has it, in any order
same_set() { # AGGREGATE PARAMETERS
	run -0 dsvc-run "$source | distribute $2 | $1"
	diff <(sort <<<"$output") <(dsvc-run "$source | $1" | sort) >&2
}

@test "on workers, answers about parts make the answer about all" {
	service 2
	local one
	for one in "${exact[@]}" "${both[@]}"; do
		same_set "$one" order=any
	done
	for one in "${exact[3]}" "${both[@]:1:2}"; do
		same_set "$one" "order=stable shards=3"
	done
	run -0 dsvc-run 'range 1000 | distribute sharding=off | count'
	[ "$output" = 2000 ]
	run -0 dsvc-run 'range 0 | distribute | count'
	[ "$output" = 0 ]
	run -0 dsvc-run 'range 0 | distribute | stats'
	[ "$output" = "$(dsvc-run 'range 0 | stats')" ]
}

@test "in order source, what depends on order is the same, too" {
	service 2
	local one
	for one in "${exact[@]}" "${both[@]}" "${in_order[@]}"; do
		run -0 dsvc-run "$source | distribute order=source | $one"
		diff - <(dsvc-run "$source | $one") <<<"$output" >&2
	done
	run -0 dsvc-run 'range 20000 | batch 7 | distribute order=source shards=1 | group_by len(x) f=first(x[0]) n=count()'
	[ "$output" = "$(dsvc-run 'range 20000 | batch 7 | group_by len(x) f=first(x[0]) n=count()')" ]
}

# that many jobs
has_begun() {
	(($(dsvc-events | grep -c 'began pass 1') >= $1))
}

@test "a worker is killed in the middle" {
	start dispatch dsvc-dispatch
	start one dsvc-work --name one -j 2
	local pipe='range 50000 | map {k: x % 7, v: x * 0.1} | sleep 20us'
	local rest=('group_by .k n=count() s=sum(.v) d=distinct(.v) e=stddev(.v) m=median(.v)' 'stats .v') readers=() k
	for k in 0 1; do
		dsvc-run "$pipe | distribute | ${rest[k]}" >"$BATS_TEST_TMPDIR/got$k" &
		readers+=($!)
	done
	until_true 20s has_begun 2
	start two dsvc-work --name two -j 2
	kill -9 "${pid[one]}"
	for k in 0 1; do
		wait "${readers[k]}"
		diff <(sort "$BATS_TEST_TMPDIR/got$k") <(dsvc-run "${pipe% | sleep*} | ${rest[k]}" | sort) >&2
	done
}

@test "a part that has begun is handed over with its stream" {
	start dispatch dsvc-dispatch
	start one dsvc-work --name one -j 4
	local pipe='range 40000 | map {k: x * 7919 % 9000, v: x * 0.1} | sleep 20us'
	local rest=('group_by .k n=count() s=sum(.v) d=distinct(.v) l=max(.v)' 'unique .k | map .k' 'top 2000 .v'
		'stats .v by=.k % 9 == 0') readers=() k
	for k in 0 1 2 3; do
		dsvc-run "$pipe | distribute | ${rest[k]}" >"$BATS_TEST_TMPDIR/got$k" &
		readers+=($!)
	done
	for k in 1 2 3 4; do
		until_true 20s has_begun "$k"
	done
	start two dsvc-work --name two -j 4
	stop one
	for k in 0 1 2 3; do
		wait "${readers[k]}"
		diff <(sort "$BATS_TEST_TMPDIR/got$k") <(dsvc-run "${pipe% | sleep*} | ${rest[k]}" | sort) >&2
	done
}

@test "--explain shows what workers do, and what is done here" {
	run -0 dsvc-run --explain 'range 10 | distribute | group_by x % 3 n=count()'
	[[ $output == *'on workers: range 10 | group_by x % 3 n=count() partial=make'* ]]
	[[ $output == *'group_by x % 3 n=count() partial=join'* ]]
	[[ $output == *'`group_by` gives one answer for all elements, in two steps: each worker does it for its part'* ]]
	[[ $output != *'part alone'* ]]
	run -0 dsvc-run --print canonical 'range 10 | distribute | count'
	[ "$output" = 'range 10 | count partial=make | distribute | count partial=join' ]
	run -0 dsvc-run --print canonical "$output"
	[ "$output" = 'range 10 | count partial=make | distribute | count partial=join' ]
}

@test "what is left of the parts goes through unique and top again" {
	run -0 dsvc-run --print canonical 'range 10 | distribute | unique x % 3 | top 2'
	[ "$output" = 'range 10 | unique x % 3 partial=make | distribute | unique x % 3 partial=join | top 2 x' ]
	run -0 dsvc-run --explain 'range 10 | distribute | top 2'
	[[ $output == *' distribute '*' int'* && $output == *'top 2 x partial=make'*' int'* ]]
}

# what --explain says of the aggregate
says() { # PIPELINE WORDS
	run -0 dsvc-run --explain "$1"
	[[ $output == *"is done by the reader for all elements: $2"* ]]
}

@test "--explain says why an aggregate is not shared out" {
	says 'range 10 | distribute | group_by x init=0 reduce=(s + x)' 'reduce= takes the elements one after the other'
	says 'range 10 | distribute | map x + 1 | stats' 'it does not stand right behind `distribute`'
	says 'range 10 | distribute | stats x * i' 'its expressions are not the same everywhere'
	says 'range 10 | distribute | group_by x agg=sum on_error=skip' 'on_error= and retries= are about single elements'
	says 'range 10 | distribute job=train | count' 'readers of one job each get some of its elements'
	says 'range 10 | distribute sharding=data | count' 'with this sharding= streams get single elements in turn'
	says 'range 10 | map x + rand() | distribute order=source | count' 'with order=source'
	says 'options element_max=1M; range 10 | distribute | count' 'answers about parts may be larger'
	run -0 dsvc-run --explain 'range 10 | distribute | stats by=x % 3'
	[[ $output == *'stats x by=x % 3 partial=join'* && $output != *'is done by the reader'* ]]
}

@test "sums of ints may leave 64 bits on the way" {
	service 2
	local sums='group_by 0 s=sum(x < 50 ? 9000000000000000000 : -9000000000000000000) m=mean(9000000000000000000)'
	run -0 dsvc-run "range 100 | distribute | $sums"
	[ "$output" = '{"key":0,"s":0,"m":9e+18}' ]
	run -0 dsvc-run "range 100 | $sums"
	[ "$output" = '{"key":0,"s":0,"m":9e+18}' ]
	run -65 dsvc-run "range 100 | distribute | group_by 0 agg=sum of=9000000000000000000"
	[[ $output == *'the sum does not fit 64 bits'* ]]
}

@test "what would give something else on workers is done by the reader" {
	local rest
	for rest in 'group_by x agg=sum of=i' 'group_by rand() < 0.5' 'stats x + i' 'stats by=rand() < 0.5' 'stats on_error=skip' \
		'group_by x init=0 reduce=(s + x)' 'group_by x agg=sum on_error=skip' 'map x + 1 | count'; do
		run -0 dsvc-run --print canonical "range 10 | distribute | $rest"
		[[ $output != *partial* ]]
	done
	for rest in 'job=train' 'job=train share=lossless' 'sharding=data' 'consumer=0/2 job=a'; do
		run -0 dsvc-run --print canonical "range 10 | distribute $rest | count"
		[[ $output != *partial* ]]
	done
	run -0 dsvc-run --print canonical 'range 10 | map x + rand() | distribute order=source | count'
	[[ $output != *partial* ]]
	run -0 dsvc-run --print canonical 'range 10 | map x + rand() | distribute | count'
	[[ $output == *partial* ]]
}

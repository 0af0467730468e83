#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# group_by with several threads (-j): from three on keys are divided among them, and nothing else may tell it.
# shellcheck disable=SC2016

bats_require_minimum_version 1.5.0
load lib/dsvc

setup() {
	dsvc_setup
}

source='range 20000 | map {k: x * 7919 % 13, u: str(x * 7919 % 5003), v: x * 7919 % 10007 * 0.1, w: x % 5 == 0 ? 1.0 : 1, t: x % 3 == 0 ? null : str(x % 100)}'
keys=(.k .u .w .t '[.w, .u]' '{b: .w, a: .t}' 'i % 7' x)
calls=('count()' 'count(.t)' 'nulls(.t)' 'distinct(.t)' 'distinct(.w)' 'sum(.v)' 'mean(.v)' 'stddev(.v)' 'min(.v)' 'max(.t)' 'first(.t)'
	'last(.v)' 'list(.k)' 'median(.v)' 'quantile(.k, 0.9)' 'sum(.k * 4611686018427387904)' 'sum(int(.t))' 'sum(.t)' 'min(x)')
singles=('' 'agg=sum of=.v' 'agg=mean of=.v' 'agg=min of=.t' 'agg=max of=.v' 'agg=first of=.t' 'agg=last of=.k' 'agg=list of=.t'
	'agg=sum of=.t' 'init=0 reduce=(s + .v)')
policies=('' '' 'on_error=skip' 'on_error=keep' 'nulls=skip' 'mem=200k' 'mem=20k')

pick() { # VARIABLE OF...: one of them
	local -n into=$1
	shift
	into=${*:RANDOM % $# + 1:1}
}

# an aggregate in $made
make_one() {
	local key policy call one k
	pick key "${keys[@]}"
	pick policy "${policies[@]}"
	if ((RANDOM % 3)); then
		made="group_by $key"
		for ((k = RANDOM % 4; k >= 0; k--)); do
			pick call "${calls[@]}"
			made+=" n$k=$call"
		done
	else
		pick one "${singles[@]}"
		made="group_by $key $one"
	fi
	made+=" $policy"
}

# same THREADS PLACE: what $made gives, also how it ends; how many keys there were when mem= was too little is chance
same() {
	local with="$source | $2 | $made" alone="$source | $made" code=0 wanted=0
	[ -n "$2" ] || with=$alone
	dsvc-run "$alone" >"$BATS_TEST_TMPDIR/wanted" 2>"$BATS_TEST_TMPDIR/wanted.err" || wanted=$?
	dsvc-run -j "$1" "$with" >"$BATS_TEST_TMPDIR/got" 2>"$BATS_TEST_TMPDIR/got.err" || code=$?
	echo "-j $1: $with ($wanted, $code)" >&2
	cat "$BATS_TEST_TMPDIR"/{wanted,got}.err >&2
	[ "$code" = "$wanted" ]
	cmp "$BATS_TEST_TMPDIR/wanted" "$BATS_TEST_TMPDIR/got" >&2
	[ -n "$2" ] || diff <(sed 's/: [0-9]* keys/: N keys/' "$BATS_TEST_TMPDIR/wanted.err") \
		<(sed 's/: [0-9]* keys/: N keys/' "$BATS_TEST_TMPDIR/got.err") >&2
}

@test "generated aggregates give the same with any number of threads" {
	local n threads
	RANDOM=${SEED:-7}
	for ((n = 0; n < ${RUNS:-60}; n++)); do
		make_one
		pick threads 2 3 3 5 40
		same "$threads" ''
	done
}

@test "generated aggregates of what workers give are the same, too" {
	service 2
	local n place
	RANDOM=${SEED:-8}
	policies=('' 'nulls=skip')
	keys=("${keys[@]:0:6}")
	for ((n = 0; n < ${RUNS:-12}; n++)); do
		make_one
		pick place 'distribute order=source' 'distribute order=source | map x' 'distribute order=source | filter true'
		same 3 "$place"
	done
}

@test "each aggregate alone, by few keys and by many" {
	local call key
	for call in "${calls[@]}"; do
		for key in .k .u; do
			made="group_by $key y=$call"
			same 2 ''
		done
	done
}

@test "a quantile is approximate with threads where it is without them" {
	made='group_by .k a=median(.v) b=quantile(.v, 0.1) mem=5M'
	source="range 800000 | map {k: x % 3, v: x * 7919 % 10007 * 0.1}" same 3 ''
	grep -q approx "$BATS_TEST_TMPDIR/got"
}

@test "all records say whether they are approximate, also those of threads where none is" {
	local threads
	made='group_by .k a=median(.v) b=quantile(.v, 0.1) mem=5M'
	for threads in 2 3 5; do
		# most keys have one number each, and are exact
		source="range 800000 | map {k: x % 100 == 0 ? x : 0, v: x * 7919 % 10007 * 0.1}" same "$threads" ''
		grep -q '"approx":0\.001' "$BATS_TEST_TMPDIR/got"
		grep -q '"approx":0\(\.0\)\?}' "$BATS_TEST_TMPDIR/got"
		[ "$(grep -c '"approx"' "$BATS_TEST_TMPDIR/got")" = "$(wc -l <"$BATS_TEST_TMPDIR/got")" ]
	done
}

@test "repeat, an aggregate of an aggregate, and an end before all is given" {
	made='group_by .u n=count() | group_by .n m=count() | repeat 3'
	same 3 ''
	made='repeat 2 | group_by .u n=count() | take 3'
	same 3 ''
	made='take 0 | group_by .u'
	same 3 ''
	made='interleave (range x.k | group_by x % 2) | count'
	same 3 ''
}

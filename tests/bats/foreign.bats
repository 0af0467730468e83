#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A reader written from doc/protocol.md alone (examples/reader.py) beside ours.
load lib/dsvc

reader() { within 60s python3 "$BATS_TEST_DIRNAME/../../examples/reader.py" "$@"; }

# It gives what dsvc-read gives; further words are fields of OPEN.
alike() { # SPEC [FIELD=VALUE...]
	local spec=$1
	shift
	run -0 --separate-stderr reader "$endpoint" "$spec" "$@"
	sort <<<"$output" >"$BATS_TEST_TMPDIR/theirs"
	dsvc-read -d "$endpoint" -t ndjson -e "$spec" | sort >"$BATS_TEST_TMPDIR/ours"
	diff "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs" >&2
}

@test "the example of the protocol reads what dsvc-read reads: every kind of value" {
	service 2
	alike 'range 10'
	alike 'range 3000 | map {i: x, t: "é" ++ str(x), f: x / 4, l: [x, null, true], b: bytes("abc")}'
	alike 'range 300 | map -x*1000000000000'
	# Inside, since the batches of a whole source end with its splits, which are dealt out as they are asked for.
	alike 'range 3 | interleave (range 40 | batch 7)'
	local dtype
	for dtype in u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64; do
		alike "range 2 | interleave (range 24 | map cast(tensor([[x, x + 1], [x, 0]]), \"$dtype\") | batch 5)"
	done
	alike 'range 3 | map {deep: {t: cast(tensor([true, false]), "bool")}}'
	run -0 reader "$endpoint" 'range 0'
	[ "$output" = '' ]
	alike 'range 20 | map {a: 6 % (x - 3)} | ignore_errors'
}

@test "and reads over tcp, compressed, with a worker killed in the middle: each element once" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	endpoint=$ready
	export DSVC_DISPATCHER=$ready
	start one dsvc-work --insecure -j 2
	start two dsvc-work --insecure -j 2
	run -0 reader "$endpoint" 'range 20000 | map {i: x, t: "the same text in all of them"}' compression=2
	[ "$(grep -o '"i":[0-9]*' <<<"$output" | sort -u | wc -l)" = 20000 ]
	[ "$(wc -l <<<"$output")" = 20000 ]
	reader "$endpoint" 'range 2000 | sleep 1ms' job=slow >"$BATS_TEST_TMPDIR/slow" &
	local job=$!
	until_true 20s test -s "$BATS_TEST_TMPDIR/slow"
	stop one KILL
	wait "$job"
	[ "$(sort -n "$BATS_TEST_TMPDIR/slow" | uniq | wc -l)" = 2000 ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/slow")" = 2000 ]
	run -0 dsvc-status --audit slow
}

@test "and reads every kind of job: shards, orders, sharding off, rounds and groups" {
	service 2
	local kind
	for kind in 'order=1 shards=3' 'order=2' 'sharding=0 shards=1' 'sharding=3 shards=4 shard=0,1,2,3'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr reader "$endpoint" 'range 1000' $kind
		[ "$(sort -n <<<"$output" | cmp - <(seq 0 999) && echo same)" = same ] || { echo "$kind"; false; }
	done
	run -0 --separate-stderr reader "$endpoint" 'range 1000' job=shared share=1 group=mine
	cmp <(sort -n <<<"$output") <(seq 0 999)
	# the consumers of rounds share the elements
	reader "$endpoint" 'range 1000' job=rounds consumer=0/2 order=1 >"$BATS_TEST_TMPDIR/even" 3>&- &
	local other=$!
	echo "$other" >>"$BATS_TEST_TMPDIR/pids"
	run -0 --separate-stderr reader "$endpoint" 'range 1000' job=rounds consumer=1/2 order=1
	wait "$other"
	cmp <(sort -n "$BATS_TEST_TMPDIR/even" - <<<"$output") <(seq 0 999)
}

@test "and ends with the code that it is told" {
	service 1
	run -65 reader "$endpoint" 'range 3 | map fail("no")'
	[[ $output == *'no'* ]]
	run -65 reader "$endpoint" 'rage 3'
	run -69 reader "$endpoint" 'range 3' min_workers=9 wait_ms=50
	run -66 reader "$endpoint" '' dataset=none
}

@test "the id of a dataset is made of the canonical spec as the protocol says" {
	service 1
	local spec id
	spec=$(dsvc-run --print=canonical 'range   10|map x*x')
	id=$(python3 -c 'import hashlib, sys
print(hashlib.blake2b(b"dsvc 1\n" + sys.argv[1].encode(), digest_size=16).hexdigest()[:16])' "$spec")
	[ "$(dsvc-register 'range 10 | map x * x')" = "$id" ]
	run -0 reader "$endpoint" '' "dataset=$id"
	[ "$(wc -l <<<"$output")" = 10 ]
}

# A worker that lies; sets $status and $output of a reader that gets it.
lied_to() { # MODE SPEC
	local evil rc=0
	mkfifo "$BATS_TEST_TMPDIR/in.$1"
	python3 "$BATS_TEST_DIRNAME/lib/evil.py" "$endpoint" "$1" <"$BATS_TEST_TMPDIR/in.$1" >"$BATS_TEST_TMPDIR/evil.$1" 2>&1 3>&- &
	evil=$!
	echo "$evil" >>"$BATS_TEST_TMPDIR/pids"
	exec 5>"$BATS_TEST_TMPDIR/in.$1"
	until_true 5s grep -q ready "$BATS_TEST_TMPDIR/evil.$1"
	run --separate-stderr within 20s dsvc-read --timeout "${LIMIT:-700ms}" -t ndjson -e "$2"
	exec 5>&-
	dsvc_wait "$evil" 10
}

@test "a worker that lies: readers end with words, nobody breaks, nothing reaches the terminal" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	endpoint=$ready
	export DSVC_DISPATCHER=$ready
	local mode n=0
	for mode in $(python3 "$BATS_TEST_DIRNAME/lib/evil.py" modes); do
		[[ $mode == restart-* ]] && continue
		lied_to "$mode" "range $((1000 + n++))"
		case $status in
		0 | 65 | 69 | 74 | 75 | 76 | 124) ;;
		70) [[ $mode == *-code || $mode == *-answer ]] ;;
		*) false ;;
		esac || { echo "$mode: $status $stderr"; cat "$BATS_TEST_TMPDIR/evil.$mode"; false; }
		[[ $stderr != *$'\e'* ]] || { echo "$mode"; false; }
		[[ $(<"$BATS_TEST_TMPDIR/evil.$mode") == ready ]] || { cat "$BATS_TEST_TMPDIR/evil.$mode"; false; }
		# Ten elements at most, each once, and none that was not sent.
		((${#lines[@]} <= 11))
		[ "$(sort <<<"$output" | uniq -d)" = '' ]
		kill -0 "${pid[dispatch]}"
	done
	[[ $(<"$BATS_TEST_TMPDIR/dispatch.err") != *$'\e'* ]]
	start work dsvc-work --insecure
	run -0 within 20s dsvc-read -t count -e 'range 1000'
	[ "$output" = 1000 ]
}

@test "a restart point that is none does not break the worker that is handed it" {
	start dispatch dsvc-dispatch
	start work dsvc-work --insecure
	LIMIT=15s lied_to restart-state 'range 1000 | shuffle 10 | map x'
	[[ $status == 0 || $status == 65 || $status == 76 ]] || { echo "$status $stderr"; false; }
	((status)) || [ "$(sort -n <<<"$output" | uniq | wc -l)" = 1000 ]
	run -0 within 20s dsvc-read -t count -e 'range 1000'
	[ "$output" = 1000 ]
	kill -0 "${pid[work]}"
}

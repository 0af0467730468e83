# SPDX-License-Identifier: MIT
# Rows about what is promised: the state, restart points, a worker that is lost, and scale.
# shellcheck shell=bash disable=SC2154,SC2317,SC2329

# serve TAG WORKERS [DISPATCH_ARG...] [-- WORK_ARG...]: one more service, beside others, of
# workers with one slot each. endpoint[TAG] is its address, serving[TAG] its processes, the
# dispatcher first; all of them end with `unserve`.
declare -A endpoint serving
serve() {
	local tag=$1 n=$2 i dispatch=()
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do dispatch+=("$1"); shift; done
	[ $# -eq 0 ] || shift
	endpoint[$tag]=ipc://$work/$tag
	"$bin/dsvc-dispatch" -q -b "${endpoint[$tag]}" --ready-file "$work/up.$tag" "${dispatch[@]}" < /dev/null &
	serving[$tag]=$!
	until [ -s "$work/up.$tag" ]; do read -r -t 0.01 _ <> <(:); done
	for ((i = 0; i < n; i++)); do
		"$bin/dsvc-work" -q -j 1 -d "${endpoint[$tag]}" --name "$tag$i" --ready-file "$work/up.$tag.$i" "$@" < /dev/null &
		serving[$tag]+=" $!"
	done
	for ((i = 0; i < n; i++)); do
		until [ -s "$work/up.$tag.$i" ]; do read -r -t 0.01 _ <> <(:); done
	done
}

unserve() {
	local tag
	for tag in "${!serving[@]}"; do
		# shellcheck disable=SC2086
		kill -KILL ${serving[$tag]} 2> /dev/null
	done
	wait 2> /dev/null
	rm -rf "$work"/up.* "$work"/state.*
	endpoint=() serving=()
}

# count TAG PIPELINE: read to its end from that service.
count() { seconds "$bin/dsvc-read" -d "${endpoint[$1]}" -t count -e "$2"; }

row_state() {
	local ROUNDS=$((ROUNDS > 5 ? ROUNDS : 5))
	serve with 1 --state "$work/state.with"
	serve without 1
	ours() { count with 'range 50_000_000 | map x*x'; }
	theirs() { count without 'range 50_000_000 | map x*x'; }
	row 'range 50M | map x*x with --state; without' 0.9 50 'M el/s' ours theirs
	unserve
}

# cpu PID...: seconds of processor time they have had.
cpu() {
	local p s=0
	for p; do sed 's/.*) //' "/proc/$p/stat"; done |
		awk -v hz="$(getconf CLK_TCK)" '{ s += $12 + $13 } END { print s / hz }'
}

# spent TAG PIPELINE: as count, but sets S to what the processes of the service spend on it.
spent() {
	local before after
	# shellcheck disable=SC2086
	before=$(cpu ${serving[$1]}) && count "$@" && after=$(cpu ${serving[$1]}) &&
		S=$(awk -v a="$after" -v b="$before" 'BEGIN { print a - b }')
}

# Restart points at the default interval of a second beside none at all, in processor time. They
# cost far less than what that varies by from run to run: so a hundred times as many are made,
# and the hundredth part of what these cost is added.
row_restart() {
	local source='range 100_000_000 | map x*x' none
	serve many 1 --state "$work/state.many" -- --restart-interval 10ms
	serve none 1 --state "$work/state.none" -- --restart-interval 0
	ours() {
		spent none "$source" && none=$S && spent many "$source" &&
			S=$(awk -v m="$S" -v n="$none" 'BEGIN { print n + (m - n) / 100 }')
	}
	theirs() { S=$none; }
	row 'restart points each second; none (processor)' 0.98 100 'M el/s' ours theirs
	source='range 50_000_000 | shuffle 10000'
	row '  the same of shuffle 10000' 0.98 50 'M el/s' ours theirs
	unserve
}

# One stream, as `stable` has it, on one of two workers; that one is killed while its
# elements flow.
row_takeover() {
	local i owner reader dispatcher worker status
	need jq 'kill -9 of a worker' || return
	: > "$work/gaps"
	for ((i = 0; i < ROUNDS; i++)); do
		serve pair 2 --state "$work/state.pair"
		{ "$bin/dsvc-read" -q -d "${endpoint[pair]}" --order stable --shards 1 -e 'range 400_000_000' 2> /dev/null |
			"$yard/gap" 400000000 > "$work/gap"; } &
		reader=$!
		owner=
		until [ -n "$owner" ]; do
			status=$("$bin/dsvc-status" -d "${endpoint[pair]}" --json)
			owner=$(jq -r '.workers[] | select(.streams > 0) | .name' <<< "$status")
		done
		read -r dispatcher worker status <<< "${serving[pair]}"
		[ "$owner" = pair0 ] || worker=$status
		disown "$worker" # or bash tells that it was killed
		kill -KILL "$worker"
		kill -0 "$reader" 2> /dev/null || { echo 'takeover: all was read before the worker was killed'; unserve; return; }
		wait "$reader" && cat "$work/gap" >> "$work/gaps"
		unserve
	done
	[ -s "$work/gaps" ] || { echo 'takeover: failed'; rows_missed=$((rows_missed + 1)); return; }
	at_most 'kill -9 of a worker to the next element' 1000 \
		"$(median < "$work/gaps" | awk '{ print $1 * 1000 }')" ms
}

# 200 real workers: what they cost while idle, and the splits they are given.
row_scale() {
	local n=200 files=20000 dispatcher before after _
	[ -e "$data/tiny/done" ] || { rm -rf "$data/tiny"; mkdir -p "$data/tiny" &&
		seq "$files" | split -l 1 -a 5 -d - "$data/tiny/x" && : > "$data/tiny/done"; }
	serve many "$n" --state "$work/state.many"
	dispatcher=${serving[many]%% *}
	before=$(cpu "$dispatcher")
	read -r -t 3 _ <> <(:)
	after=$(cpu "$dispatcher")
	at_most "dispatcher with $n idle workers: processor" 5 \
		"$(awk -v a="$before" -v b="$after" 'BEGIN { print (b - a) / 3 * 100 }')" %
	at_most '  its memory' 64 "$(awk '/VmRSS/ { print $2 / 1024 }' "/proc/$dispatcher/status")" MiB
	: > "$work/cpu"
	ours() {
		before=$(cpu "$dispatcher")
		seconds "$bin/dsvc-read" -d "${endpoint[many]}" --wait-workers "$n" -t count -e "lines $data/tiny/x*" &&
			[ "$(cat "$work/out")" = "$files" ] || return
		after=$(cpu "$dispatcher")
		awk -v a="$before" -v b="$after" 'BEGIN { print b - a }' >> "$work/cpu"
	}
	theirs() {
		rm -f "$work"/yard.db*
		own "$yard/sqlite" "$work/yard.db" 2 &&
			S=$(awk -v f="$files" '{ print $1 / $2 * f }' "$work/out")
	}
	row 'durable splits, 200 workers; SQLite inserts' 1 "$files" '/s' ours theirs
	# the 200 workers and the reader have most of the processor in the row above
	dispatched() { S=$(median < "$work/cpu"); }
	[ ! -s "$work/cpu" ] || floor_row '  per second of processor of the dispatcher' 10000 "$files" '/s' dispatched
	unserve
}

# The dispatcher alone, with its rows for a durable state, per second of its processor.
row_simulated() {
	"$sim/scale_sim" > "$work/out" || { echo 'dispatcher with 10 000 simulated workers: failed'; rows_missed=$((rows_missed + 1)); return; }
	ours() { S=$(sed -n 's/.* splits: \([0-9]*\) decisions .*/\1/p' "$work/out" | awk '{ print 1000000 / $1 }'); }
	floor_row 'dispatcher, 10 000 simulated workers: splits' 340000 1000000 '/s' ours
	ours() { S=$(sed -n 's/.*; \([0-9]*\) beats .*/\1/p' "$work/out" | awk '{ print 1000000 / $1 }'); }
	floor_row '  beats' 1000000 1000000 '/s' ours
}

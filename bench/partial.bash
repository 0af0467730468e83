# SPDX-License-Identifier: MIT
# Rows about aggregates that workers do for their parts, beside the reader doing all of it.
# shellcheck shell=bash disable=SC2154,SC2317,SC2329

row_partial() {
	local by from="ndjson $records"
	up 2 1
	ours() { seconds "$bin/dsvc-run" -t count "$from | distribute | $by"; }
	# An operator in between leaves it to the reader.
	theirs() { seconds "$bin/dsvc-run" -t count "$from | distribute | map x | $by"; }
	by='group_by .label n=count() s=sum(.score)'
	row 'ndjson grouped by 2 workers; by the reader' 1 "$records_mb" 'MB/s' ours theirs
	by='group_by .user n=count() s=sum(.score)'
	row '  the same, keys that hardly repeat' 0.7 "$records_mb" 'MB/s' ours theirs
	by='stats .score by=.label'
	row 'ndjson stats by key, 2 workers; by the reader' 1 "$records_mb" 'MB/s' ours theirs
	local summed='group_by .label n=count() m=mean(.score) d=stddev(.score)' quantiles='stats .score'
	for by in "$summed" "$quantiles"; do
		ours() { reader_seconds "$from | distribute | $by"; }
		theirs() { reader_seconds "$from | distribute | map x | $by"; }
		row "  reader's processor time, ${by%% *}" 2 "$records_mb" 'MB/s' ours theirs
	done
	down
	sent "  bytes to the reader of a byte, group_by" 0.001 "$summed"
	sent "  bytes to the reader of a byte, stats" 0.12 "$quantiles"
}

# reader_seconds SPEC: sets S to the processor time of the reader alone.
reader_seconds() {
	local TIMEFORMAT='%U %S'
	{ time "$bin/dsvc-run" -q -t none "$1" > "$work/out" 2> "$work/err"; } 2> "$work/cpu" || return 1
	S=$(awk '{ print $1 + $2 }' "$work/cpu")
}

# sent NAME MOST AGGREGATE: bytes that the reader gets in two steps for each byte that it gets otherwise.
sent() {
	local parts whole
	parts=$("$bin/dsvc-run" -q -t msgpack "ndjson $records | $3 partial=make" | wc -c)
	whole=$("$bin/dsvc-run" -q -t msgpack "ndjson $records" | wc -c)
	at_most "$1" "$2" "$(awk -v p="$parts" -v w="$whole" 'BEGIN { print p / w }')" B/B
}

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
	down
}

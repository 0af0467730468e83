# SPDX-License-Identifier: MIT
# Rows about streams that several readers take from, each for itself: rounds and groups.
# shellcheck shell=bash disable=SC2154,SC2317,SC2329

jobs_begun=0

# Four consumers in step, beside one reader that takes the same streams in order.
consumers() { # JOB SPEC
	local i readers=()
	for i in 0 1 2 3; do
		"$bin/dsvc-read" -t count -J "$1" --consumer "$i/4" -e "$2" & readers+=($!)
	done
	for i in "${readers[@]}"; do wait "$i" || return; done
}

# Time, and what all processes of the service spend.
row_rounds() {
	local spec amount unit name wanted
	up 1 1
	while read -r name wanted amount unit spec; do
		ours() { seconds consumers "bench-$((jobs_begun += 1))" "$spec"; }
		theirs() { seconds "$bin/dsvc-read" -t count --order stable -e "$spec"; }
		row "rounds of 4 consumers, $name; one in order" "$wanted" "$amount" "$unit" ours theirs
		ours() { used consumers "bench-$((jobs_begun += 1))" "$spec"; }
		theirs() { used "$bin/dsvc-read" -t count --order stable -e "$spec"; }
		row '  their processor time' "$wanted" "$amount" "$unit" ours theirs
	done <<- END
		ints 0.7 20 M_el/s range 20_000_000
		1-MiB 0.9 2.097152 GB/s whole $one | repeat 2000
	END
	down
}

# groups N SPEC: groups of one reader each that all get everything; sets S to the processor
# time of dispatcher and worker.
groups() {
	local i before readers=()
	jobs_begun=$((jobs_begun + 1))
	before=$(service_ticks)
	for ((i = 0; i < $1; i++)); do
		"$bin/dsvc-read" -q -t count -J "bench-$jobs_begun" --share lossless --from start --group "g$i" -e "$2" \
			> "$work/group.$i" & readers+=($!)
	done
	for i in "${readers[@]}"; do wait "$i" || return; done
	[ "$(sort -u "$work"/group.*)" = 3000000 ] || return
	rm -f "$work"/group.*
	S=$(awk -v n="$(($(service_ticks) - before))" -v hz="$(getconf CLK_TCK)" 'BEGIN { print n / hz }')
}

# What is made for several groups is made once.
row_groups() {
	local n spec='range 3_000_000 | map hash(replace(str(x), /([0-9])([0-9])/, "$2-$1"))'
	up 1 1
	theirs() { groups 1 "$spec"; }
	for n in 2 4 8; do
		ours() { groups "$n" "$spec"; }
		row "service of $n groups, processor; one group" 0.95 3 'M el/s' ours theirs
	done
	down
}

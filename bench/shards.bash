# SPDX-License-Identifier: MIT
# Rows about what is divided beforehand: datasets saved by the workers, and shards of a job.
# shellcheck shell=bash disable=SC2154,SC2317,SC2329

# used CMD...: sets S to the processor time of the command and of the service, in seconds.
used() {
	local before after t TIMEFORMAT='%U %S'
	before=$(service_ticks)
	t=$({ time "$@" > "$work/out" 2> "$work/err"; } 2>&1) || { cat "$work/err" >&2; S=0; return 1; }
	after=$(service_ticks)
	S=$(awk -v t="$t" -v n="$((after - before))" -v hz="$(getconf CLK_TCK)" \
		'BEGIN { split(t, v, " "); printf "%.6f", v[1] + v[2] + n / hz }')
}

# Ticks that the processes of the service have run.
service_ticks() {
	local p sum=0 stat
	for p in $pids; do
		stat=$(<"/proc/$p/stat") && stat=${stat##*) }
		# shellcheck disable=SC2086
		set -- $stat
		sum=$((sum + ${12} + ${13}))
	done
	echo "$sum"
}

row_save() {
	local spec='range 40_000 | map {id: x, pad: pad(str(x), 4080, "a")}'
	up 1 1
	ours() { seconds "$bin/dsvc-save" --overwrite -e "$spec" "$work/ours"; }
	theirs() { seconds "$bin/dsvc-run" -t none "$spec | save $work/theirs overwrite=true"; }
	row 'save of 4 KiB records; dsvc-run | save' 0.9 164 'MB/s' ours theirs
	down
	ours() { seconds "$bin/dsvc-run" -t none "load $work/theirs"; }
	theirs() { seconds "$bin/dsvc-run" -t none "msgpack $work/theirs/data-*.msgpack"; }
	row '  load of them; msgpack' 0.9 164 'MB/s' ours theirs
	rm -rf "$work/ours" "$work/theirs"
}

row_shards() {
	local i files=$work/files spec='range 20_000_000 | map x * x + 1' mib
	mkdir -p "$files"
	for ((i = 0; i < 64; i++)); do head -c 4194304 "$text" > "$files/$i.log"; done
	mib="lines $files/*.log | map len(x)"
	up 1 2
	ours() { seconds "$bin/dsvc-read" --sharding file --shards 8 -t count -e "$mib"; }
	theirs() { seconds "$bin/dsvc-read" -t count -e "$mib"; }
	row '64 files of 4 MiB in 8 shards; dynamic' 0.95 268 'MB/s' ours theirs
	ours() { used "$bin/dsvc-read" --sharding data --shards 4 -t count -e "$spec"; }
	theirs() { used "$bin/dsvc-read" -t count -e "$spec"; }
	row 'elements in 4 shards, processor; dynamic' 0.91 20 'M el/s' ours theirs
	ours() { seconds "$bin/dsvc-read" -n 1 --sharding data --shards 4 -e "$spec"; }
	theirs() { seconds "$bin/dsvc-read" -n 1 -e "$spec"; }
	row '  their first element; dynamic' 0.83 1 '1/s' ours theirs
	down
	rm -rf "$files"
}

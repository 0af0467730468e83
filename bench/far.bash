# SPDX-License-Identifier: MIT
# Objects in a store, beside curl: the server is that of the tests, which checks no signature here.
# shellcheck shell=bash disable=SC2154,SC2317,SC2329

# store FOLDER: serves it, as buckets; the address is in $url.
store() {
	local -
	set +m
	mkfifo "$work/store"
	python3 "$here/../tests/bats/lib/objects.py" "$1" --ready-fd 7 7> "$work/store" > "$work/store.log" 2>&1 &
	store_pid=$!
	read -r url < "$work/store"
	rm -f "$work/store"
}

store_down() {
	kill "$store_pid"
	wait "$store_pid" 2> /dev/null
	unset url AWS_ENDPOINT_URL_S3
}

row_far() {
	need curl 's3' || return
	local at parts
	mkdir -p "$data/store/bucket"
	[ -s "$data/store/bucket/large" ] || yes "$(printf '%01023d' 0)" | head -c 256M > "$data/store/bucket/large"
	store "$data/store"
	export AWS_ENDPOINT_URL_S3=$url
	# In the same ranges, on one connection, since this server reads all that is asked for before it sends.
	parts=()
	for ((at = 0; at < 256; at += 8)); do
		parts+=(--next -sSf -o /dev/null -r "$((at << 20))-$(((at + 8 << 20) - 1))" "$url/bucket/large")
	done
	theirs() { seconds curl "${parts[@]:1}"; }
	ours() { seconds "$bin/dsvc-run" -t none 'bytes 1Mi s3://bucket/large'; }
	row 's3: 268 MB in pieces; curl of it' 0.9 268 'MB/s' ours theirs
	ours() { seconds "$bin/dsvc-run" -t none 'lines s3://bucket/large'; }
	row '  as lines' 0.9 268 'MB/s' ours theirs
	# Two workers, each of which reads ranges of it as splits.
	up 2 1
	ours() { seconds "$bin/dsvc-read" -t count -e 'lines s3://bucket/large'; }
	row '  as lines, ranges on 2 workers' 0.9 268 'MB/s' ours theirs
	down
	store_down
}

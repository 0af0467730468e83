#!/bin/bash
# SPDX-License-Identifier: MIT
# `make bench`: each kind of work beside what a user would pick instead, measured in turn on
# this machine in this run. Ratios are yardstick time / our time, so 1 is as fast.
# usage: bench/run.sh BIN_DIR YARD_DIR [ROW...]; beside BIN_DIR lies the folder sim; BENCH_DATA names the folder for its input.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd) yard=$(cd "$2" && pwd) sim=$(cd "$1/../sim" && pwd)
shift 2
data=${BENCH_DATA:-${TMPDIR:-/tmp}/dsvc-bench-data}
work=$(mktemp -d "${TMPDIR:-/tmp}/dsvc-bench.XXXXXX")
trap 'down 2> /dev/null; unserve; rm -rf "$work"' EXIT
. "$here/lib.bash"
. "$here/durable.bash"
. "$here/images.bash"
. "$here/feed.bash"
. "$here/shards.bash"
. "$here/views.bash"
. "$here/keys.bash"
. "$here/partial.bash"
. "$here/tables.bash"
. "$here/far.bash"
"$here/data.sh" "$data"
records=$data/records.ndjson text=$data/text.log one=$data/one.bin
records_mb=$(awk -v b="$(stat -c %s "$records")" 'BEGIN { print b / 1e6 }')
text_mb=$(awk -v b="$(stat -c %s "$text")" 'BEGIN { print b / 1e6 }')

row_squares() {
	ours() { seconds "$bin/dsvc-run" -t count 'range 50_000_000 | map x*x'; }
	theirs() { own "$yard/msgpack" 50000000; }
	row 'range 50M | map x*x, dsvc-run; msgpack-c loop' 0.5 50 'M el/s' ours theirs
	floor_row '  the same, floor' 30 50 'M el/s' ours
}

row_shuffle_all() {
	ours() { seconds "$bin/dsvc-run" -t none 'range 100_000_000 | shuffle all'; }
	floor_row 'range 100M | shuffle all, floor' 30 100 'M el/s' ours
	ours() { seconds "$bin/dsvc-run" 'range 10_000_000 | shuffle all'; }
	theirs() { seconds shuf -i 0-9999999; }
	row '  10M of them as lines; shuf -i' 2 10 'M el/s' ours theirs
}

row_squares_service() {
	up 1 1
	ours() { seconds "$bin/dsvc-read" -t count -e 'range 50_000_000 | map x*x'; }
	# 10 M messages of the yardstick stand for 50 M
	theirs() { own "$yard/zmq" "ipc://$work/y" 8 10000000 && S=$(awk -v s="$S" 'BEGIN { print s * 5 }'); }
	row 'the same, 1 worker, 1 reader; zmq 8 byte' 2 50 'M el/s' ours theirs
	floor_row '  the same, floor' 15 50 'M el/s' ours
	down
}

row_mib() {
	ours() { seconds "$bin/dsvc-read" -t count -e "whole $one | repeat 4000"; }
	up 1 1
	theirs() { own "$yard/zmq" "ipc://$work/y" 1048576 4000; }
	row '1 MiB elements, ipc; zmq 1 MiB' 0.8 4.194304 'GB/s' ours theirs
	down
	up 1 1 'tcp://127.0.0.1:*' 'tcp://127.0.0.1:*'
	theirs() { own "$yard/zmq" 'tcp://127.0.0.1:*' 1048576 4000; }
	row '1 MiB elements, tcp; zmq 1 MiB' 0.8 4.194304 'GB/s' ours theirs
	down
}

# Elements read in the worker's memory beside copies of them, in turn: counted where they lie,
# and written into a pipe.
row_shared() {
	local at element way size file times gb small=$work/small.bin
	head -c 65536 "$one" > "$small"
	for at in 'tcp://127.0.0.1:*' ''; do
		way=${at%%:*} way=${way:-ipc}
		up 1 1 $at $at
		for element in "1 MiB:$one:4000:4.194304" "64 KiB:$small:64000:4.194304"; do
			IFS=: read -r size file times gb <<< "$element"
			counted() { seconds "$bin/dsvc-read" --transfer "$1" -t count -e "whole $file | repeat $times"; }
			ours() { counted shm; }
			theirs() { counted copy; }
			row "$size in shared memory; copies, $way" "$([ "$size" = '1 MiB' ] && echo 2 || echo 2.5)" "$gb" 'GB/s' ours theirs
			into_pipe() { "$bin/dsvc-read" --transfer "$1" -t msgpack -e "whole $file | repeat $times" | wc -c; }
			ours() { seconds into_pipe shm; }
			theirs() { seconds into_pipe copy; }
			row '  the same into a pipe, read by wc -c' 1.5 "$gb" 'GB/s' ours theirs
		done
		counted() { seconds "$bin/dsvc-read" --transfer "$1" -t count -e 'range 50_000_000'; }
		ours() { counted shm; }
		theirs() { counted copy; }
		row '  small elements' 0.95 50 'M el/s' ours theirs
		down
	done
}

pick='.label == "cat" and .score > 0.5'
row_ndjson() {
	need jq 'ndjson filter map' || return
	ours() { seconds "$bin/dsvc-run" "ndjson $records | filter $pick | map .id"; }
	theirs() { seconds jq -c "select($pick) | .id" "$records"; }
	row 'ndjson filter map, dsvc-run; jq -c' 15 "$records_mb" 'MB/s' ours theirs
}

row_ndjson_service() {
	need jq 'ndjson filter map, 2 workers' && need parallel 'ndjson filter map, 2 workers' || return
	up 2 1
	ours() { seconds "$bin/dsvc-read" -e "ndjson $records | filter $pick | map .id"; }
	theirs() { seconds parallel --will-cite --pipepart -a "$records" -j2 --block -1 "jq -c 'select($pick) | .id'"; }
	row 'the same, 2 workers; parallel --pipepart jq' 12 "$records_mb" 'MB/s' ours theirs
	down
}

row_grep() {
	grep -Pq '' <<< '' || { echo 'lines | filter /regex/: this grep has no -P'; return; }
	ours() { seconds "$bin/dsvc-run" -t count "lines $text | filter x ~ /ERROR.*status=50[0-4]/"; }
	theirs() { seconds grep -Pc 'ERROR.*status=50[0-4]' "$text"; }
	row 'lines | filter /regex/ of 1 GB; grep -P' 0.7 "$text_mb" 'MB/s' ours theirs
}

row_gz() {
	up 2 1
	ours() { seconds "$bin/dsvc-read" -t count -e "lines $data/gz/*.gz"; }
	zwc() { find "$data/gz" -name '*.gz' -print0 | xargs -0 -P2 -n 500 sh -c 'zcat "$@" | wc -l' sh; }
	theirs() { seconds zwc; }
	row 'lines of 1000 .gz, 2 workers; zcat|wc -P2' 1 1000 'files/s' ours theirs
	down
}

row_start() {
	need jq 'start' || return
	many() { local i; for ((i = 0; i < 50; i++)); do "$@" || return; done; }
	ours() { seconds many "$bin/dsvc-run" 'range 1'; }
	theirs() { seconds many jq -n 1; }
	row 'start: dsvc-run "range 1"; jq -n 1' 2 50 'runs/s' ours theirs
}

row_first() {
	up 1 1
	many() { local i; for ((i = 0; i < 20; i++)); do "$bin/dsvc-read" -n 1 -e 'range 1_000_000' || return; done; }
	seconds many && at_most 'first element, whole dsvc-read process' 20 "$(awk -v s="$S" 'BEGIN { print s * 1000 / 20 }')" ms
	down
}

row_memory() {
	need /usr/bin/time 'peak memory' || return
	up 1 1
	/usr/bin/time -f %M -o "$work/rss" "$bin/dsvc-read" -t count -e 'range 1_000_000_000 | map x*x' > /dev/null
	at_most 'peak memory of the reader, 1 G elements' 64 "$(awk '{ print $1 / 1024 }' "$work/rss")" MiB
	set -- $pids
	at_most 'peak memory of the worker, 1 G elements' 64 \
		"$(awk '/VmHWM/ { print $2 / 1024 }' "/proc/$2/status")" MiB
	down
}

# Made by dsvc itself, from what there is.
made() { [ -f "$data/$1" ] || { "$bin/dsvc-run" -t "$2" "$3" > "$data/$1.tmp" && mv "$data/$1.tmp" "$data/$1"; }; }
size_of() { awk -v b="$(stat -c %s "$data/$1")" -v u="$2" 'BEGIN { print b / u }'; }

row_csv() {
	need mlr 'csv to ndjson' || return
	made records.csv csv "ndjson $records | repeat 15"
	ours() { seconds sh -c '"$@" > /dev/null' sh "$bin/dsvc-run" -j 2 -t ndjson "csv $data/records.csv"; }
	theirs() { seconds sh -c '"$@" > /dev/null' sh mlr --icsv --ojsonl cat "$data/records.csv"; }
	row 'csv to ndjson, 1 GB, 2 threads; mlr' 5 "$(size_of records.csv 1e6)" 'MB/s' ours theirs
}

row_tfrecord() {
	made records.tfrecord tfrecord "bytes 10000 $text on_error=skip"
	ours() { seconds "$bin/dsvc-run" -t count "tfrecord $data/records.tfrecord"; }
	theirs() { own "$yard/crc32c" "$data/records.tfrecord"; }
	row 'tfrecord of 10 kB records; read and crc32c' 0.5 "$(size_of records.tfrecord 1e9)" 'GB/s' ours theirs
}

row_exec() {
	ours() { seconds "$bin/dsvc-run" -t count 'range 1_000_000 | exec proto=line -- cat'; }
	theirs() { own "$yard/pingpong" 100000 cat && S=$(awk -v s="$S" 'BEGIN { print s * 10 }'); }
	row 'exec proto=line cat; pipe ping-pong' 4 1 'M el/s' ours theirs
	floor_row '  the same, floor: 1 us each' 1 1 'M el/s' ours
}

# Each is given an argument, which makes `true` do more than without one.
row_spawn() {
	ours() { seconds "$bin/dsvc-run" -t none 'range 1000 | exec proto=arg -- true {}'; }
	theirs() { own "$yard/spawn" 1000 "$(type -P true)" 5; }
	row 'exec proto=arg true; posix_spawn and wait' 0.91 1000 'el/s' ours theirs
	ours() { seconds "$bin/dsvc-run" -t none 'range 1000 | exec proto=arg parallel=2 -- true {}'; }
	each() { seq 1000 | xargs -P2 -n1 true; }
	theirs() { seconds each; }
	row '  parallel=2; xargs -P2 -n1' 1 1000 'el/s' ours theirs
	need parallel '  parallel=2; GNU parallel' || return
	gnu() { seq 100 | parallel --will-cite -j2 true; }
	theirs() { seconds gnu && S=$(awk -v s="$S" 'BEGIN { print s * 10 }'); }
	row '  parallel=2; GNU parallel -j2' 1 1000 'el/s' ours theirs
}

row_parallel() {
	mapped() { seconds "$bin/dsvc-run" -t none "range 5_000_000 | map hash(replace(str(x), /([0-9])([0-9])/, \"\$2-\$1\")) parallel=$1"; }
	ours() { mapped 2; }
	theirs() { mapped 1; }
	row 'map of a regex and a hash, parallel=2; 1' 1.3 5 'M el/s' ours theirs
	inner() { seconds "$bin/dsvc-run" -t none "range 50 | interleave (range 100_000 | map hash(replace(str(x), /([0-9])([0-9])/, \"\$2-\$1\"))) block=512 parallel=$1"; }
	ours() { inner 2; }
	theirs() { inner 1; }
	row '  the same inside interleave, parallel=2; 1' 1.3 5 'M el/s' ours theirs
	trivial() { seconds "$bin/dsvc-run" -t none "range 50_000_000 | map x * 3 | filter x != 1 parallel=$1"; }
	ours() { trivial 2; }
	theirs() { trivial 1; }
	row '  a trivial filter, parallel=2; 1' 0.85 50 'M el/s' ours theirs
}

# numpy's time leaves out its start and import; ours is that of the whole process.
row_tensor() {
	local python=${PYTHON:-python3} images=$data/images.npy
	"$python" -c 'import numpy' 2> "$work/err" || { echo 'tensors: numpy is not there (PYTHON names a python that has it)'; return; }
	[ -s "$images" ] || "$python" "$here/tensor.py" make "$images" 64
	ours() { seconds "$bin/dsvc-run" -t count "npy $images | repeat 30 | map x/255.0"; }
	theirs() { own "$python" "$here/tensor.py" 30 "$images" 'x / 255.0'; }
	row 'x/255.0 of u8[224,224,3] to f64; numpy' 1 1920 'el/s' ours theirs
	ours() { seconds "$bin/dsvc-run" -t count "npy $images | repeat 30 | map cast(x, \"f32\") / 255.0"; }
	theirs() { own "$python" "$here/tensor.py" 30 "$images" 'x.astype("f4") / np.float32(255)'; }
	row '  the same by way of f32' 0.7 1920 'el/s' ours theirs
	small() { seconds "$bin/dsvc-run" -t count 'range 2_000_000 | map zeros([64], "f32") | batch 4096'; }
	floor_row '  batch 4096 of f32[64], floor' 1 2 'M el/s' small
}

[ $# -gt 0 ] || set -- squares squares_service shuffle_all mib shared rounds ndjson ndjson_service grep gz start first keys memory csv tfrecord exec spawn parallel tensor images feed state restart takeover scale simulated save shards groups partial sort tables words search far
header
for r; do "row_$r"; done
[ "$rows_missed" -eq 0 ] || echo "$rows_missed missed"
exit $((rows_missed > 0))

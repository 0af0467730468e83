#!/bin/bash
# SPDX-License-Identifier: MIT
# `make bench-peers`: the first rows of the benchmark beside tf.data service and Ray Data, in a
# throw-away virtual environment, in this run. Needs python3 with venv, and a package registry.
# usage: bench/peers.sh BIN_DIR; PEERS_VENV keeps the environment for another time.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
data=${BENCH_DATA:-${TMPDIR:-/tmp}/dsvc-bench-data}
work=$(mktemp -d "${TMPDIR:-/tmp}/dsvc-peers.XXXXXX")
trap 'down 2> /dev/null; rm -rf "$work"' EXIT
. "$here/lib.bash"
venv=${PEERS_VENV:-$work/venv}
if [ ! -x "$venv/bin/python" ]; then
	python3 -m venv "$venv" || { echo 'bench-peers: python3 with venv is needed' >&2; exit 69; }
	"$venv/bin/pip" install -q tensorflow-cpu 'ray[data]' > "$work/pip" 2>&1 ||
		{ echo 'bench-peers: tensorflow-cpu and ray cannot be installed:' >&2; tail -n 5 "$work/pip" >&2; exit 69; }
fi
mkdir -p "$data"
one=$data/one.bin
[ -f "$one" ] || head -c 1048576 /dev/urandom > "$one"

for peer in 'tf squares' 'tf squares_batched' 'tf mib' ray; do
	# shellcheck disable=SC2086
	TF_CPP_MIN_LOG_LEVEL=3 timeout 120 "$venv/bin/python" "$here/peers.py" $peer "$one" 2> "$work/err" >> "$work/rates" ||
		{ echo "bench-peers: $peer failed:" >&2; tail -n 3 "$work/err" >&2; }
done

best() { local i; for ((i = 0; i < ROUNDS; i++)); do "$@" && echo "$S"; done | median; }
up 1 1
local_run=$(best seconds "$bin/dsvc-run" -t count 'range 50_000_000 | map x*x')
served=$(best seconds "$bin/dsvc-read" -t count -e 'range 50_000_000 | map x*x')
mib=$(best seconds "$bin/dsvc-read" -t count -e "whole $one | repeat 4000")
down

awk -v l="$local_run" -v s="$served" -v m="$mib" '
	BEGIN {
		ours["squares"] = 5e7 / s; ours["squares_batched"] = 5e7 / s; ours["mib"] = 4000 * 1048576 / m
		want["tf_squares"] = 1000; want["tf_squares_batched"] = 4; want["tf_mib"] = 2
		printf "dsvc-run alone: %.1f M el/s\n%-22s %14s %14s %10s %8s\n", 50 / l, "peer", "peer per s", "dsvc per s", "ratio", "wanted"
	}
	{
		what = $1; sub(/^[a-z]+_/, "", what); r = ours[what] / $2
		printf "%-22s %14.4g %14.4g %10.1f %8s  %s\n", $1, $2, ours[what], r, want[$1],
			($1 in want) ? (r >= want[$1] ? "reached" : "MISSED") : ""
		if (($1 in want) && r < want[$1]) missed++
	}
	END { exit missed > 0 }' "$work/rates"

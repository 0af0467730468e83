# SPDX-License-Identifier: MIT
# What the benchmarks share: timing whole commands in pairs, and the table.
# shellcheck shell=bash

ROUNDS=${ROUNDS:-3}
rows_missed=0 pids=

# seconds CMD...: runs it, sets S to its wall time; its stdout goes to $sink, or else to $work/out.
seconds() {
	local t0=$EPOCHREALTIME
	"$@" > "${sink:-$work/out}" 2> "$work/err" || {
		echo "bench: failed: $*" >&2
		cat "$work/err" >&2
		S=0
		return 1
	}
	local t1=$EPOCHREALTIME
	S=$(awk -v a="$t0" -v b="$t1" 'BEGIN { printf "%.6f", b - a }')
}

# own CMD...: for yardsticks that print their own seconds as the first word.
own() {
	"$@" > "${sink:-$work/out}" 2> "$work/err" || { cat "$work/err" >&2; S=0; return 1; }
	read -r S _ < "$work/out"
}

# calmly: what stands before a command to run it at real-time priority, where that is allowed: for short runs that
# would else be told by what other work they waited for.
calmly=()
chrt -f 10 true 2> /dev/null && calmly=(chrt -f 10)

# need PROGRAM ROW: whether the yardstick is there; if not, a line says so.
need() {
	type -P "$1" > /dev/null && return
	printf '%-44s there is no %s here\n' "$2" "$1"
	return 1
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# more I SINCE: whether to measure another pair after I of them, the first of which began when
# SECONDS was SINCE: ROUNDS, and up to three times as many while that takes no longer than ten
# seconds, for the shorter a run is the more it is disturbed.
more() { [ "$1" -lt "$ROUNDS" ] || { [ "$1" -lt $((ROUNDS * 3)) ] && [ $((SECONDS - $2)) -lt 10 ]; }; }

# row NAME WANTED AMOUNT UNIT OURS YARD: OURS and YARD are functions that set S. They run in
# turn, several times; the ratio yard/ours is taken pair by pair, and its median is shown
# beside the ratio that is wanted, with the rate of each in UNIT (AMOUNT of work / seconds).
row() {
	local name=$1 wanted=$2 amount=$3 unit=$4 ours=$5 other=$6 i=0 a b since=$SECONDS
	: > "$work/a"; : > "$work/b"; : > "$work/r"
	while more "$i" "$since"; do
		i=$((i + 1))
		"$ours" || { printf '%-44s failed\n' "$name"; rows_missed=$((rows_missed + 1)); return 0; }
		a=$S
		"$other" || { printf '%-44s no yardstick\n' "$name"; return 0; }
		b=$S
		echo "$a" >> "$work/a"; echo "$b" >> "$work/b"
		awk -v a="$a" -v b="$b" 'BEGIN { print b / a }' >> "$work/r"
	done
	a=$(median < "$work/a"); b=$(median < "$work/b")
	awk -v n="$name" -v w="$wanted" -v m="$amount" -v u="$unit" -v a="$a" -v b="$b" -v r="$(median < "$work/r")" 'BEGIN {
		printf "%-44s %10.2f %10.2f %-7s %8.2f %8.2f  %s\n", n, m / a, m / b, u, r, w, (r >= w ? "reached" : "MISSED")
		exit (r < w) }' || rows_missed=$((rows_missed + 1))
}

# floor NAME WANTED AMOUNT UNIT OURS: an absolute rate, in the same table.
floor_row() {
	local name=$1 wanted=$2 amount=$3 unit=$4 ours=$5 i
	: > "$work/a"
	for ((i = 0; i < ROUNDS; i++)); do
		"$ours" || { printf '%-44s failed\n' "$name"; rows_missed=$((rows_missed + 1)); return 0; }
		echo "$S" >> "$work/a"
	done
	awk -v n="$name" -v w="$wanted" -v m="$amount" -v u="$unit" -v a="$(median < "$work/a")" 'BEGIN {
		r = m / a
		printf "%-44s %10.2f %10s %-7s %8s %8s  %s\n", n, r, "-", u, "-", w, (r >= w ? "reached" : "MISSED")
		exit (r < w) }' || rows_missed=$((rows_missed + 1))
}

# at_most NAME WANTED VALUE UNIT
at_most() {
	awk -v n="$1" -v w="$2" -v v="$3" -v u="$4" 'BEGIN {
		printf "%-44s %10.2f %10s %-7s %8s %8s  %s\n", n, v, "-", u, "-", "<=" w, (v <= w ? "reached" : "MISSED")
		exit (v > w) }' || rows_missed=$((rows_missed + 1))
}

# extra NAME WANTED OURS YARD: the milliseconds that OURS takes more than YARD, the median of pairs.
extra() {
	local name=$1 wanted=$2 ours=$3 other=$4 i a
	: > "$work/a"
	for ((i = 0; i < 3 * ROUNDS; i++)); do
		"$ours" || { printf '%-44s failed\n' "$name"; rows_missed=$((rows_missed + 1)); return 0; }
		a=$S
		"$other" || { printf '%-44s no yardstick\n' "$name"; return 0; }
		awk -v a="$a" -v b="$S" 'BEGIN { print 1000 * (a - b) }' >> "$work/a"
	done
	at_most "$name" "$wanted" "$(median < "$work/a")" ms
}

header() {
	printf '%-44s %10s %10s %-7s %8s %8s\n' "work" "ours" "yardstick" "unit" "ratio" "wanted"
}

# up N SLOTS [ENDPOINT [WORKER_ENDPOINT]]: a private service of N workers; stopped by down.
up() {
	local n=$1 slots=$2 i ep=${3:-ipc://$work/d} wep=${4:-}
	mkfifo "$work/hold"
	exec 8<> "$work/hold"
	insecure=(); [[ $ep == tcp:* ]] && insecure=(--insecure)
	"$bin/dsvc-dispatch" -q "${insecure[@]}" -b "$ep" --ready-file "$work/ready.d" --until-stdin-eof <&8 &
	pids=$!
	until [ -s "$work/ready.d" ]; do :; done
	DSVC_DISPATCHER=$(head -n 1 "$work/ready.d"); export DSVC_DISPATCHER
	for ((i = 0; i < n; i++)); do
		"$bin/dsvc-work" -q "${insecure[@]}" -j "$slots" --allow-read / --allow-exec any ${wep:+-b "$wep"} --ready-file "$work/ready.w$i" <&8 &
		pids="$pids $!"
	done
	for ((i = 0; i < n; i++)); do until [ -s "$work/ready.w$i" ]; do :; done; done
}

down() {
	# shellcheck disable=SC2086
	kill $pids 2> /dev/null
	wait $pids 2> /dev/null
	exec 8>&-
	rm -f "$work"/ready.* "$work/hold"
	unset DSVC_DISPATCHER
}

# bench_python PACKAGE...: prints a python that has these, as far as they can be installed; in a throw-away
# environment, or the one that BENCH_VENV names. Rows of what it has not are left out.
bench_python() {
	local venv=${BENCH_VENV:-$work/venv} package
	if [ ! -x "$venv/bin/python" ] && ! python3 -m venv "$venv" > "$work/venv.log" 2>&1; then
		echo 'bench: no python3 with venv for an environment of its own' >&2
		echo /usr/bin/python3
		return
	fi
	for package; do
		timeout 900 "$venv/bin/pip" install -q "$package" > "$work/pip" 2>&1 || echo "bench: $package cannot be installed" >&2
	done
	echo "$venv/bin/python"
}

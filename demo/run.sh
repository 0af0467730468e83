#!/bin/bash
# SPDX-License-Identifier: MIT
# `make demo`: which urgencies do the changelogs of this machine name most often? Asked
# of thousands of compressed files, first in one process, then of a service with a
# dispatcher and two workers. The programs are found in PATH.
set -u
docs=${DSVC_DEMO_DOCS:-/usr/share/doc}
spec="lines '$docs/**/changelog*' on_error=skip | filter x ~ /; urgency=/ | map lower(captures(x, /urgency=([a-zA-Z]+)/)[0])"
work=$(mktemp -d "${TMPDIR:-/tmp}/dsvc-demo.XXXXXX") || exit
trap 'kill $pids 2> /dev/null; wait 2> /dev/null; rm -rf "$work"' EXIT
pids=

n=$(find "$docs" -name 'changelog*' 2> /dev/null | wc -l)
if [ "$n" -eq 0 ]; then
	echo "demo: no changelogs under $docs; set DSVC_DEMO_DOCS to a folder that has some" >&2
	exit 66
fi

# timed COMMAND...: its elements counted by value, and how long it took.
timed() {
	local t0=$EPOCHREALTIME
	"$@" > "$work/elements" || exit
	local t1=$EPOCHREALTIME
	sort "$work/elements" | uniq -c | sort -rn > "$work/answer"
	head -n 5 "$work/answer"
	awk -v a="$t0" -v b="$t1" -v n="$(wc -l < "$work/elements")" \
		'BEGIN { printf "  %d entries in %.2f s\n", n, b - a }'
}

echo "urgencies in the $n changelogs under $docs, most frequent first"
echo
echo "1. one process:  dsvc-run SPEC"
timed dsvc-run "$spec"
cp "$work/answer" "$work/first"

echo
echo "2. a dispatcher and two workers:  dsvc-read -e SPEC"
mkfifo "$work/ready"
export DSVC_DISPATCHER=ipc://$work/dispatcher
exec 7<> "$work/ready"
dsvc-dispatch -q -b "$DSVC_DISPATCHER" --ready-file "$work/up" & pids=$!
dsvc-work -q -j 1 --ready-fd 7 & pids="$pids $!"
dsvc-work -q -j 1 --ready-fd 7 & pids="$pids $!"
read -r -t 10 _ <&7 && read -r -t 10 _ <&7 || { echo 'demo: the workers did not get ready' >&2; exit 69; }
timed dsvc-read -e "$spec"

echo
if cmp -s "$work/first" "$work/answer"; then
	echo "the same answer twice"
else
	echo "demo: the answers differ" >&2
	diff "$work/first" "$work/answer" >&2
	exit 70
fi

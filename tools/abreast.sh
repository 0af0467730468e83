#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a suite's script once for each file, JOBS at a time, and adds the counts.
#   abreast.sh SUITE SCRIPT FILE...
# Each run is told its own TALLY and prints only what failed.
set -u
suite=$1 script=$2
shift 2
export TALLY_OF=$B/$suite.tallies SCRIPT=$script
rm -rf "$TALLY_OF"
mkdir -p "$TALLY_OF"
one() {
	local mine=$TALLY_OF/${1//\//_}
	TALLY=$mine TALLY_QUIET=1 bash "$SCRIPT" "$1" >"$mine.said" 2>&1
	[[ -s $mine ]] || echo "$1 0 1" >"$mine"
	# In one write, so that what two runs say is not mixed.
	[[ -s $mine.said ]] && cat "$mine.said"
	:
}
export -f one
printf '%s\n' "$@" | xargs -r -P "${JOBS:-2}" -I{} bash -c 'one {}'
read -r passed failed < <(find "$TALLY_OF" -type f ! -name '*.said' -exec cat {} + | awk '{p += $2; f += $3} END {print p + 0, f + 0}')
bash tools/tally.sh add "$suite" "$passed" "$failed"

#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs suites (`check-NAME` of the Makefile) one after the other, whatever
# becomes of each, and ends with the total. A suite that fails without having
# counted anything (it did not build) is one failure.
# B, MAKE and JOBS come from the Makefile; a TALLY that is set is added to.
set -u
cd "$(dirname "$0")/.." || exit
mkdir -p "$B"
own=$B/tally
: >"$own"
outer=${TALLY-}
export TALLY=$own

$MAKE --no-print-directory -s -k -j"$JOBS" build-check
for suite; do
	before=$(wc -l <"$own")
	target=check-$suite
	[[ $suite == lint ]] && target=lint
	echo "== $suite"
	if ! $MAKE --no-print-directory -s "$target" && [[ $(wc -l <"$own") == "$before" ]]; then
		bash tools/tally.sh add "$suite" 0 1
	fi
done
kind=${B##*/} # build, asan, ubsan, tsan
[[ $kind == build ]] && kind= || kind+=/
[[ $outer ]] && sed "s,^,$kind," "$own" >>"$outer"
bash tools/tally.sh sum "$own"

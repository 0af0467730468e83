#!/bin/bash
# SPDX-License-Identifier: MIT
# Counts of passed and failed tests over several suites.
#   tally.sh add NAME PASSED FAILED   says it, and adds it to the file $TALLY
#   tally.sh sum FILE                 one line; fails when anything failed
set -u
case $1 in
add)
	printf '%s: %d passed, %d failed\n' "$2" "$3" "$4"
	[[ ${TALLY-} ]] && printf '%s %d %d\n' "$2" "$3" "$4" >>"$TALLY"
	(($4 == 0))
	;;
sum)
	passed=0 failed=0
	while read -r _ p f; do
		passed=$((passed + p)) failed=$((failed + f))
	done <"$2"
	printf '%d passed, %d failed\n' "$passed" "$failed"
	((failed == 0 && passed > 0))
	;;
esac

#!/bin/bash
# SPDX-License-Identifier: MIT
# Counts of passed and failed tests over several suites.
#   tally.sh add NAME PASSED FAILED   says it, and adds it to the file $TALLY
#   (only the latter with TALLY_QUIET)
#   tally.sh sum FILE                 what ran, then the total in one line; fails when
#                                     anything failed
set -u
case $1 in
add)
	[[ ${TALLY_QUIET-} ]] || printf '%s: %d passed, %d failed\n' "$2" "$3" "$4"
	[[ ${TALLY-} ]] && printf '%s %d %d\n' "$2" "$3" "$4" >>"$TALLY"
	(($4 == 0))
	;;
sum)
	passed=0 failed=0 ran=
	while read -r name p f; do
		passed=$((passed + p)) failed=$((failed + f))
		ran+="${ran:+, }$name $((p + f))"
		((f)) && ran+=" ($f failed)"
	done <"$2"
	printf 'ran: %s\n' "${ran:-nothing}"
	printf '%d passed, %d failed\n' "$passed" "$failed"
	((failed == 0 && passed > 0))
	;;
esac

#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiles each header alone: what it needs, it includes. CC, FLAGS and JOBS
# come from the Makefile; operands are the headers.
set -u
cd "$(dirname "$0")/.." || exit
one() {
	# Twice: the guard is there too. Through a file given by name, or the
	# compiler warns about a `#pragma once` or a guard in a main file.
	# shellcheck disable=SC2086
	printf '#include "%s"\n#include "%s"\n' "${1#lib/}" "${1#lib/}" |
		$CC $FLAGS -x c -fsyntax-only - && echo "ok $1" || echo "not ok $1"
}
export -f one
export CC FLAGS
out=$(printf '%s\n' "$@" | xargs -r -P "${JOBS:-2}" -I{} bash -c 'one {}' 2>&1)
grep -v '^ok ' <<<"$out"
bash tools/tally.sh add hdr "$(grep -c '^ok ' <<<"$out")" "$(grep -c '^not ok ' <<<"$out")"

#!/bin/bash
# SPDX-License-Identifier: MIT
# Every script through shellcheck, every page through mandoc, the limits of size, comments.
# Each file is one test. A tool that is not installed is a failure, not a skip.
set -u
cd "$(dirname "$0")/.." || exit
passed=0 failed=0
try() {
	if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
# Advice below a warning is taste. What a test library sets, its users read.
check() { shellcheck -x -P SCRIPTDIR -S warning "$@"; }
while IFS= read -r -d '' f; do
	case $f in
	*.bats) try check -s bats -e SC2154,SC2034 "$f" ;;
	*.bash) try check -s bash -e SC2034,SC2154 "$f" ;;
	*.sh) try check -s bash "$f" ;;
	*) head -c 15 "$f" | grep -Eq '^#!.*(bash|/sh)' && try check "$f" ;;
	esac
done < <(find tools tests demo bench .ci engines debian \( -name '*.sh' -o -name '*.bats' -o -name 'run*' \
	-o -name '*.bash' -o -name '*.sbatch' -o -path 'debian/tests/*' \) -type f -print0 2>/dev/null | sort -z)
manual() {
	# STYLE messages about the operating system and dates are taste.
	local out
	out=$(mandoc -Tlint -W warning "$1") && return
	printf '%s\n' "$out"
	return 1
}
for f in man/*.[1-8]; do
	[[ -e $f ]] && try manual "$f"
done
try bash tools/check-sizes.sh --check
try bash tools/check-comments.sh --check
try bash tools/check-gate.sh
bash tools/tally.sh add lint "$passed" "$failed"

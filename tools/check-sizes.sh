#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints the ten largest files and functions. With --check: fails on a file of
# more than 600 lines, a function of more than 80 or a main.c of more than 150,
# unless its head comment or the line above the function says `size:` and why,
# and on a line of more than 120 characters, a tab being one.
set -u
cd "$(dirname "$0")/.." || exit
files=$(find lib cmd tests -name '*.[ch]' -o -name '*.cc' | sort)
functions() { # LINES FILE:LINE NAME, "why" when excused
	# shellcheck disable=SC2086 # names of files are plain here
	# A definition opens with { in the first column and closes with } there.
	awk 'FNR == 1 { start = 0; prev = ""; why = "" }
	/size:/ { why = "why" }
	/^\{/ { start = FNR; name = prev }
	/^\}/ && start { print FNR - start + 1, FILENAME ":" start, name, why; start = 0; why = "" }
	/^[a-z_].*\(/ { prev = $1; sub(/\(.*/, "", prev); if (prev ~ /^(static|const|int)$/) prev = $2 }
	' $files
}
lines() { for f in $files; do echo "$(wc -l <"$f") $f"; done | sort -rn; }

if [[ ${1-} != --check ]]; then
	lines | head -10
	echo
	functions | sort -rn | head -10
	exit
fi
bad=0
while read -r n f; do
	limit=600
	[[ $f == cmd/*/main.c ]] && limit=150
	((n <= limit)) && break
	head -20 "$f" | grep -q 'size:' && continue
	echo "$f: $n lines, the limit is $limit"
	bad=1
done < <(lines)
for f in cmd/*/main.c; do
	[[ -e $f ]] && (($(wc -l <"$f") > 150)) && { echo "$f: more than 150 lines"; bad=1; }
done
while read -r n place name why; do
	((n <= 80)) || [[ $why ]] || { echo "$place: $name has $n lines, the limit is 80"; bad=1; }
done < <(functions)
# shellcheck disable=SC2086
awk 'length > 120 { print FILENAME ":" FNR ": " length " characters, the limit is 120"; n = 1 } END { exit n }' $files ||
	bad=1
exit $bad

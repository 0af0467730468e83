#!/bin/bash
# SPDX-License-Identifier: MIT
# embed.sh LIST FILE...: a C header with the bytes of each file, and the macro LIST(F), which is F(NAME, ARRAY) for each.
set -eu
list=$1
shift
echo "/* the files of ${1%/*}, by tools/embed.sh */"
i=0 rows=
for f; do
	printf 'static const unsigned char %s_%d[] = {\n' "${list,,}" "$i"
	od -An -v -tu1 "$f" | sed 's/[0-9]\+/&,/g'
	echo '};'
	rows+=" F(\"${f##*/}\", ${list,,}_$i)"
	i=$((i + 1))
done
echo "#define $list(F)$rows"

#!/bin/bash
# SPDX-License-Identifier: MIT
# The tracked files as $B/dsvc-VERSION.tar.gz, with its SHA-256 beside it. The same files give the same bytes, whoever
# packs them and when: names are sorted, and times, owners and modes are told, not taken from the disk.
set -eu
cd "$(dirname "$0")/.."
git rev-parse --git-dir >/dev/null 2>&1 || { echo 'dist.sh: only in a clone, which knows what belongs to the sources' >&2; exit 1; }
[[ ! $(git status --porcelain -uno) ]] || echo 'dist.sh: with changes that are not committed' >&2
name=dsvc-$(<VERSION)
to=$B/$name.tar.gz
mkdir -p "$B"
git ls-files -z | while IFS= read -r -d '' f; do [[ -e $f || -L $f ]] && printf '%s\0' "$f"; done |
	LC_ALL=C sort -z |
	tar --null --no-recursion -T - -c --format=ustar --transform "s,^,$name/,SH" --owner=0 --group=0 --numeric-owner \
		--mode='u=rwX,go=rX' --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" |
	gzip -n9 >"$to.new"
mv "$to.new" "$to"
(cd "$B" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")

#!/bin/bash
# SPDX-License-Identifier: MIT
# install.sh install|uninstall PROGRAM...: with B set, and DESTDIR, prefix and the folders below if others are wanted.
# Both walk the same list, so that one removes exactly what the other put.
set -eu
cd "$(dirname "$0")/.."
what=$1
shift
version=$(<VERSION)
prefix=${prefix:-${PREFIX:-/usr/local}}
bindir=${bindir:-$prefix/bin}
libdir=${libdir:-$prefix/lib}
includedir=${includedir:-$prefix/include}
datadir=${datadir:-$prefix/share}
mandir=${mandir:-$datadir/man}
docdir=${docdir:-$datadir/doc/dsvc}
pythondir=${pythondir:-$prefix/lib/python3/dist-packages}
unitdir=${unitdir:-$prefix/lib/systemd/system}
sysusersdir=${sysusersdir:-$prefix/lib/sysusers.d}
tmpfilesdir=${tmpfilesdir:-$prefix/lib/tmpfiles.d}

place() { # MODE FILE WHERE
	if [[ $what == install ]]; then
		install -D -m "$1" "$2" "${DESTDIR-}$3"
	else
		rm -f "${DESTDIR-}$3"
	fi
}
point() { # LINK TARGET
	if [[ $what == install ]]; then ln -sf "$2" "${DESTDIR-}$1"; else rm -f "${DESTDIR-}$1"; fi
}
# Those that are empty, up to the prefix.
leave() { # FOLDER...
	local d
	[[ $what == uninstall ]] || return 0
	for d; do
		while [[ $d == "$prefix"/?* || $d == */dsvc* ]] && rmdir "${DESTDIR-}$d" 2>/dev/null; do d=${d%/*}; done
	done
}
relative() { realpath -m -s --relative-to="$1" "$2"; } # FOLDER FILE

for p; do
	place 755 "$B/bin/$p" "$bindir/$p"
done
# The plugin, and Arrow's libraries where they are not the system's.
for f in "$B"/lib/dsvc/*.so "$B"/lib/dsvc/*.so.*; do
	[[ -e $f ]] && place 755 "$f" "$libdir/dsvc/${f##*/}"
done
mkdir -p "$B/install"
for f in man/*.[1-8]; do
	sed "s/^\.Os\$/.Os dsvc $version/" "$f" >"$B/install/${f##*/}"
	place 644 "$B/install/${f##*/}" "$mandir/man${f##*.}/${f##*/}"
done
for f in python/dsvc/*.py python/dsvc/py.typed; do
	place 644 "$f" "$pythondir/dsvc/${f##*/}"
done
# So that importlib.metadata and pip know of it.
printf '%s\n' 'Metadata-Version: 2.1' 'Name: dsvc' "Version: $version" >"$B/install/METADATA"
place 644 "$B/install/METADATA" "$pythondir/dsvc-$version.dist-info/METADATA"
printf '%s\n' "prefix=$prefix" "includedir=$includedir" "libdir=$libdir" 'Name: dsvc-feed' \
	'Description: the consumers of dsvc-feed' "Version: $version" \
	"Cflags: -I\${includedir}" "Libs: -L\${libdir} -ldsvcfeed" >"$B/install/dsvc-feed.pc"
place 644 client/dsvc_feed.h "$includedir/dsvc_feed.h"
place 644 "$B/libdsvcfeed.a" "$libdir/libdsvcfeed.a"
place 644 "$B/install/dsvc-feed.pc" "$libdir/pkgconfig/dsvc-feed.pc"
for f in pipelines/*.dsvc; do
	[[ -e $f ]] && place 644 "$f" "$datadir/dsvc/$f"
done
# The programs and the data that the tests of the pipelines use are found beside them.
for f in pipelines/programs/* pipelines/data/* pipelines/data/*/* pipelines/data/*/*/*; do
	[[ -d $f ]] && continue
	[[ -x $f ]] && mode=755 || mode=644
	place "$mode" "$f" "$datadir/dsvc/$f"
done
# The same tree as in the source, so that links between the pages hold.
for f in README.md LICENSE doc/*.md examples/*.py python/README.md; do
	place 644 "$f" "$docdir/$f"
done
for f in pipelines engines; do
	point "$docdir/$f" "$(relative "$docdir" "$datadir/dsvc/$f")"
done
while IFS= read -r f; do
	[[ -x $f ]] && mode=755 || mode=644
	place "$mode" "$f" "$datadir/dsvc/$f"
done < <(find engines -type f | LC_ALL=C sort)
for f in engines/systemd/*.service; do
	sed "s,/usr/bin/dsvc,$bindir/dsvc," "$f" >"$B/install/${f##*/}"
	place 644 "$B/install/${f##*/}" "$unitdir/${f##*/}"
done
place 644 engines/systemd/sysusers.conf "$sysusersdir/dsvc.conf"
place 644 engines/systemd/tmpfiles.conf "$tmpfilesdir/dsvc.conf"
# Completions are looked up by the name of the program: one file, many names.
if [[ -e completions/dsvc.bash ]]; then
	place 644 completions/dsvc.bash "$datadir/bash-completion/completions/dsvc"
	place 644 completions/_dsvc "$datadir/zsh/site-functions/_dsvc"
	place 644 completions/dsvc.fish "$datadir/fish/vendor_completions.d/dsvc.fish"
	for p; do
		[[ $p == dsvc ]] && continue
		point "$datadir/bash-completion/completions/$p" dsvc
		point "$datadir/fish/vendor_completions.d/$p.fish" dsvc.fish
	done
fi
while IFS= read -r f; do
	leave "$datadir/dsvc/$f"
done < <(find engines pipelines -type d | LC_ALL=C sort -r)
leave "$unitdir" "$sysusersdir" "$tmpfilesdir" "$libdir/pkgconfig" "$libdir/dsvc" "$pythondir"/dsvc{,-"$version".dist-info} "$includedir" "$docdir"/{doc,examples,python}

#!/bin/bash
# SPDX-License-Identifier: MIT
# install.sh install|uninstall PROGRAM...: with B, DESTDIR and PREFIX set.
# Both walk the same list, so that one removes exactly what the other put.
set -eu
cd "$(dirname "$0")/.."
what=$1
shift
to=$DESTDIR$PREFIX

place() { # MODE FILE WHERE
	if [[ $what == install ]]; then
		install -D -m "$1" "$2" "$to/$3"
	else
		rm -f "$to/$3"
	fi
}
point() { # LINK TARGET
	if [[ $what == install ]]; then ln -sf "$2" "$to/$1"; else rm -f "$to/$1"; fi
}

for p; do
	place 755 "$B/bin/$p" "bin/$p"
done
for f in man/*.[1-8]; do
	[[ -e $f ]] && place 644 "$f" "share/man/man${f##*.}/${f##*/}"
done
for f in python/dsvc/*.py python/dsvc/py.typed; do
	place 644 "$f" "lib/python3/dist-packages/dsvc/${f##*/}"
done
printf '%s\n' "prefix=$PREFIX" 'Name: dsvc-feed' 'Description: the consumers of dsvc-feed' 'Version: 0.1.0' \
	"Cflags: -I\${prefix}/include" "Libs: -L\${prefix}/lib -ldsvcfeed" >"$B/dsvc-feed.pc"
place 644 client/dsvc_feed.h include/dsvc_feed.h
place 644 "$B/libdsvcfeed.a" lib/libdsvcfeed.a
place 644 "$B/dsvc-feed.pc" lib/pkgconfig/dsvc-feed.pc
for f in pipelines/*.dsvc; do
	[[ -e $f ]] && place 644 "$f" "share/dsvc/$f"
done
# The programs and the data that the tests of the pipelines use are found beside them.
for f in pipelines/programs/* pipelines/data/* pipelines/data/*/* pipelines/data/*/*/*; do
	[[ -d $f ]] && continue
	[[ -x $f ]] && mode=755 || mode=644
	place "$mode" "$f" "share/dsvc/$f"
done
# The same tree as in the source, so that links between the pages hold.
for f in README.md LICENSE doc/*.md examples/*.py python/README.md; do
	place 644 "$f" "share/doc/dsvc/$f"
done
point share/doc/dsvc/pipelines ../../dsvc/pipelines
for f in engines/README engines/*/*; do
	[[ -x $f ]] && mode=755 || mode=644
	place "$mode" "$f" "share/dsvc/$f"
done
# Completions are looked up by the name of the program: one file, many names.
if [[ -e completions/dsvc.bash ]]; then
	place 644 completions/dsvc.bash share/bash-completion/completions/dsvc
	place 644 completions/_dsvc share/zsh/site-functions/_dsvc
	place 644 completions/dsvc.fish share/fish/vendor_completions.d/dsvc.fish
	for p; do
		point "share/bash-completion/completions/$p" dsvc
		point "share/fish/vendor_completions.d/$p.fish" dsvc.fish
	done
fi
if [[ $what == uninstall ]]; then
	rmdir "$to/lib/pkgconfig" 2>/dev/null || true
	rmdir -p "$to/lib/python3/dist-packages/dsvc" 2>/dev/null || true
	rmdir -p "$to/include" 2>/dev/null || true
	rmdir "$to"/share/dsvc/engines/{slurm,ssh,prometheus} "$to/share/dsvc/engines" 2>/dev/null || true
	rmdir "$to"/share/dsvc/pipelines/{programs,data/imgs,data/train/cat,data/train/dog,data/train,data} 2>/dev/null || true
	rmdir -p "$to/share/dsvc/pipelines" 2>/dev/null || true
	rmdir "$to"/share/doc/dsvc/{doc,examples,python} 2>/dev/null || true
	rmdir -p "$to/share/doc/dsvc" 2>/dev/null || true
fi

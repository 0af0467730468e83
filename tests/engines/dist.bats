#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What `make dist` packs, and the version of everything.

load ../bats/lib/dsvc

top=$BATS_TEST_DIRNAME/../..

dist() { (cd "$top" && B=$1 bash tools/dist.sh); }

@test "make dist packs the same bytes each time, and all that is tracked" {
	local a=$BATS_TEST_TMPDIR/a b=$BATS_TEST_TMPDIR/b
	git -C "$top" rev-parse --git-dir >/dev/null 2>&1 || skip 'not a clone'
	run -0 dist "$a"
	TZ=Asia/Tokyo LC_ALL=C.UTF-8 umask 077
	run -0 dist "$b"
	umask 022
	cmp "$a"/*.tar.gz "$b"/*.tar.gz
	(cd "$a" && sha256sum -c --quiet ./*.sha256)
	tar tzf "$a"/dsvc-*.tar.gz >"$a/names"
	[[ $(head -n 1 "$a/names") == "dsvc-$(<"$top/VERSION")"/* ]]
	[[ $(sed 's,^[^/]*/,,' "$a/names") == "$(cd "$top" && git ls-files | LC_ALL=C sort)" ]]
}

@test "one version: of the file, the programs, the pages, the module, the client and the package" {
	local version
	version=$(<"$top/VERSION")
	run -0 dsvc-run --version
	[[ ${lines[0]} == "dsvc-run (dsvc) $version" ]]
	cd "$top" || return
	DESTDIR=$BATS_TEST_TMPDIR/to prefix=/opt mandir=/man libdir=/opt/lib64 bash tools/install.sh install dsvc-run
	grep -q "^\.Os dsvc $version\$" "$BATS_TEST_TMPDIR/to/man/man1/dsvc-run.1"
	grep -q "^Version: $version\$" "$BATS_TEST_TMPDIR/to/opt/lib64/pkgconfig/dsvc-feed.pc"
	grep -q '^libdir=/opt/lib64$' "$BATS_TEST_TMPDIR/to/opt/lib64/pkgconfig/dsvc-feed.pc"
	grep -q '^ExecStart=/opt/bin/dsvc-work ' "$BATS_TEST_TMPDIR/to/opt/lib/systemd/system/dsvc-work@.service"
	run -0 env PYTHONPATH="$BATS_TEST_TMPDIR/to/opt/lib/python3/dist-packages" python3 -c \
		'import importlib.metadata as m; print(m.version("dsvc"))'
	[[ $output == "$version" ]]
	DESTDIR=$BATS_TEST_TMPDIR/to prefix=/opt mandir=/man libdir=/opt/lib64 bash tools/install.sh uninstall dsvc-run
	[[ ! $(find "$BATS_TEST_TMPDIR/to" -type f -o -type l) && ! -e $BATS_TEST_TMPDIR/to/opt/lib ]]
	[[ $(head -n 1 debian/changelog) == "dsvc ($version-"* ]]
	# where the module is built alone
	[[ $(<python/VERSION) == "$version" ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# debian/: what `make dist` packs is built to packages, which lintian has nothing against and which are installed on a
# copy of this machine, booted by systemd for the package's own test. Needs root.

load lib/cluster
load lib/boot

top=$BATS_TEST_DIRNAME/../..

setup() { dsvc_setup; }
teardown() {
	root_down
	dsvc_teardown
}

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

@test "the packages are built, are as Debian wants them, and work where they are installed" {
	root_needs
	local program
	for program in dpkg-buildpackage dh lintian dh_python3; do
		type -P "$program" >/dev/null || skip "needs $program (make check-engines installs it)"
	done
	git -C "$top" rev-parse --git-dir >/dev/null 2>&1 || skip 'not a clone'
	cd "$BATS_TEST_TMPDIR" || return
	dist "$PWD"
	tar xzf dsvc-*.tar.gz
	cd dsvc-*/ || return
	# What was compiled before is not compiled again, where there is ccache. Optimised less than for Debian, and without
	# what debuggers read, so that it takes a few minutes; all other flags, those that harden among them, are Debian's.
	unset B
	PATH=/usr/lib/ccache:$PATH DEB_CFLAGS_STRIP=-g DEB_CFLAGS_APPEND=-O1 \
		DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" \
		within 1500s dpkg-buildpackage -b -us -uc >../build.log 2>&1 3>&- || { tail -n 30 ../build.log; false; }
	cd .. || return
	run -0 lintian --allow-root --fail-on error,warning ./*.changes
	# Hardened: some call of libc is checked.
	dpkg -x dsvc_*.deb files
	# In two steps: grep -q would end before readelf does, which then fails.
	run -0 readelf -Ws files/usr/bin/dsvc-dispatch
	[[ $output == *_chk@* ]]
	run -0 readelf -Wd files/usr/bin/dsvc-dispatch
	[[ $output == *BIND_NOW* ]]
	root_up
	cp ./dsvc_*.deb ./python3-dsvc_*.deb ./libdsvcfeed-dev_*.deb "$layer/root"
	in_root bash -c 'dpkg -i --force-confold /root/*.deb' >install.log 2>&1 || { cat install.log; false; }
	run -0 in_root env PATH=/usr/bin:/bin dsvc-run 'range 10 | map x*x | batch 4'
	[[ $output == '[0,1,4,9]'*'[64,81]' ]]
	run -0 in_root env PATH=/usr/bin:/bin bash -c 'cd / && python3 -c "import dsvc; print(*dsvc.run(\"range 3\"))" && id -un dsvc &&
		pkg-config --modversion dsvc-feed && systemctl is-enabled dsvc-dispatch || :'
	[[ $output == $'0 1 2\ndsvc\n'"$(<"$top/VERSION")"$'\ndisabled' ]]
	type -P systemd-nspawn >/dev/null || return 0
	boot "$top/debian/tests/systemd"
}

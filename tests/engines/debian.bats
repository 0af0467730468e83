#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bats file_tags=long
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

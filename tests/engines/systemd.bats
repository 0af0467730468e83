#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The units of engines/systemd: what systemd says of them, and a machine that is booted with them. Needs root.

load lib/cluster
load lib/boot

top=$BATS_TEST_DIRNAME/../..

setup() { dsvc_setup; }
teardown() {
	root_down
	dsvc_teardown
}

installed() { # FOLDER: what `make install` puts there
	local programs
	cd "$top" || return
	programs=(cmd/*/main.c)
	programs=("${programs[@]#cmd/}")
	DESTDIR=$1 prefix=/usr bash tools/install.sh install "${programs[@]%/main.c}"
}

@test "the units say nothing that systemd does not know, and leave little exposed" {
	type -P systemd-analyze >/dev/null || skip 'needs systemd-analyze'
	local unit
	installed "$BATS_TEST_TMPDIR/root"
	cd "$BATS_TEST_TMPDIR/root/usr/lib/systemd/system" || return
	cp dsvc-work@.service dsvc-work@1.service
	for unit in dsvc-dispatch dsvc-work@1 dsvc-export; do
		# In percent: systemd's 2.0.
		systemd-analyze security --no-pager --offline=true --threshold=20 "./$unit.service" >/dev/null
		sed -i "s,/usr/bin/dsvc,$BATS_TEST_TMPDIR/root&," "$unit.service"
		run -0 systemd-analyze verify --man=no "./$unit.service"
		[[ $output != *dsvc-* ]] || { echo "$output"; false; }
	done
}

@test "systemd starts them, watches them, starts them again; a pass comes out whole" {
	root_needs
	type -P systemd-nspawn >/dev/null || skip 'needs systemd-nspawn (make check-engines installs it)'
	root_up
	installed "$layer"
	boot "$top/debian/tests/systemd"
}

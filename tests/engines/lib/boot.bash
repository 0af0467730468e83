#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A machine that is this one's copy, of which nothing is kept: `load lib/boot`, after lib/cluster.
#
#	root_up             $root is this machine's file system with a layer of its own in memory
#	in_root COMMAND...  runs there, with its own processes and nothing of this machine's network
#	boot SCRIPT         boots it with systemd as the first process, runs the script and ends it; prints what it printed
#	root_down

root_needs() {
	((EUID == 0)) || skip 'needs root'
	unshare -m true 2>/dev/null || skip 'mount namespaces cannot be made here'
}

# Mounts are in a namespace that a process of ours keeps.
root_up() {
	root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root"
	# shellcheck disable=SC2016
	unshare -m --propagation private bash -c 'mount -t tmpfs none "$1" && cd "$1" && mkdir up work all &&
		mount -t overlay -o lowerdir=/,upperdir=up,workdir=work none all && : >ready && exec sleep infinity' - "$root" \
		>"$BATS_TEST_TMPDIR/root.log" 2>&1 3>&- &
	keeper=$!
	echo "$keeper" >>"$BATS_TEST_TMPDIR/pids"
	until [[ -e /proc/$keeper/root/$root/ready ]]; do
		kill -0 "$keeper" 2>/dev/null || skip "a layer over the file system cannot be made: $(<"$BATS_TEST_TMPDIR/root.log")"
		read -r -t 0.02 _ <> <(:) || :
	done
	layer=/proc/$keeper/root$root/all
	# What this machine runs by itself is not started there.
	rm -rf "${layer:?}"/etc/systemd/system/*.wants "${layer:?}"/lib/systemd/system/multi-user.target.wants/*
}

in_keeper() { nsenter -m -t "$keeper" "$@"; }

in_root() {
	in_keeper unshare -m -p -f -n --kill-child bash -c 'mount -t proc none "$0/proc" && exec chroot "$0" "$@"' "$root/all" "$@"
}

# The unit that is booted into says by a file how its script ended.
boot() {
	local rc
	install -m 755 "$1" "$layer/root/dsvc-test"
	cat >"$layer/etc/systemd/system/dsvc-test.service" <<-'END'
		[Unit]
		Wants=basic.target
		After=basic.target
		SuccessAction=exit-force
		FailureAction=exit-force
		[Service]
		Type=oneshot
		ExecStart=/bin/bash -c '/root/dsvc-test >/root/said 2>&1; echo $? >/root/rc'
		TimeoutStartSec=300
	END
	rm -f "$layer/root/rc"
	in_keeper timeout -k 5 400 systemd-nspawn -q -D "$root/all" --boot --register=no --keep-unit --private-network \
		--console=pipe --kill-signal=SIGRTMIN+3 --machine="dsvc-$$" systemd.unit=dsvc-test.service \
		</dev/null >"$BATS_TEST_TMPDIR/console" 2>&1 3>&- || :
	cat "$layer/root/said" 2>/dev/null || cat "$BATS_TEST_TMPDIR/console"
	rc=$(cat "$layer/root/rc" 2>/dev/null) && return "$rc"
}

root_down() {
	[[ ${keeper-} ]] || return 0
	kill -KILL "$keeper" 2>/dev/null || :
	wait "$keeper" 2>/dev/null || :
}

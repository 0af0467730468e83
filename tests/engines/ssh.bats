#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# engines/ssh/workers.sh, with sshd on machines that are namespaces. Needs root.

load lib/cluster

setup() {
	dsvc_setup
	cluster_needs ssh ssh sshd ssh-keygen
	[[ $B == /* ]] && PATH=$B/bin:$PATH
}
teardown() {
	dsvc_teardown
	cluster_down
}

sshd_up() { # NODE...
	local node
	mkdir -p "$cluster/ssh" "$cluster/bin" /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f "$cluster/ssh/host"
	ssh-keygen -q -t ed25519 -N '' -f "$cluster/ssh/user"
	cp "$cluster/ssh/user.pub" "$cluster/ssh/authorized"
	chmod 755 "$cluster"
	cat >"$cluster/ssh/sshd" <<-END
		HostKey $cluster/ssh/host
		AuthorizedKeysFile $cluster/ssh/authorized
		PidFile none
		StrictModes no
		UsePAM no
		PermitRootLogin yes
		SetEnv PATH=$PATH XDG_CONFIG_HOME=$XDG_CONFIG_HOME XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR
	END
	cat >"$cluster/bin/ssh" <<-END
		#!/bin/sh
		exec $(type -P ssh) -F none -i $cluster/ssh/user -o UserKnownHostsFile=$cluster/ssh/known \\
			-o StrictHostKeyChecking=no -o LogLevel=ERROR "\$@"
	END
	chmod +x "$cluster/bin/ssh"
	for node; do on "$node" "$(type -P sshd)" -f "$cluster/ssh/sshd" 3>&-; done
}

live() { # N
	[[ $(on head dsvc-status -q -d "@$cluster/up" --json | jq '.workers | length') == "$1" ]]
}

@test "a worker on each host, and none when the script has ended, even by KILL" {
	cluster_up 2
	sshd_up n1 n2
	on head dsvc-dispatch -q -b 'tcp://eth0:*' --ready-file "$cluster/up" 3>&- &
	until_true 10s test -s "$cluster/up"
	# shellcheck disable=SC2016
	on head env DSVC_UP="$cluster/up" PATH="$cluster/bin:$PATH" setsid bash -c 'echo $$ >"$1"; exec bash "$2" n1 n2' - \
		"$cluster/pid" "$BATS_TEST_DIRNAME/../../engines/ssh/workers.sh" >"$cluster/log" 2>&1 3>&- &
	until_true 20s live 2
	run -0 on head dsvc-read -q -d "@$cluster/up" -t count -e 'range 100_000'
	[[ $output == 100000 ]]
	# It and all that it has started here.
	kill -KILL -- "-$(<"$cluster/pid")"
	until_true 20s live 0
}

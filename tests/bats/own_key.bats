#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Beside the file of --ready-file stands the dispatcher's public key: where one user's folders are on all machines of
# a cluster, nothing else is needed to work with keys.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
	export DSVC_DISPATCHER=@up
}

@test "its user's programs that are given the file use keys without an invitation" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*' --ready-file up
	[[ $(<up) == "$ready" && $(wc -l <up.dsvc-key) == 1 ]]
	grep -qF "$(<up.dsvc-key)" dispatch.err
	start work dsvc-work
	run -0 dsvc-read -q --order source -e 'range 3'
	[[ $output == $'0\n1\n2' ]]
	# Without the file nothing is known of the address.
	run -77 dsvc-work -d "$ready"
	[[ $output == *"no key is known for $ready"* ]]
}

@test "another user's key is not known to the dispatcher, and another service's is not taken" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*' --ready-file up
	XDG_CONFIG_HOME=$PWD/theirs run -77 dsvc-work
	[[ $output == *"does not know this key"*"dsvc-invite work"* ]]
	cp up false
	XDG_CONFIG_HOME=$PWD/theirs dsvc-keygen --show | cut -d' ' -f1 >false.dsvc-key
	chmod 644 false.dsvc-key
	run -77 dsvc-work -d @false
	[[ $output == *"has not the key"* ]]
}

@test "the key in a file that others can write counts for nothing, and dsvc-dispatch writes none such" {
	umask 000
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*' --ready-file up
	[[ $(stat -c %a up.dsvc-key) == 644 ]]
	chmod 666 up.dsvc-key
	run -77 dsvc-work
	[[ $output == *"others than you can write up.dsvc-key: the key in it is not used"*"no key is known for"* ]]
}

@test "a service that was joined is known by its own key, whatever the file says" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*' --ready-file up
	dsvc-invite -d "$endpoint" work | XDG_CONFIG_HOME=$PWD/theirs dsvc-join -q
	echo 0000 >up.dsvc-key
	XDG_CONFIG_HOME=$PWD/theirs start work dsvc-work
	run -0 dsvc-read -d "$endpoint" -q -t count -e 'range 3'
	[[ $output == 3 ]]
}

@test "the key goes with its file, and one of an earlier run is not taken for ours" {
	echo of an earlier run >up.dsvc-key
	start clear dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*' --ready-file up
	[[ -e up && ! -e up.dsvc-key ]]
	stop clear
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*' --ready-file up
	[[ -s up.dsvc-key ]]
	stop dispatch
	[[ ! -e up && ! -e up.dsvc-key ]]
	mkfifo pipe
	cat pipe >said &
	local reader=$!
	start third dsvc-dispatch -b 'tcp://127.0.0.1:*' --ready-file pipe
	wait "$reader"
	[[ $(<said) == "$ready" && ! -e pipe.dsvc-key ]]
}

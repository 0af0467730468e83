#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154

load lib/dsvc

archive="elements [{__key__: \"a\", txt: \"b\"}]"

# A library of that name that cannot be loaded comes first.
broken() { # NAME
	mkdir -p "$BATS_TEST_TMPDIR/broken"
	echo nonsense >"$BATS_TEST_TMPDIR/broken/$1"
	export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/broken
}

@test "large libraries are loaded when they are needed" {
	run -0 env LD_DEBUG=files dsvc-run 'range 1'
	[[ $output == *libsnappy* && $output != *libarchive* && $output != *libzmq* && $output != *libcurl* ]]
	run -0 env LD_DEBUG=files dsvc-run -t tar -o "$BATS_TEST_TMPDIR/a.tar" "$archive"
	[[ $output == *libarchive* && $output != *libzmq* ]]
	service 1
	run -0 env LD_DEBUG=files dsvc-run 'range 1 | distribute'
	[[ $output == *libzmq* && $output != *libarchive* ]]
}

@test "a library that cannot be loaded is named, with its package" {
	service 1
	broken libarchive.so.13
	run -65 dsvc-run -t tar "$archive"
	[[ $output == *'the library libarchive.so.13 cannot be used: '*'apt-get install libarchive13'* ]]
	run -0 dsvc-run 'range 1'
	[ "$output" = 0 ]
	broken libzmq.so.5
	run -78 dsvc-run 'range 1 | distribute'
	[[ $output == 'dsvc-run: the library libzmq.so.5 cannot be used: '*'help: apt-get install libzmq5' ]]
	run -78 dsvc-status
	[[ $output == 'dsvc-status: the library libzmq.so.5'* ]]
	run -0 dsvc-run 'range 1'
	[ "$output" = 0 ]
}

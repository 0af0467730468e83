#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `repeat` of an input that gives nothing ends at once in one process, and so does it as a job of the
# service, where a pass is dealt out over streams, and only workers see what becomes of it.

load lib/dsvc

nothing() { # SPEC OPTION...
	local spec=$1
	shift
	run within 5s dsvc-read "$@" -e "$spec"
	((status == 0)) && [[ -z $output ]] || { echo "$spec ($*): $status: $output"; return 1; }
}

@test "a repeat of nothing ends, however it is divided" {
	service 2
	local by
	for by in '' '--order stable' '--order source' '--sharding off' '--sharding data --shards 3'; do
		# shellcheck disable=SC2086
		nothing 'range 3 | filter false | repeat' $by
	done
	printf '%s\n' a b >"$d/one"
	printf '%s\n' c >"$d/two"
	nothing "lines $d/one $d/two | filter false | repeat" --sharding file --shards 2
	nothing "lines $d/one $d/two | filter false | repeat" --order source
}

@test "nothing is looked for where the elements come to the repeat" {
	service 2
	nothing 'range 200000 | filter x < 0 | repeat'
	nothing 'range 3 | repeat 2 | filter false | repeat'
	nothing 'range 3 | filter false | repeat | repeat 2'
	nothing 'range 3 | filter false | repeat 1000000000000 | map x + 1'
	nothing 'range 3 | filter false | shuffle 4 | repeat'
	nothing 'range 5 | shuffle all | filter false | repeat'
	nothing 'concat (range 3) (range 4) | filter false | repeat'
	nothing 'concat (range 3 | filter false | repeat) (range 0)'
}

@test "a single element goes on for ever" {
	service 2
	run within 5s dsvc-read -n 5 -e 'range 200000 | filter x == 199999 | repeat'
	[[ $status == 0 && ${#lines[@]} == 5 ]]
	run within 5s dsvc-read -n 5 --order stable -e 'range 200000 | filter x == 199999 | map x | repeat | shuffle 3'
	[[ $status == 0 && ${#lines[@]} == 5 ]]
	run within 5s dsvc-read -e 'range 70000 | filter x == 69999 | repeat 3'
	[[ $output == 69999$'\n'69999$'\n'69999 ]]
	run within 5s dsvc-read -n 3 -e 'range 5 | shuffle all | filter x == 3 | repeat'
	[[ $output == 3$'\n'3$'\n'3 ]]
}

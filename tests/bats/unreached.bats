#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Workers that the dispatcher reaches and readers do not: they tell an address where nobody is.

load lib/dsvc

setup() { dsvc_setup; }
teardown() { dsvc_teardown; }

@test "a worker that readers cannot reach is named, others get its streams, and without others they end with 69" {
	start dispatch dsvc-dispatch -b "$(free_ipc one)"
	local one=$ready none
	start other dsvc-dispatch -b "$(free_ipc none)"
	none=$ready
	start good dsvc-work -d "$one" --name good
	start bad dsvc-work -d "$one" --name bad --advertise "$(free_ipc nowhere)"
	start alone dsvc-work -d "$none" --name alone --advertise "$(free_ipc nowhere)"
	# Both at once, for each takes five seconds and more.
	spawn hopeless dsvc-read -d "$none" -e 'range 3'
	run -0 --separate-stderr within 60s dsvc-read -d "$one" -t count --order stable --shards 2 -e 'range 100000'
	[[ $output == 100000 ]]
	[[ $stderr == *"dsvc-read: cannot reach the worker at $(free_ipc nowhere): nothing is listening there"* ]]
	run -0 dsvc-events -d "$one"
	[[ $output == *' cannot reach worker bad at '*': nothing is listening there'* ]]
	reap hopeless 60
	((status == 69))
	grep -q "^dsvc-read: no worker can be reached: alone at $(free_ipc nowhere): nothing is listening there" "$BATS_TEST_TMPDIR/hopeless.err"
	grep -q '^  help: .*--advertise' "$BATS_TEST_TMPDIR/hopeless.err"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dsvc-feed: nobody hangs in silence. Cores that stand still, and cores that wait for data.
# shellcheck disable=SC2016

load lib/dsvc

feed() { timeout "$patience" dsvc-feed --local --as ndjson --grace 0.1 "$@"; }
told() { grep -qE "$2" "$BATS_TEST_TMPDIR/$1.err"; }

@test "a core that sleeps in the last steps is given up on, with answers" {
	run -124 feed --core-timeout 0.5 --results step --batch 2 -e 'range 4' -- tail -f /dev/null
	[[ $output == *'core 0 has done nothing for 0.5 s, at step 0 (--core-timeout)'* ]]
}

# Which of the two is seen depends on how soon the core has read, on a slow machine.
@test "without answers it is given up on when it reads nothing, or does not end" {
	run -124 feed --core-timeout 0.5 --batch 2 -e 'range 40' -- tail -f /dev/null
	[[ $output == *'core 0 has read nothing for 0.5 s, of '*' given (--core-timeout)'* ]]
	run -124 feed --core-timeout 0.5 -e 'range 3' -- sh -c 'cat >/dev/null; exec tail -f /dev/null'
	[[ $output == *'core 0 has not ended, 0.5 s after it was given all (--core-timeout)'* || $output == *'core 0 has read nothing'* ]]
	# Also one that has closed its standard input.
	run -124 feed --core-timeout 0.5 -e 'range 3' -- sh -c 'exec 0<&-; exec tail -f /dev/null'
}

@test "a core that others wait for is named, with them" {
	spawn feed dsvc-feed --local --as ndjson --slow 0.2 --results step -n 2 --batch 2 -e 'range 40' -- sh -c '[ $DSVC_CORE = 1 ] && exec tail -f /dev/null; exec sed -u ""'
	until_true 10s told feed 'core 1 has been at step 0 for .* s; 0 waits for step 3$'
	stop feed KILL || true
}

@test "one that has not ended is named when the others have" {
	spawn feed dsvc-feed --local --as ndjson --slow 0.2 -n 2 --batch 2 -e 'range 4' -- sh -c 'cat >/dev/null; [ $DSVC_CORE = 0 ] || exec tail -f /dev/null'
	until_true 10s told feed 'core 1 has not ended, .* s after the last step; the other has ended$'
	stop feed KILL || true
}

@test "waiting for data is told apart, with its reason" {
	local pipe=$BATS_TEST_TMPDIR/pipe
	mkfifo "$pipe"
	exec 9<>"$pipe"
	spawn feed dsvc-feed --local --as ndjson --slow 0.2 -n 2 --batch 2 -e "lines $pipe" -- cat
	until_true 10s told feed 'dsvc-feed: all cores wait for data$'
	stop feed KILL || true
	exec 9>&-
	service 1
	spawn feed dsvc-feed --as ndjson --slow 0.2 -n 2 --batch 2 -e 'range 100000000 | rate 1000' -- cat
	some() { [[ -s $BATS_TEST_TMPDIR/feed.out ]]; }
	until_true 10s some
	stop work1 KILL || true
	until_true 20s told feed 'no worker has a stream$'
	stop feed KILL || true
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dsvc-feed: cores, and the feed itself, killed at random steps; run again until all is done, with other numbers of
# cores each time, the results are those of a run that nobody disturbed. SEED=N chooses other steps, KILLS=N how often.
# shellcheck disable=SC2016

load lib/dsvc

seed=${SEED:-11} kills=${KILLS:-5}
spec='range 3000 | shuffle 200'
opts=(--seed 3 --batch 12 --epochs 2 --results rows -t text)

# AT=N.C: in the N-th step of core C it kills WHOM: itself, or the feed.
fed() { # CORES ARG...
	timeout "$patience" dsvc-feed --as ndjson -n "$1" "${opts[@]}" "${@:2}" -e "$spec" -- \
		sh -c 'n=0; while read -r b; do
			n=$((n + 1))
			[ "$n.$DSVC_CORE" != "$AT" ] || { [ "$WHOM" = feed ] && kill -9 $PPID || kill -9 $$; }
			echo "$b"
		done'
}
# Kills again and again, then goes on to the end.
killed() { # ARG...
	local turn n
	cd "$BATS_TEST_TMPDIR" || return
	export AT='' WHOM=''
	RANDOM=$seed
	run -0 --separate-stderr fed 1 "$@"
	echo "$output" >whole
	for ((turn = 0; turn < kills; turn++)); do
		n=$((1 + RANDOM % 4))
		AT=$((1 + RANDOM % 90)).$((RANDOM % n)) WHOM=$( ((RANDOM % 3)) || echo feed)
		run -137 fed $n --checkpoint pos --save-every $((1 + RANDOM % 9)) -o res "$@"
	done
	AT=''
	run -0 fed 2 --checkpoint pos -o res "$@"
	cmp whole res
}

@test "killed at random steps, in this process" {
	killed --local
}

@test "killed at random steps, through the service" {
	service 2
	killed --shards 2
}

# Nobody answers: what lies unread in a pipe is no more than written. The last core is killed when it has read AT steps.
lost_in_pipes() { # ARG...
	local every n rows RANDOM=$seed
	cd "$BATS_TEST_TMPDIR" || return
	reads() {
		timeout "$patience" dsvc-feed --as ndjson -n $n --batch $n --checkpoint pos --save-every $every "$@" -e 'range 600' -- \
			sh -c '[ $((DSVC_CORE + 1)) = $DSVC_CORES ] || exec cat >/dev/null
				[ "$AT" ] || exec cat
				for i in $(seq $AT); do read -r x; done
				kill -9 $$'
	}
	for n in 1 2; do
		for every in 1 7; do
			export AT=$((1 + RANDOM % 60))
			rm -f pos
			run -137 reads "$@"
			# the step that it had in hand comes again, and what follows it
			rows=$(seq -f '[%.0f]' $(((AT - 1) / every * every * n + n - 1)) $n 599)
			AT='' run -0 --separate-stderr reads "$@"
			[[ $output == "$rows" ]] || { echo "-n $n --save-every $every"; false; }
		done
	done
}

@test "what a core that is killed has not read off its pipe comes again" {
	lost_in_pipes --local
}

@test "what a core that is killed has not read off its pipe comes again through the service" {
	service
	lost_in_pipes --shards 1
}

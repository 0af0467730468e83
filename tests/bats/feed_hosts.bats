#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dsvc-feed on several hosts: each has its places of every step.
# shellcheck disable=SC2016

load lib/dsvc

core=(sh -c 'while IFS= read -r b; do printf "%s\n" "$b"; done')
feed() { timeout 60 dsvc-feed --as ndjson "$@" -- "${core[@]}"; }
# Hosts 0 and 1 in the background, as h0 and h1, with two cores each.
hosts() { # ARG...
	local h
	for h in 0 1; do
		spawn "h$h" dsvc-feed --as ndjson --host $h/2 -n 2 -o "$BATS_TEST_TMPDIR/out.%h" "$@" -- "${core[@]}"
	done
}
ends() { # STATUS
	local h
	for h in 0 1; do
		reap "h$h" 60
		((status == $1))
	done
}
out() { cat "$BATS_TEST_TMPDIR/out.$1"; }
err() { cat "$BATS_TEST_TMPDIR/h$1.err"; }
# What came to the hosts, step by step, with so many rows of a host in each.
joined() { paste -d' ' <(out 0 | paste -sd' ' | xargs -n "$1") <(out 1 | paste -sd' ' | xargs -n "$1"); }

@test "each host has its rows of every step, and the last step is padded" {
	service 2
	hosts -J a --batch 8 --shards 1 --results rows -t text -e 'range 30'
	ends 0
	[[ $(joined 4 | head -3) == $'0 1 2 3 4 5 6 7\n8 9 10 11 12 13 14 15\n16 17 18 19 20 21 22 23' ]]
	[[ $(out 0 | tail -4 | paste -sd' ') == '24 25 26 27' && $(out 1 | tail -2 | paste -sd' ') == '28 29' ]]
	run -0 dsvc-run "files '$BATS_TEST_TMPDIR/out.*' | interleave (ndjson x) cycle=2 block=4"
	[[ $output == "$(seq 0 29)" ]]
	[[ $(err 0) == *'the last step has 6 of 8 rows, the others are padding'* ]]
	[[ $(err 1) == *'the last step has 6 of 8 rows, the others are padding'* ]]
	rm "$BATS_TEST_TMPDIR"/out.*
	# no row at all for a host, whose rows are made up from their type
	hosts -J b --batch 8 --results step -t ndjson -e 'range 2 | map {x: x, t: str(x)}'
	ends 0
	[[ $(out 1 | jq -c .result) == $'{"x":[0,0],"t":["",""]}\n{"x":[0,0],"t":["",""]}' ]]
}

@test "the last rows are dropped, or an error, on all hosts" {
	service
	hosts -J a --batch 8 --tail drop --results rows -t text -e 'range 30'
	ends 0
	[[ $(out 0 | wc -l) == 12 && $(out 1 | wc -l) == 12 ]]
	[[ $(err 0) == *'the last 6 rows are no whole step and were dropped'* ]]
	hosts -J b --batch 8 --tail error --results rows -t text -e 'range 30'
	ends 65
	[[ $(err 1) == *'the last round has 6 of 8 elements'* ]]
}

@test "the last rows are shared evenly by the cores of all hosts" {
	service
	result() { out "$1" | jq -c .result | tail -2 | paste -sd' '; }
	hosts -J a --batch 8 --tail short --shards 1 --results step -t ndjson -e 'range 13 | map {x: x, t: str(x)}'
	ends 0
	[[ $(result 0) == '{"x":[8,9],"t":["8","9"]} {"x":[10],"t":["10"]}' ]]
	[[ $(result 1) == '{"x":[11],"t":["11"]} {"x":[12],"t":["12"]}' ]]
	[[ $(err 0) != *padding* ]]
	# in the first step, too, where a host has none of them; and batches
	hosts -J b --batch 8 --tail short --results step -t ndjson -e 'range 1 | map {x: x, t: str(x)}'
	ends 0
	[[ $(result 0) == '{"x":[0],"t":["0"]} {"x":[],"t":[]}' && $(result 1) == '{"x":[],"t":[]} {"x":[],"t":[]}' ]]
	hosts -J c --element host --tail short --results step -t ndjson -e 'range 11 | batch 4'
	ends 0
	[[ $(result 0) == '[8,9] [10]' && $(result 1) == '[] []' ]]
}

@test "each stream may end with a short step of its own" {
	service
	hosts -J a --batch 8 --shards 2 --tail-of stream --results step -t ndjson -e 'range 26 | map {x: x}'
	ends 0
	# 13 rows of each stream: two steps, of which the second has 5
	[[ $(out 0 | wc -l) == 8 && $(out 1 | wc -l) == 8 ]]
	out 0 | cat - <(out 1) | jq -c '.result.x[]' | sort -n | uniq -c | awk '$2 { print $1, $2 }' | cmp - <(seq -f '1 %g' 25)
	[[ $(out 1 | jq -c 'select(.core == 1) | .result.x' | grep -cx '\[0,0\]') == 2 ]]
	[[ $(err 0) == *'the last steps of streams are short: 6 rows are padding'* ]]
	rm "$BATS_TEST_TMPDIR"/out.*
	# a run that goes on behind such a step
	local run options=(--batch 8 --shards 2 --tail-of stream --mask m --checkpoint "$BATS_TEST_TMPDIR/pos.%h" --save-every 1
		--results step -t ndjson -e 'range 26 | map {x: x}')
	for run in '--steps 2' '--steps 1' ''; do
		hosts -J "go$run" --seed 3 ${run:+${run% *} ${run#* }} "${options[@]}"
		ends 0
	done
	[[ $(out 0 | wc -l) == 8 ]]
	cat "$BATS_TEST_TMPDIR"/out.? | jq -c '.result as $r | range(2) | select($r.m[.]) | $r.x[.]' | sort -n | cmp - <(seq 0 25)
	rm "$BATS_TEST_TMPDIR"/out.*
	# the rows shared evenly; and elements that are batches
	hosts -J b --batch 8 --shards 2 --tail short --tail-of stream --results step -t ndjson -e 'range 26 | map {x: x}'
	ends 0
	[[ $(cat "$BATS_TEST_TMPDIR"/out.? | jq -c '.result.x[]' | sort -n | paste -sd' ') == "$(seq 0 25 | paste -sd' ')" ]]
	hosts -J c --shards 2 --tail-of stream --results rows -t text -e 'range 26 | batch 2'
	ends 0
	[[ $(cat "$BATS_TEST_TMPDIR"/out.? | sort -n | paste -sd' ') == "$(seq 0 25 | paste -sd' ')" ]]
}

@test "elements that are batches, for each core, each host, or all" {
	service
	hosts -J core --results rows -t text -e 'range 16 | batch 2'
	ends 0
	[[ $(joined 4) == $'0 1 2 3 4 5 6 7\n8 9 10 11 12 13 14 15' ]]
	hosts -J host --element host --results rows -t text -e 'range 16 | batch 4'
	ends 0
	[[ $(joined 4) == $'0 1 2 3 4 5 6 7\n8 9 10 11 12 13 14 15' ]]
	hosts -J step --element step --results rows -t text -e 'range 16 | batch 8'
	ends 0
	[[ $(joined 4) == $'0 1 2 3 4 5 6 7\n8 9 10 11 12 13 14 15' ]]
	hosts -J copy --element copy --results rows -t text -e 'range 4 | batch 2'
	ends 0
	[[ $(joined 4) == $'0 1 0 1 0 1 0 1\n2 3 2 3 2 3 2 3' ]]
}

@test "a core knows its rank among those of all hosts" {
	service
	for h in 0 1; do
		spawn "h$h" dsvc-feed --as ndjson --host $h/2 -n 2 -J a --batch 4 --results step -o "$BATS_TEST_TMPDIR/out.%h" -e 'range 4' -- \
			sh -c 'while read -r x; do echo "[$DSVC_RANK,$DSVC_RANKS,$DSVC_CORE,$DSVC_HOST,$DSVC_HOSTS,$DSVC_BATCH,$RANK,$WORLD_SIZE]"; done'
	done
	ends 0
	[[ $(cat "$BATS_TEST_TMPDIR"/out.* | jq -c .result) == $'[0,4,0,0,2,1,0,4]\n[1,4,1,0,2,1,1,4]\n[2,4,0,1,2,1,2,4]\n[3,4,1,1,2,1,3,4]' ]]
}

@test "positions are the same on all hosts, and good for another number of them" {
	service 2
	cd "$BATS_TEST_TMPDIR"
	local spec='range 900 | shuffle 50' opts=(--seed 3 --batch 12 --shards 2 --epochs 2)
	run -0 --separate-stderr feed --host 0/1 -J whole "${opts[@]}" --results rows -t text -e "$spec"
	echo "$output" >whole
	# three parts: two hosts, one host, two hosts; the last begins in the second pass
	for h in 0 1; do
		spawn "h$h" dsvc-feed --as ndjson --host $h/2 -J p1 "${opts[@]}" --steps 70 --checkpoint pos.%h --save-every 1 -e "$spec" -- sh -c "cat >out.$h"
	done
	ends 0
	cmp pos.0 pos.1
	rows() { jq -c '.[]' out.$1 | paste -sd' ' | xargs -n 6; }
	paste -d' ' <(rows 0) <(rows 1) >parts
	run -0 --separate-stderr feed --host 0/1 -n 3 -J p2 "${opts[@]}" --steps 10 --checkpoint pos.1 --results rows -t text -e "$spec"
	xargs -n 12 <<<"$output" >>parts
	cp pos.1 pos.0
	for h in 0 1; do
		spawn "h$h" dsvc-feed --as ndjson --host $h/2 -J p3 "${opts[@]}" --checkpoint pos.%h -e "$spec" -- sh -c "cat >out.$h"
	done
	ends 0
	paste -d' ' <(rows 0) <(rows 1) >>parts
	cmp <(xargs -n 12 <whole) parts
	run -65 feed --host 0/1 -J p4 "${opts[@]}" --batch 24 --checkpoint pos.0 -e "$spec"
	[[ $output == *'the position belongs to steps of 12 places, not of 24'* ]]
	run -65 feed "${opts[@]}" --checkpoint pos.0 -e "$spec"
	[[ $output == *'the position was made with --host'* ]]
}

@test "positions of batches that all hosts cut or get whole are equal, and good for another number of them" {
	service
	cd "$BATS_TEST_TMPDIR"
	local spec='range 103 | shuffle 50 | batch 8' opts=(--seed 3 --element copy --epochs 2 --tail pad --results step -t ndjson) h
	run -0 --separate-stderr feed --host 0/1 -J whole "${opts[@]}" -e "$spec"
	jq -c .result <<<"$output" >whole
	[[ $(wc -l <whole) == 26 && $(sed -n 13p whole | jq length) == 8 ]]
	for h in 0 1; do
		spawn "h$h" dsvc-feed --as ndjson --host $h/2 -J p1 "${opts[@]}" --steps 7 --save-every 1 --checkpoint pos.%h -o out.%h -e "$spec" -- "${core[@]}"
	done
	ends 0
	cmp out.0 out.1
	cmp pos.0 pos.1
	jq -c .result out.0 >parts
	run -0 --separate-stderr feed --host 0/1 -n 2 -J p2 "${opts[@]}" --steps 10 --checkpoint pos.0 -e "$spec"
	jq -c 'select(.core == 1) | .result' <<<"$output" >>parts
	cp pos.0 pos.1
	rm out.?
	for h in 0 1; do
		spawn "h$h" dsvc-feed --as ndjson --host $h/2 -J p3 "${opts[@]}" --checkpoint pos.%h -e "$spec" -- sh -c "jq -c --unbuffered . | tee -a out.$h"
	done
	ends 0
	cat out.0 >>parts
	cmp out.0 out.1
	cmp whole parts
	# the last batch is short: cut among the cores of all hosts, and said once for all of them
	run -0 --separate-stderr feed --host 0/1 -n 2 -J p4 --element step --results rows -t text -e 'range 13 | batch 8'
	cmp <(echo "$output") <(seq 0 12)
	[[ $stderr == *'the last step has 5 of 8 rows, the others are padding'* ]]
}

@test "what an earlier run has taken of a pass is missed by nobody in silence" {
	service
	cd "$BATS_TEST_TMPDIR"
	large() { # JOB ARG...: rows that fill chunks, so that they are acknowledged
		local h
		for h in 0 1; do
			spawn "h$h" dsvc-feed --as ndjson --host $h/2 --seed 1 -J "$@" --batch 8 -e 'range 64 | map pad(str(x), 100000)' -- jq -c --unbuffered 'map(length)'
		done
	}
	rows() { jq -c 'map(select(. == 100000)) | length' h0.out h1.out | paste -sd+ | bc; }
	large a --steps 3
	ends 0
	large a
	ends 65
	[[ $(err 0) == *'an earlier run of this host has taken rows of this pass'*'in a job of another name'* ]]
	# with positions it goes on in the same job, since only what is before them is acknowledged, and in another one
	large b --steps 3 --checkpoint pos.%h
	ends 0
	cp pos.0 old.0
	cp pos.1 old.1
	large b --checkpoint pos.%h
	ends 0
	(($(rows) == 40))
	large c --checkpoint old.%h
	ends 0
	(($(rows) == 40))
	hosts -J d --batch 8 --results rows -t text -e 'range 40'
	ends 0
	hosts -J d --batch 8 --results rows -t text -e 'range 40'
	ends 65
	[[ $(err 0) == *'was read to its end by an earlier run'* ]]
	# of a pass that fills no step nobody has taken anything
	for run in 1 2; do
		hosts -J e --batch 52 --tail drop --epochs 2 --results rows -t text -e 'range 40'
		ends 0
		[[ ! -s out.0 && ! -s out.1 ]]
	done
}

@test "a host that is killed comes back into the pass, with its last position" {
	service 2
	cd "$BATS_TEST_TMPDIR"
	local spec='range 802 | sleep 500us' opts=(--seed 1 --epochs 2 --batch 2 --shards 2 --results rows -t text)
	host() { # I: one row of each step
		spawn "h$1" dsvc-feed --as ndjson --host "$1/2" -J a "${opts[@]}" --save-every 7 --checkpoint pos.%h \
			-o out.%h -e "$spec" -- "${core[@]}"
	}
	host 0
	host 1
	until_true 10s test -s pos.1
	kill -9 "${pid[h1]}"
	reap h1
	host 1
	ends 0
	run -0 --separate-stderr feed --host 0/1 -n 2 -J whole "${opts[@]}" -e "$spec"
	cmp <(paste -d '\n' out.0 out.1 | grep .) <(echo "$output")
}

@test "a host that is killed in the last step of a pass gets it again" {
	service
	cd "$BATS_TEST_TMPDIR"
	mkfifo never
	host() { # I
		spawn "h$1" dsvc-feed --as ndjson --host "$1/2" -J a --shards 1 --batch 4 --tail short --save-every 1 \
			--results rows -t text --checkpoint pos.%h -o out.%h -e 'range 11' -- sh -c 'while IFS= read -r b; do
				[ "$b" != "[10]" ] || [ -e again ] || { : >there; read -r _ <never; }
				echo "$b"
			done'
	}
	host 0
	host 1
	until_true 20s test -e there
	kill -9 "${pid[h1]}"
	reap h1
	: >again
	host 1
	ends 0
	[[ $(paste -sd' ' out.0) == '0 1 4 5 8 9' && $(paste -sd' ' out.1) == '2 3 6 7 10' ]]
}

@test "a worker that is killed brings no host out of step" {
	service 2
	hosts -J a --batch 8 --results rows -t text -e 'range 3000 | sleep 200us'
	until_true 10s test -s "$BATS_TEST_TMPDIR/out.0"
	kill -9 "${pid[work1]}"
	ends 0
	[[ $(out 0 | wc -l) == 1500 ]]
	cmp <(sort -n "$BATS_TEST_TMPDIR"/out.[01]) <(seq 0 2999)
}

@test "rows come once, however many streams and workers there are" {
	service 2
	run -0 timeout 30 dsvc-feed --as ndjson --shards 2 --wait-workers 2 --batch 10 --results rows -t text -e 'range 100' -- "${core[@]}"
	cmp <(sort -n <<<"$output") <(seq 0 99)
}

@test "hosts do not wait for ever for one that does not come" {
	service
	run -75 feed --host 0/2 -J a --batch 4 --seat-wait 100ms -e 'range 30'
	[[ $output == *'no consumer came for place 2, 3 of the 4 of job `a`'* ]]
	# Without a limit it says what it waits for.
	spawn one dsvc-feed --as ndjson --host 0/2 -J b --batch 4 --slow 100ms -e 'range 30' -- cat
	until_true 20s grep -q 'the core waits for data: not all hosts have come$' "$BATS_TEST_TMPDIR/one.err"
	stop one KILL || true
}

@test "a host that has done all says that it does not come again" {
	service
	cd "$BATS_TEST_TMPDIR"
	for h in 0 1; do
		spawn "h$h" dsvc-feed --as ndjson --host $h/2 -J a --batch 4 --shards 1 --checkpoint pos.%h --save-every 1 -e 'range 30' -- sh -c "cat >out.$h"
	done
	ends 0
	run -0 feed --host 0/2 -J b --batch 4 --shards 1 --checkpoint pos.0 -e 'range 30'
	[[ $output == *'this host has done all of its 8 steps, and does not come to the job again; if another host has not, start all with its step: --from STEP'* ]]
	# and with that step the others get theirs
	for h in 0 1; do
		spawn "h$h" dsvc-feed --as ndjson --host $h/2 -J c --batch 4 --shards 1 --checkpoint pos.%h --from 5 -e 'range 30' -- sh -c "cat >out.$h"
	done
	ends 0
	[[ $(<out.0) == $'[20,21]\n[24,25]\n[28,29]' && $(head -n 2 out.1) == $'[22,23]\n[26,27]' ]]
}

@test "what several hosts cannot do is refused" {
	run -64 feed --host 2/2 -J a -e 'range 3'
	[[ $output == *"'2/2' is not I/N, host I of N hosts"* ]]
	run -64 feed --host 0/2 -e 'range 3'
	[[ $output == *'--job NAME'* ]]
	run -64 feed --host 0/2 -J a --local -e 'range 3'
	run -64 feed --host 0/2 -J a --order any -e 'range 3'
	run -64 feed --host 0/2 -J a --loop 5s -e 'range 3'
	run -64 feed --host 0/2 -J a --batch 20002 -e 'range 3'
	run -64 feed --host 0/2 -J a --element copy --tail-of stream -e 'range 3'
	[[ $output == *'--tail-of stream does not go with --host'* ]]
	run -64 feed --host 0/2 -J a -
	run -64 feed --host 0/2 -n 2 -J a --batch 6 -e 'range 3'
	[[ $output == *'6 rows cannot be shared evenly by 4 cores'* ]]
}

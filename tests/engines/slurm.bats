#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The files of engines/slurm under a real Slurm, whose nodes are namespaces on one switch: whatever happens to
# jobs, nodes and cables, a pass comes out whole, each element once. Needs root.

load lib/cluster

setup() {
	dsvc_setup
	cluster_needs slurm "${slurm_parts[@]}"
	files=$BATS_TEST_DIRNAME/../../engines/slurm
	[[ $B == /* ]] && PATH=$B/bin:$PATH
}
teardown() {
	if [[ ! ${BATS_TEST_COMPLETED-} && ${cluster-} ]]; then
		tail -n 5 "$cluster"/job/*.log "$cluster"/log/* 2>/dev/null || :
		on head squeue -r 2>/dev/null || :
	fi
	dsvc_teardown
	cluster_down
}

submit() { # WORD...: sets $job
	job=$(cd "$cluster/job" && on head sbatch --parsable "$@")
}
at_head() { (cd "$cluster/job" && on head "$@"); }

live() { # REGEXP N: so many workers whose names match are live
	[[ $(at_head dsvc-status -q -d @dsvc-up --json 2>/dev/null |
		jq --arg r "$1" '[.workers[] | select((.name | test($r)) and (.draining or .awaited | not))] | length') == "$2" ]]
}

# Takes some lines at a time until the file `go` is there, and then all.
slowly_until_go() {
	local line
	while [[ ! -e $cluster/go ]] && IFS= read -r -t 100 line; do
		printf '%s\n' "$line"
		read -r -t 0.002 _ <> <(:) || :
	done
	cat
}

@test "one pass through everything that happens to jobs, nodes and cables" {
	cluster_up 4
	slurm_up
	export DSVC_IDLE=1h
	# Workers first: they wait for the dispatcher.
	submit -a 1-4 -c 3 "$files/work.sbatch"
	work=$job
	until_true 20s bash -c "grep -qs 'waiting for a dispatcher' '$cluster'/job/dsvc-work-*.log"
	submit --mem=0 "$files/dispatch.sbatch"
	dispatch=$job
	until_true 30s live . 4
	mkfifo "$cluster/pipe"
	(slowly_until_go <"$cluster/pipe" >"$cluster/out") 3>&- &
	taker=$!
	echo "$taker" >>"$BATS_TEST_TMPDIR/pids"
	at_head dsvc-read -d @dsvc-up -J pass -t text --stats -e 'range 40000 | sleep 1ms' \
		>"$cluster/pipe" 2>"$cluster/err" 3>&- &
	reader=$!
	until_true 20s test -s "$cluster/out"

	echo 'the cable of n3 is cut, and mended'
	in_net sw ip link set v-n3 down
	until_true 20s live ^n3- 0
	in_net sw ip link set v-n3 up
	until_true 20s live ^n3- 1

	echo 'a task is queued again'
	on head scontrol requeue "${work}_4"
	until_true 30s restarted "${work}_4" 1
	until_true 20s back 4

	echo 'a task is cancelled, and another comes'
	on head scancel "${work}_1"
	until_true 20s gone "${work}_1"
	submit -c 3 "$files/work.sbatch"
	until_true 30s live . 4

	echo 'others need a node more'
	submit -Q -J urgent -p high -w n2 --exclusive -o /dev/null --wrap true
	urgent=$job
	until_true 60s gone_for_good "$urgent"
	until_true 60s back 4

	echo 'a node goes down'
	on head scontrol update nodename=n4 state=down reason=test
	until_true 20s live ^n4- 0
	until_true 20s resumed n4
	until_true 60s back 4

	echo 'the dispatcher moves to another node'
	was=$(head -n 1 "$cluster/job/dsvc-up")
	at=$(on head squeue -h -j "$dispatch" -o %N)
	on head scontrol update nodename="$at" state=drain reason=test
	on head scontrol requeue "$dispatch"
	until_true 60s restarted "$dispatch" 1
	until_true 30s moved "$was"
	until_true 20s resumed "$at"
	until_true 30s live . 4

	touch "$cluster/go"
	wait "$reader"
	wait "$taker"
	sort -n "$cluster/out" | cmp - <(seq 0 39999)
	run -0 at_head dsvc-status -d @dsvc-up --audit pass
	[[ $output == *balanced* ]]
	at_head dsvc-stop -q -d @dsvc-up --drain
	until_true 30s gone "$dispatch"
}

back() { # N
	hasten
	live . "$1"
}
# A node that is down may have come back by itself.
resumed() { # NODE
	on head scontrol update nodename="$1" state=resume 2>/dev/null || :
	[[ $(on head sinfo -h -p low -n "$1" -o %t) == @(idle|mix|alloc) ]]
}
moved() { # ADDRESS
	[[ -s $cluster/job/dsvc-up && $(head -n 1 "$cluster/job/dsvc-up") != "$1" ]]
}
gone_for_good() {
	hasten
	gone "$1"
}

@test "everything in one allocation goes on where it was when it is queued again" {
	cluster_up 2
	slurm_up
	cat >"$cluster/job/train" <<-'END'
		#!/bin/bash
		cat >>out
	END
	chmod +x "$cluster/job/train"
	submit -N 2 -c 2 "$files/one.sbatch" 'range 6000 | sleep 2ms' ./train
	until_true 30s test -s "$cluster/job/out"
	# What Slurm sends two minutes before the end.
	on head scancel --batch --signal=USR2 "$job"
	until_true 60s restarted "$job" 1
	until_true 60s gone_for_good "$job"
	[[ $(on head scontrol show job "$job") == *JobState=COMPLETED* ]]
	sort -n "$cluster/job/out" | cmp - <(seq 0 5999)
}

@test "workers are submitted as they are wanted, and leave when nobody reads" {
	cluster_up 2
	slurm_up
	export DSVC_IDLE=1h
	submit --mem=0 "$files/dispatch.sbatch"
	dispatch=$job
	until_true 20s test -s "$cluster/job/dsvc-up"
	export DSVC_IDLE=2s INTERVAL=0.3
	{ at_head "$files/scale.sh" 0 2 -c 1 && touch "$cluster/scaled"; } >"$cluster/scale.log" 2>&1 3>&- || : &
	scale=$!
	run -0 at_head dsvc-status -q -d @dsvc-up --wanted=workers
	[[ $output == 0 ]]
	at_head dsvc-read -d @dsvc-up -t count -e 'range 3000 | sleep 4ms' >"$cluster/out" 3>&-
	[[ $(<"$cluster/out") == 3000 ]]
	compgen -G "$cluster/job/dsvc-work-*.log"
	until_true 30s live . 0
	at_head dsvc-stop -q -d @dsvc-up
	wait "$scale"
	[[ -e $cluster/scaled ]]
}

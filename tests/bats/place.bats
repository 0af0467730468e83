#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What programs take from the place where they run: processors, names and tags.

load lib/dsvc

setup() {
	dsvc_setup
	unset "${!SLURM@}" SLURMD_NODENAME POD_NAME KUBERNETES_SERVICE_HOST
	cd "$BATS_TEST_TMPDIR" || return
}

workers() { dsvc-status --json | jq -c ".workers[] | $1"; }

@test "-j auto: as many as the process may use, by its affinity and by Slurm" {
	local one
	one=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
	start dispatch dsvc-dispatch
	start bound taskset -c "$one" dsvc-work --name bound
	start task env SLURM_JOB_ID=7 SLURM_CPUS_PER_TASK=1 dsvc-work --name task
	start said taskset -c "$one" dsvc-work --name said -j 3
	[[ $(workers '[.name, .slots]' | sort) == $'["bound",1]\n["said",3]\n["task",1]' ]]
}

@test "a worker has its name and tags from Slurm, or from Kubernetes, unless it is told" {
	start dispatch dsvc-dispatch
	local slurm=(SLURM_JOB_ID=12 SLURMD_NODENAME=n3 SLURM_PROCID=2 SLURM_JOB_PARTITION=long)
	start task env "${slurm[@]}" dsvc-work -j 1 --tag mine
	start told env "${slurm[@]}" SLURM_JOB_PARTITION='a,b' dsvc-work -j 1 --name me
	start pod env KUBERNETES_SERVICE_HOST=10.0.0.1 POD_NAME=work-0 dsvc-work -j 1
	start plain env SLURM_JOB_ID=12 POD_NAME=work-0 dsvc-work -j 1
	[[ $(workers '[.name, .tags]' | grep -v : | LC_ALL=C sort) == '["me",["slurm","node=n3"]]
["n3-12.2",["mine","slurm","node=n3","part=long"]]
["work-0",["k8s"]]' ]]
	[[ $(workers .name | grep -c :) == 1 ]]
	[[ $(dsvc-read --where part=long -e 'range 3') == $'0\n1\n2' ]]
}

@test "--memory N% is of what the worker may use" {
	start dispatch dsvc-dispatch
	run -0 within 20s dsvc-work --memory 1% --lifetime 1ms
	run -64 dsvc-work --memory 0%
	run -64 --separate-stderr dsvc-work --memory 101%
	[[ ${stderr_lines[0]} == *"'101%' is not a size (try 64k, 10M, 1.5G, 25%)"* ]]
}

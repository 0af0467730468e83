#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Services that read from each other: at=ENDPOINT, and readers that pipelines run.

load lib/dsvc

# Two services; $other is the address of the one that programs do not find by themselves.
setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
	other=$(free_ipc other)
	start far dsvc-dispatch -b "$other"
	start farwork dsvc-work -d "$other"
	start near dsvc-dispatch
}

near() { # NAME ARG...
	local name=$1
	shift
	start "$name" dsvc-work "$@"
}

nobody_reads() { # ENDPOINT
	[[ $(dsvc-status -d "$1" --json | jq '.readers | length') == 0 ]]
}

@test "at= wins over the address that programs have" {
	near one
	dsvc-register -d "$other" --id six 'range 6' >/dev/null
	dsvc-register --id six 'range 3' >/dev/null
	[[ $(dsvc-run "dataset six at=$other | count") == 6 ]]
	[[ $(dsvc-run 'dataset six | count') == 3 ]]
	[[ $(dsvc-read -t count -e "dataset six at=$other") == 6 ]]
	[[ $(dsvc-read -t count -e "dataset six at=${other#ipc://}") == 6 ]]
	stop one
	[[ $(dsvc-run "range 5 | map x * x | distribute at=$other order=source | map x + 1" | tail -n 1) == 17 ]]
	run -69 dsvc-run "dataset six at=$(free_ipc nobody)"
	[[ $output == *"(from at=)"* ]]
}

@test "workers read a dataset of another service, each element once" {
	near one
	near two
	dsvc-register -d "$other" --id many 'range 20000 | shuffle 500' >/dev/null
	dsvc-read -e "dataset many at=$other | map x * 2 | distribute" | sort -n | cmp - <(seq 0 2 39998)
	id=$(dsvc-register "dataset many at=$other | filter x % 2 == 0 | repeat 2")
	dsvc-read "$id" | sort -n | cmp - <(seq 0 2 19999 | sed p)
	[[ $(dsvc-read --wait-workers 2 --sharding off -t count "$id") == 40000 ]]
	until_true 5s nobody_reads "$other"
}

@test "a worker that is killed in the middle of another service's dataset: exactly once" {
	near one --memory 1M --restart-interval 100ms
	dsvc-register -d "$other" --id many 'range 300000 | shuffle 5000 | map {i: x, pad: pad("", 90, "p")}' >/dev/null
	mkfifo pipe
	spawn reader bash -c 'exec dsvc-read --window 2 -e "$1" >pipe' - "dataset many at=$other | distribute"
	exec 9<pipe
	head -c 5000000 <&9 >part
	kill -KILL "${pid[one]}"
	reap one
	near two --memory 1M
	cat part - <&9 | sed 's/^{"i":\([0-9]*\),.*/\1/' | sort -n | cmp - <(seq 0 299999)
	reap reader 20
	((status == 0))
	run -0 dsvc-status --audit all
	[[ $output == *balanced* ]]
	until_true 5s nobody_reads "$other"
}

@test "who stops reading stops the other service's readers, too" {
	near one
	dsvc-register -d "$other" --id endless 'counter' >/dev/null
	run -0 within 10s dsvc-read -n 3 -q -e "dataset endless at=$other | distribute"
	until_true 10s nobody_reads "$other"
	stop one
	((status == 0))
}

@test "another service that is lost is an error, not an end" {
	near one
	dsvc-register -d "$other" --id endless 'counter' >/dev/null
	spawn reader bash -c "exec dsvc-read -q -t none -e 'dataset endless at=$other | distribute'"
	until_true 5s bash -c "dsvc-status -d '$other' --json | jq -e '.readers | length == 1'"
	kill -KILL "${pid[far]}"
	reap reader 20
	((status == 75))
	grep -q 'lost contact with the dispatcher' reader.err
}

@test "what workers would share or could not know is refused" {
	near one
	dsvc-register -d "$other" --id six 'range 6' >/dev/null
	for option in job=j sharding=off shard=1 epoch=2; do
		run -65 dsvc-read -e "dataset six at=$other $option | map x | distribute"
		[[ $output == *"takes no ${option%=*}="* ]]
	done
	dsvc-register --id six 'range 6' >/dev/null
	run -65 dsvc-read -e 'dataset six | map x | distribute'
	[[ $output == *"cannot run on the service's workers"*at=ENDPOINT* ]]
}

@test "a reader inside a pipeline has no options of the reader outside" {
	near one
	export DSVC_ORDER=source DSVC_COUNT=2 DSVC_JOB=mine
	run -0 within 20s dsvc-read -e "cmd -- dsvc-read -q -e 'range 5'"
	[[ $output == $'0\n1' ]]
	unset DSVC_COUNT DSVC_JOB
	run -0 within 20s dsvc-read -e "elements ['range 3', 'range 2'] | exec proto=arg -- dsvc-read -t count -e {}"
	[[ $output == $'3\n2' ]]
	run -0 within 20s dsvc-read -e "elements ['range 7'] | exec proto=arg -- dsvc-read -d $other -t count -e {}"
	[[ $output == 7 ]]
}

@test "repeat behind a named distribute reads the job's iterations" {
	near one
	run -0 within 10s dsvc-run 'range 3 | distribute job=again order=source | repeat 2'
	[[ $output == $'0\n1\n2\n0\n1\n2' ]]
	[[ $(dsvc-status --json | jq -c '[.jobs[] | select(.name == "again").iterations[].epoch]') == '[1,2]' ]]
	run -0 within 10s dsvc-read -q -J again --epoch 2 --order source -t count -e 'range 3'
	[[ $output == 0 ]]
	run -0 within 10s dsvc-read -J again --epoch 3 --order source -t count -e 'range 3'
	[[ $output == 3 ]]
}

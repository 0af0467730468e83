#!/usr/bin/env bats
# Jobs over a folder that is still being saved to: `load DIR wait=true`.
load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

# Saves what comes through the pipe `in`, 100 lines or so to a file.
saves() {
	mkfifo in
	spawn save bash -c 'exec dsvc-run -t none "stdin | map int(x) | save out file_size=300" <in'
}

lines_in() { # N FILE: it has N lines
	(($(wc -l <"$2") >= $1))
}

@test "the streams of a job share the files of a save that goes on, each element once" {
	start dispatch dsvc-dispatch
	start work1 dsvc-work -j 1
	start work2 dsvc-work -j 1
	saves
	spawn read dsvc-read -J grow -e "load $PWD/out wait=true"
	exec 9>in
	seq 0 1999 >&9
	until_true 20s lines_in 1500 read.out
	[[ ! -e out/SNAPSHOT ]]
	run -0 dsvc-status --json
	[[ $(jq -c '[.workers[].streams]' <<<"$output") == '[1,1]' ]]
	# one that comes later has the files that are there, and those to come
	spawn late dsvc-read -e "load $PWD/out wait=true | repeat 2" 9>&-
	seq 2000 3999 >&9
	# a worker that is killed loses nothing
	stop work1 KILL || true
	start work1 dsvc-work -j 1 9>&-
	exec 9>&-
	reap save
	reap read 20
	((status == 0))
	sort -n read.out | cmp - <(seq 0 3999)
	reap late 20
	((status == 0))
	sort -n late.out | uniq -c | awk '$1 != 2' | cmp - /dev/null
	[[ $(wc -l <late.out) == 8000 ]]
	# of what is whole, and of what holds nothing
	dsvc-read -e "load $PWD/out wait=true" | sort -n | cmp - <(seq 0 3999)
	dsvc-run -t none 'range 0 | save none'
	run -0 dsvc-read -e "load $PWD/none wait=true | repeat 2"
	[[ ! $output ]]
}

@test "a job with an order reads a save that goes on as it goes on" {
	service 2
	saves
	spawn read dsvc-read --order stable -e "load $PWD/out wait=true"
	exec 9>in
	seq 0 999 >&9
	until_true 20s lines_in 700 read.out
	seq 1000 1999 >&9
	exec 9>&-
	reap read 20
	((status == 0))
	cmp read.out <(seq 0 1999)
}

@test "a save that fails ends the jobs that read it, with its code and what it says" {
	service 2
	saves
	spawn read dsvc-read -e "load $PWD/out wait=true"
	exec 9>in
	seq 0 1999 >&9
	until_true 20s lines_in 1500 read.out
	echo none >&9
	exec 9>&-
	reap save
	((status == 65))
	reap read 20
	((status == 65))
	[[ $(<read.err) == *"the save to '$PWD/out' has failed: "* ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --transfer: readers on the machine of a worker read elements in its memory. They are the
# same elements as in copies, whatever happens to either side, and nothing is left behind.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
	head -c 1048576 /dev/urandom >one.bin
}

small='range 200_000'
large='whole one.bin | repeat 64'
mixed='range 30 | map { id: x, bytes: pad("a", x * x * 600, "b") }'

status_of() { # JQ FILTER: whether the status fits
	[[ $(dsvc-status --json 2>/dev/null | jq "$1") == true ]]
}

no_lease() {
	status_of '[.workers[].leased_bytes] | add == 0'
}

# What a program has open or mapped of shared memory.
arenas_of() { # NAME
	{ ls -l "/proc/${pid[$1]}/fd"; cat "/proc/${pid[$1]}/maps"; } 2>/dev/null | grep -c dsvc-arena
}

no_arenas() {
	[[ $(arenas_of "$1") == 0 ]]
}

# Everything a reader gives, in the order of the source, by both ways.
same_both_ways() { # FORMAT SPEC
	run -0 within 30s dsvc-read --order source --transfer copy -t "$1" -o copy.out -e "$2"
	run -0 within 30s dsvc-read --order source --transfer shm -t "$1" -o shm.out -e "$2"
	cmp copy.out shm.out
	[[ -s shm.out ]]
	rm copy.out shm.out
}

@test "elements are the same in shared memory as in copies: small, large and mixed" {
	service 1
	local spec format
	for spec in "$small" "$large" "$mixed"; do
		for format in msgpack ndjson; do
			same_both_ways "$format" "$spec"
		done
	done
	run -0 within 30s dsvc-read --transfer shm -t count -e "$large"
	[[ $output == 64 ]]
	until_true 10s no_lease
}

@test "the same over tcp, where the connection goes through one machine" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	start work dsvc-work --insecure --allow-read "$PWD"
	same_both_ways msgpack "$large"
}

@test "elements that do not fit, or find no place, come as copies between the others" {
	start dispatch dsvc-dispatch
	start work dsvc-work --memory 1M
	cat one.bin one.bin one.bin >three.bin
	same_both_ways msgpack 'whole three.bin | repeat 8'
	same_both_ways msgpack "$mixed"
	same_both_ways msgpack "$large"
}

@test "status tells of the memory and of who reads there" {
	service 1
	mkfifo pipe
	exec 5<>pipe
	spawn read dsvc-read -t msgpack -o pipe -e "$large"
	until_true 10s status_of '.readers[0].transfer == "shm" and .workers[0].arena_bytes == 33554432 and .workers[0].leased_bytes > 1000000'
	run -0 dsvc-status
	grep -q ' transfer shm' <<<"$output"
	grep -Eq 'arena 32.0 MiB, leased [0-9]+\.[0-9]' <<<"$output"
	kill -KILL "${pid[read]}"
	until_true 10s no_lease
	exec 5>&-
}

@test "a reader that is killed leaves nothing, and who takes its place gets all" {
	service 1
	mkfifo pipe
	exec 5<>pipe
	spawn read dsvc-read -t msgpack -o pipe -e "$large"
	until_true 10s status_of '.workers[0].leased_bytes > 1000000'
	stop read KILL || ((status == 137))
	exec 5>&-
	until_true 10s no_lease
	same_both_ways msgpack "$large"
	until_true 10s no_lease
	stop work1
	[[ -z $(find "$sockets" -name 'arena-*') ]]
}

@test "a worker that is killed leaves its readers what they have" {
	service 2
	mkfifo pipe
	exec 5<>pipe
	run -0 within 30s dsvc-read --order stable --shards 4 -t msgpack -o whole.out -e 'range 4000 | map pad(hex(x), x * 20, "x")'
	spawn read dsvc-read --order stable --shards 4 --transfer shm -t msgpack -o pipe -e 'range 4000 | map pad(hex(x), x * 20, "x")'
	until_true 10s status_of '[.workers[].leased_bytes] | max > 100000'
	local victim other
	victim=$(dsvc-status --json | jq '.workers | max_by(.leased_bytes).pid')
	[[ $victim == "${pid[work1]}" ]] && victim=work1 other=work2 || victim=work2 other=work1
	kill -KILL "${pid[$victim]}"
	reap "$victim"
	timeout 60 head -c "$(stat -c %s whole.out)" <&5 >killed.out &
	local head=$!
	reap read 60
	((status == 0))
	wait "$head"
	cmp whole.out killed.out
	exec 5>&-
	# its socket is removed by whoever opens one next
	run -0 within 30s dsvc-read --transfer shm -t count -e "$small"
	stop "$other"
	start work3 dsvc-work --transfer shm
	stop work3
	[[ -z $(find "$sockets" -name 'arena-*') ]]
}

@test "a reader that was stopped and taken for lost writes what it had" {
	start dispatch dsvc-dispatch --loss 500ms
	start work dsvc-work
	mkfifo pipe
	exec 5<>pipe
	spawn read dsvc-read --transfer shm -J job -t msgpack -o pipe -e 'whole one.bin | repeat 200'
	until_true 10s status_of '.workers[0].leased_bytes > 8000000'
	kill -STOP "${pid[read]}"
	until_true 10s status_of '.readers | length == 0'
	# its elements go to others, through the same memory
	run -0 within 60s dsvc-read --transfer shm -J job -t msgpack -o rest.out -e 'whole one.bin | repeat 200'
	run -0 within 30s dsvc-read --transfer shm -t count -e 'range 2000 | map pad(hex(x), 100000, "z")'
	status_of '.workers[0].leased_bytes > 8000000'
	kill -CONT "${pid[read]}"
	timeout 20 cat <&5 >had.out &
	local cat=$!
	reap read 20
	((status == 75))
	kill "$cat" || true
	wait "$cat" || true
	exec 5>&-
	# what it had is whole elements of the file and nothing else, up to where it was cut
	dsvc-run -t msgpack 'whole one.bin | repeat 200' >all.out
	cmp -n "$(stat -c %s had.out)" all.out had.out
	(($(stat -c %s had.out) > 1048576))
	until_true 10s no_lease
}

@test "memory is given back: nothing of it is open or mapped when all is read" {
	service 1
	mkfifo pipe
	exec 5<>pipe
	spawn read dsvc-read --transfer shm -t msgpack -o pipe -n 1 -e "$large"
	until_true 10s status_of '.workers[0].arena_bytes > 0'
	[[ $(arenas_of work1) -gt 0 ]]
	timeout 10 head -c 1048000 <&5 >/dev/null
	timeout 10 cat <&5 >/dev/null &
	local cat=$!
	reap read 20
	((status == 0))
	kill "$cat" || true
	exec 5>&-
	until_true 10s no_lease
	# the worker keeps its arena for the next reader, and no socket of the last one
	[[ $(find "/proc/${pid[work1]}/fd" -lname '*dsvc-arena*' | wc -l) == 1 ]]
}

@test "shared memory that is asked for and cannot be had is 69" {
	start dispatch dsvc-dispatch
	start work dsvc-work --transfer copy --name w3
	run -69 within 20s dsvc-read --transfer shm -e 'range 5'
	[[ $output == *'worker w3 was started with --transfer copy'* ]]
	[[ $output == *'--transfer copy sends the elements'* ]]
	run -0 within 20s dsvc-read -t count -e 'range 5'
	[[ $output == 5 ]]
	run -64 dsvc-read --transfer fast -e 'range 5'
	DSVC_TRANSFER=copy run -0 within 20s dsvc-read -t count -e 'range 5'
	DSVC_TRANSFER=shm run -69 within 20s dsvc-read -t count -e 'range 5'
}

@test "a worker on another machine shares nothing" {
	start dispatch dsvc-dispatch
	# another machine is one with other process numbers
	start work unshare -Upf --kill-child dsvc-work --name w3
	run -69 within 20s dsvc-read --transfer shm -e 'range 5'
	[[ $output == *'worker w3 is on another machine'* ]]
	run -0 within 20s dsvc-read --transfer auto -t count -e 'range 5'
	[[ $output == 5 ]]
}

@test "distribute takes transfer, and reads copies of what is shared" {
	service 1
	run -0 within 20s dsvc-run 'range 1000 | map pad(hex(x), 1000, "y") | distribute transfer=shm | map len(x) | unique'
	[[ $output == 1000 ]]
	run -0 within 20s dsvc-run -t count 'range 5 | distribute transfer=copy'
	[[ $output == 5 ]]
	stop work1
	start work dsvc-work --transfer copy --name w3
	run -69 within 20s dsvc-run 'range 5 | distribute transfer=shm'
	[[ $output == *'worker w3 was started with --transfer copy'* ]]
	DSVC_TRANSFER=shm run -69 within 20s dsvc-run 'range 5 | distribute'
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --compression of a job: what workers keep and send is compressed or not, as the job says
# and whatever its workers were told; elements are the same.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

# 10 MB of elements that snappy makes small.
pads='range 100 | map pad("a", 100000, "a")'

kept() { # BYTES OPERATOR: of what all workers keep, once everything is made
	[[ $(dsvc-status --json | jq "([.jobs[].iterations[] | .streams_ended == .streams_known] | all) and
		([.workers[].kept_bytes] | add $2 $1)") == true ]]
}

# A reader that takes half of the elements of a job with these options: what is made ahead grows with what was sent.
stands_still() { # ARG...
	mkfifo out
	spawn read bash -c 'exec dsvc-read --transfer copy --window 1 "$@" -e "$0" >out' "$pads" "$@"
	exec 9<out
	timeout "$patience" head -c 5000000 <&9 >half
	[[ $(wc -c <half) == 5000000 ]]
}

@test "a job is compressed though its worker compresses nothing" {
	start dispatch dsvc-dispatch
	start work dsvc-work --compression none
	stands_still --compression snappy
	until_true 10s kept 2000000 '<'
	[[ $(wc -c <&9) == 5000100 ]]
}

@test "a job is left as it is though its worker compresses everything" {
	start dispatch dsvc-dispatch
	start work dsvc-work --compression snappy
	stands_still --compression none
	until_true 10s kept 2000000 '>'
}

@test "elements are the same, also where readers share memory with the worker" {
	service 2
	local how
	dsvc-run -t msgpack "$pads | enumerate" >want
	for how in auto none snappy; do
		run -0 dsvc-read --order source --compression "$how" -t msgpack -o got -e "range 100 | map [x, pad(\"a\", 100000, \"a\")]"
		cmp want got
	done
	run -0 dsvc-run 'range 100000 | distribute compression=snappy order=stable | count'
	[[ $output == 100000 ]]
}

@test "readers of one job agree on it" {
	service
	dsvc-read -n 1 -J mine --compression snappy -e 'range 100000' >/dev/null
	run -64 dsvc-read -J mine -e 'range 100000'
	[[ $output == *"it has "*compression=snappy*"you asked for "*compression=auto* ]]
	[[ $(dsvc-status --json | jq -r '.jobs[0].compression') == snappy ]]
}

@test "what is compressed cannot be asked for in shared memory" {
	service
	run -64 dsvc-read --transfer shm --compression snappy -e 'range 5'
	[[ $output == *'compression `snappy` and transfer `shm` do not go together'* ]]
	run -64 dsvc-read --compression zstd -e 'range 5'
}

@test "bytes are counted as elements and as what went through sockets for them" {
	service
	local how
	bytes() { # TEST: of the finished passes of job $how
		dsvc-status --json | jq -e ".jobs[] | select(.name == \"$how\") | .iterations[0] | $1" >/dev/null
	}
	for how in none snappy shm; do
		local as=(--compression "$how" --transfer copy)
		[[ $how != shm ]] || as=(--transfer shm)
		dsvc-read "${as[@]}" -J "$how" -t none -e "$pads"
	done
	# Each element is its text and a head of 5 bytes.
	how=none until_true 10s bytes '.raw_bytes == 10000500 and .wire_bytes == .raw_bytes'
	how=snappy until_true 10s bytes '.raw_bytes == 10000500 and .wire_bytes > 0 and .wire_bytes < 1000000'
	# What is made before its reader has the memory of the worker is sent as it is.
	how=shm until_true 10s bytes '.raw_bytes == 10000500 and .wire_bytes <= .raw_bytes'
	[[ $(dsvc-status --metrics) == *$'\n''dsvc_bytes_total{dsvc_job="none",stage="wire"} 10000500'$'\n'* ]]
}

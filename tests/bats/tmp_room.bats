#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Temporary files leave the disk room: a share of what is free, or what --tmp-max says.

load lib/dsvc

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export TMPDIR=$BATS_TEST_TMPDIR
}

@test "what sort and reverse put into temporary files has a limit, and the error says how to mend it" {
	local op
	for op in 'sort -x' reverse 'sort x | reverse'; do
		run -74 --separate-stderr dsvc-run --tmp-max 100k -t count "range 40000 | ${op//|/mem=50k |} mem=50k"
		[[ $stderr == *"operator 2"*"temporary files in $TMPDIR have taken "*" KiB, and need more than --tmp-max allows (100 KiB)"* ]]
		[[ $stderr == *"help: --tmp-max"*"DSVC_TMP_MAX"*"TMPDIR or tmp="*"mem="* ]]
		run -0 dsvc-run --tmp-max 100M -t count "range 40000 | ${op//|/mem=50k |} mem=50k"
		[[ $output == 40000 ]]
	done
	DSVC_TMP_MAX=100k run -74 dsvc-run -t count 'range 40000 | sort -x mem=50k'
	# what stays in memory takes none of it
	run -0 dsvc-run --tmp-max 1 -t count 'range 40000 | sort -x | reverse'
}

@test "the limit is one of all temporary files of a process, and room comes back" {
	# a sort takes between 700 and 900 KiB
	run -0 dsvc-run --tmp-max 1M -t count 'range 60000 | sort -x mem=1M'
	run -74 dsvc-run --tmp-max 1M -t count 'range 60000 | sort -x mem=1M | sort x mem=500k'
	run -0 dsvc-run --tmp-max 1M -t count 'concat (range 60000 | sort -x mem=1M) (range 60000 | sort -x mem=1M)'
	[[ $output == 120000 ]]
}

@test "a folder is not filled: a quarter of what is free there is left" {
	mkdir small
	run -74 --separate-stderr unshare -rm bash -c 'mount -t tmpfs -o size=2M none small && exec "$@"' - \
		dsvc-run -t count 'range 200000 | sort -x mem=200k tmp=small'
	[[ $stderr == *"temporary files in small have taken 1.5 MiB of the 2.0 MiB that are free there, and need more than 75% of it"* ]]
}

@test "a worker has the limit for its streams, and for caches of what it is given piece by piece" {
	service 0
	start work dsvc-work --tmp-max 100k
	run -74 --separate-stderr dsvc-read -t count -e 'range 40000 | sort -x mem=50k per_stream=true'
	[[ $stderr == *"need more than --tmp-max allows"* ]]
	run -0 dsvc-read -t count -e 'range 400 | sort -x mem=50k per_stream=true'
	[[ $output == 400 ]]
	run -74 --separate-stderr dsvc-read -t count -e "range 4000000 | cache $PWD/kept | repeat 2"
	[[ $stderr == *"temporary files in $PWD/kept have taken"* ]]
}

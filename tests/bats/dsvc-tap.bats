#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Elements in the middle of real passes, which do not notice.

load lib/dsvc

@test "help and version need nothing; a missing job is 64, one that is not there 66" {
	run -0 dsvc-tap --version
	run -0 dsvc-tap -h
	[[ $output == *--count* ]]
	run -64 dsvc-tap
	[[ $output == *'which job?'*'dsvc-status lists them'* ]]
	run -64 dsvc-tap one two three
	run -64 dsvc-tap -n 0 one
	run -69 dsvc-tap one
	service
	run -66 dsvc-tap one
	[[ $output == *'no job `one`'* ]]
	dsvc-read -J squares -t none -e 'range 10 | map x*x'
	run -66 dsvc-tap squares
	[[ $output == *'no pass is under way of job `squares`'* ]]
}

@test "each operator shows what it gives, by number or by name" {
	service
	spawn read dsvc-read -J looked -t none -e 'range 1_000_000_000_000 | filter x % 2 == 1 | map {n: x} | batch 2 | map x'
	until_true 20s dsvc-tap -n 1 looked
	run -0 dsvc-tap -n 100 looked range
	[ "${#lines[@]}" -eq 100 ]
	[ $((lines[1] - lines[0])) -eq 1 ]
	run -0 dsvc-tap -n 3 looked filter
	((lines[0] % 2 == 1 && lines[1] == lines[0] + 2 && lines[2] == lines[1] + 2))
	run -0 dsvc-tap -n 2 looked 3
	[[ ${lines[0]} =~ ^'{"n":'[0-9]*[13579]'}'$ ]]
	run -0 dsvc-tap -n 1 -t json looked
	jq -e '.[0].n | length == 2 and .[0] % 2 == 1' <<<"$output"
	run -0 dsvc-tap -n 1500 -t count looked 1
	[ "$output" = 1500 ]
	run -64 dsvc-tap looked map
	[[ $output == *'several operators are called `map`'*'help: give the number of one: 3 `map {n: x}`, 5 `map x`'* ]]
	run -64 dsvc-tap looked sort
	[[ $output == *'no operator is called `sort`'*'1 `range 1000000000000`, 2 `filter x % 2 == 1`'* ]]
	run -64 dsvc-tap looked 6
}

@test "inner pipelines, splits of files, threads that run ahead" {
	service
	mkdir "$BATS_TEST_TMPDIR/d"
	for i in 1 2 3 4; do seq "${i}001" "${i}999" >"$BATS_TEST_TMPDIR/d/$i"; done
	spawn read dsvc-read -J deep -t none -e "files '$BATS_TEST_TMPDIR/d/*' | repeat | interleave (lines x) | prefetch 4 | map int(x)"
	until_true 20s dsvc-tap -n 1 deep
	run -0 dsvc-tap -n 8 deep files
	[[ ${lines[0]} == "$BATS_TEST_TMPDIR/d/"[1-4] ]]
	run -0 dsvc-tap -n 200 deep lines
	[[ ${lines[199]} =~ ^[1-4][0-9][0-9][0-9]$ ]]
	run -0 dsvc-tap -n 200 deep prefetch
	# A source that is read split by split shows each of its elements once.
	spawn files dsvc-read -J flat -t none -e "lines '$BATS_TEST_TMPDIR/d/*' | repeat | map x | sleep 1ms"
	until_true 20s dsvc-tap -n 1 flat
	run -0 dsvc-tap -n 50 flat 1
	[ "$(sort -u <<<"$output" | wc -l)" -eq 50 ]
}

@test "a pass that is looked at gives each element once, and its end is the end of the look" {
	service
	cat >"$BATS_TEST_TMPDIR/count" <<-'E'
		i=0
		until [ -e "$0.stop" ]; do
			echo "$i"
			i=$((i + 1))
			sleep 0.01
		done
	E
	spawn read dsvc-read -J whole -o "$BATS_TEST_TMPDIR/out" -e "cmd sh '$BATS_TEST_TMPDIR/count' | map x"
	until_true 20s dsvc-tap -n 5 whole 1
	spawn one dsvc-tap -n inf whole 1
	until_true 20s test -s "$BATS_TEST_TMPDIR/one.out"
	touch "$BATS_TEST_TMPDIR/count.stop"
	reap one
	[ "$status" -eq 0 ]
	reap read
	[ "$status" -eq 0 ]
	local n
	n=$(wc -l <"$BATS_TEST_TMPDIR/out")
	cmp "$BATS_TEST_TMPDIR/out" <(seq 0 $((n - 1)))
	# What was looked at is in what was read.
	[ -z "$(comm -13 <(sort "$BATS_TEST_TMPDIR/out") <(sort -u "$BATS_TEST_TMPDIR/one.out"))" ]
	run -0 dsvc-status --audit whole
}

@test "elements that are too large to be shown are counted" {
	service
	spawn read dsvc-read -J large -t none -e 'range 1_000_000_000 | map pad(x, x % 2 == 0 ? 100_000 : 10) | map len(x)'
	until_true 20s dsvc-tap -n 1 large
	run -0 --separate-stderr dsvc-tap -n 20 large 2
	[ "${#lines[@]}" -eq 20 ]
	[[ ${lines[0]} =~ ^' '*[0-9]*[13579]$ ]]
	[[ $stderr =~ [0-9]+' element'(' was'|'s were')' left out: those of more than 64 KiB are not shown' ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# split_files: elements into the files that their keys name.

load lib/dsvc

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "each element goes to the file of its key, and the files appear whole" {
	run -0 dsvc-run 'elements [{u: "a", n: 1}, {u: "b", n: 2}, {u: "a", n: 3}] | split_files out .u format=csv'
	[[ $output == "$(printf '{"file":"%s","elements":%s,"bytes":%s}\n' \
		out/a.csv 2 12 out/b.csv 1 8)" ]]
	[[ $(<out/a.csv) == $'u,n\na,1\na,3' && $(<out/b.csv) == $'u,n\nb,2' ]]
	run -0 dsvc-run -t count 'range 6 | tee (| split_files teed [x % 2, x % 3]) | filter true'
	[[ $output == 6 && $(cd teed && find . -type f | sort | tr '\n' ' ') == './0/0.ndjson ./0/1.ndjson ./0/2.ndjson ./1/0.ndjson ./1/1.ndjson ./1/2.ndjson ' ]]
	for form in ndjson tsv text msgpack tfrecord; do
		run -0 dsvc-run -t none "range 4 | map str(x) | split_files form int(x) % 2 format=$form"
	done
	[[ $(cd form && echo *) == '0.msgpack 0.ndjson 0.tfrecord 0.tsv 0.txt 1.msgpack 1.ndjson 1.tfrecord 1.tsv 1.txt' ]]
	[[ $(dsvc-run 'tfrecord form/1.tfrecord | map str(x)') == $'1\n3' ]]
}

@test "no key leads out of the folder, and different keys have different files" {
	dsvc-run -t none 'elements ["..", "../up", "/etc/x", ".hidden", "a/b", "a%2Fb", "", null, "%null", "x\ny", "é", -1.5, true]
		| split_files out x format=text'
	[[ $(cd out && find . -type f | LC_ALL=C sort) == "$(printf './%s.txt\n' % %25null %2E. %2E.%2Fup %2Ehidden %2Fetc%2Fx \
		%null -1.5 a%252Fb a%2Fb true x%0Ay é | LC_ALL=C sort)" ]]
	[[ ! -e up.txt ]]
	run -65 --separate-stderr dsvc-run 'elements [{k: [1, [2]]}] | split_files bad .k'
	[[ $stderr == *'neither text, number, bool nor null'* ]]
	run -65 dsvc-run 'range 1 | split_files bad "abcdefghij" ++ join(map(range(200), "x"))'
	run -0 --separate-stderr dsvc-run -t count 'elements [[], "ok"] | split_files skipped x on_error=skip'
	[[ $output == 1 && $(ls -A skipped) == ok.ndjson ]]
}

@test "thousands of keys need few open files, and nothing is lost or mixed up" {
	ulimit -n 120
	run -0 dsvc-run -t count 'range 60000 | split_files out x % 1500 format=text'
	[[ $output == 1500 ]]
	cat out/*.txt | sort -n | cmp - <(seq 0 59999)
	[[ $(head -n 2 out/7.txt) == $'7\n1507' && $(wc -l <out/7.txt) == 40 ]]
	run -65 --separate-stderr dsvc-run 'range 20 | split_files few x max=10'
	[[ $stderr == *'more than 10 files'*'max=100'* && -z $(ls -A few) ]]
}

@test "what is there is not overwritten unasked, and a run that fails leaves nothing" {
	mkdir out
	echo mine >out/1.ndjson
	run -74 --separate-stderr dsvc-run 'range 3 | split_files out x'
	[[ $stderr == *"out/1.ndjson is there already"*"overwrite=true"* && $(<out/1.ndjson) == mine && $(ls -A out) == 1.ndjson ]]
	run -65 dsvc-run 'range 100000 | map (x == 99999 ? fail("no") : x) | split_files out x % 2 overwrite=true'
	[[ $(<out/1.ndjson) == mine && $(ls -A out) == 1.ndjson ]]
	run -0 dsvc-run -t none 'range 3 | split_files out x overwrite=true'
	[[ $(cat out/{0,1,2}.ndjson) == $'0\n1\n2' ]]
}

@test "it stands behind distribute, where all elements come together" {
	service 2
	run -65 --separate-stderr dsvc-read -e 'range 3 | split_files out x | distribute'
	[[ $stderr == *split_files* ]]
	run -65 --separate-stderr dsvc-read -e "range 3 | split_files $PWD/out x per_stream=true | distribute"
	[[ $stderr == *'put it after `distribute`'* && ! -e out ]]
	run -0 dsvc-read -t count -e 'range 1000 | distribute | split_files out x % 10'
	[[ $output == 10 && $(cat out/*.ndjson | sort -n | md5sum) == "$(seq 0 999 | md5sum)" ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Arrays of every shape and dtype, through workers and over an interruption.
# shellcheck disable=SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

here() { cd "$BATS_TEST_TMPDIR" || return; }

# array FILE DESCR ORDER SHAPE: an array without numbers; its data may follow.
array() {
	local head="{'descr': '$2', 'fortran_order': $3, 'shape': ($4), }"

	printf '\223NUMPY\1\0%b\0%s' "\\0$(printf %o "${#head}")" "$head" >"$1"
}

arrays() {
	array five.npy '<f4' False '5, 0'
	array none.npy '<f4' False '0, 0'
	array three.npy '<f4' True '3, 0'
	array many.npy '<f4' False '300000, 0'
}

@test "slices without a number are given once by workers, in any order" {
	here
	service 2
	arrays
	files="$PWD/five.npy $PWD/none.npy $PWD/many.npy $PWD/three.npy"
	for order in any stable source; do
		run -0 dsvc-read --order "$order" -t count -e "npy $files"
		[[ $output == 300008 ]]
	done
	dsvc-run "npy $files | map [x, shape(x)]" >want
	[[ $(wc -l <want) == 300008 && $(sort -u want) == '[[],[0]]' ]]
	dsvc-read --order source -e "npy $files | map [x, shape(x)]" | cmp want
	run -0 dsvc-read --order stable --shards 3 -t count -e "npy $files"
	[[ $output == 300008 ]]
	run -0 dsvc-read --wait-workers 2 --sharding off -t count -e "npy $files"
	[[ $output == 600016 ]]
}

@test "slices without a number can be shuffled" {
	here
	service 2
	arrays
	spec="npy $PWD/three.npy $PWD/none.npy $PWD/many.npy $PWD/five.npy | enumerate | shuffle all"
	dsvc-run --seed 5 "$spec" >want
	dsvc-read --seed 5 --order source -e "$spec" | cmp want
	sort -V want | cmp - <(seq 0 300007 | sed "s/.*/[&,[]]/")
	run -0 dsvc-run "npy $PWD/three.npy $PWD/five.npy | shuffle all"
	[[ ${#lines[@]} == 8 ]]
}

@test "a reader that is killed among slices without a number goes on there" {
	here
	arrays
	start dispatch dsvc-dispatch
	start one dsvc-work --memory 1M -j 2 --drain-timeout 1s
	spec="npy $PWD/five.npy $PWD/many.npy | map {x: x, pad: \"0123456789012345678901234567890123456789\"}"
	dsvc-run "$spec" >want
	spawn reader dsvc-read --window 2 --order source --checkpoint pos -o out -e "$spec"
	until_true 10s test -s out
	kill -KILL "${pid[reader]}"
	reap reader
	run -0 dsvc-read --order source --checkpoint pos -o out -e "$spec"
	cmp out want
}

@test "half floats are read and written, and numpy has no bf16" {
	here
	array half.npy '<f2' False '3, 2'
	printf '\0\074\0\301\377\173\0\374\1\0\0\200' >>half.npy
	run -0 dsvc-run 'npy half.npy'
	[[ $output == $'[1.0,-2.5]\n[65504.0,null]\n[5.960464477539063e-08,-0.0]' ]]
	dsvc-run -t npy -o again.npy 'npy half.npy'
	cmp <(tail -c 12 half.npy) <(tail -c 12 again.npy)
	grep -aq "'descr': '<f2', 'fortran_order': False, 'shape': (3, 2)" again.npy
	dsvc-run -t npy -o five.npy 'range 5 | map zeros([0], "f16")'
	grep -aq "'descr': '<f2', 'fortran_order': False, 'shape': (5, 0)" five.npy
	[[ $(dsvc-run 'npy five.npy' | sort | uniq -c | tr -s ' ') == ' 5 []' ]]
	for format in npy tar; do
		run -65 dsvc-run -t "$format" -o bf16 'npy half.npy | map {__key__: "a", npy: cast(x, "bf16")}'"$([[ $format == tar ]] || echo '.npy')"
		[[ $output == *'numpy has no dtype bf16'*'cast(x, "f32")'* && ! -e bf16 ]]
	done
	dsvc-run -t msgpack 'npy half.npy | map cast(x, "bf16")' >bf16.mp
	run -0 dsvc-run 'msgpack bf16.mp | batch 3 | map [dtype(x), x]'
	[[ $output == '["bf16",[[1.0,-2.5],[65536.0,null],[5.960464477539063e-08,-0.0]]]' ]]
	dsvc-run -t tfrecord -o half.tfrecord 'npy half.npy | take 1 | map {v: cast(x, "bf16")}'
	run -0 dsvc-run 'tfrecord half.tfrecord as=example'
	[[ $output == '{"v":[1.0,-2.5]}' ]]
}

# alike SPEC SPEC: both give the same elements, end alike, and say the same, but for names.
alike() {
	local one two

	dsvc-run -t msgpack "$1" >one.out 2>one.err && one=0 || one=$?
	dsvc-run -t msgpack "$2" >two.out 2>two.err && two=0 || two=$?
	sed -i 's/[a-z]*\.npy\(\.gz\)*/FILE/g; s/at least //' one.err two.err
	[[ $one == "$two" ]] && cmp one.out two.out && diff one.err two.err
}

@test "large slices are what they are when their bytes come packed" {
	here
	array tail.npy '|u1' False '9, 70000'
	seq 110000 >body
	truncate -s 630000 body
	cat tail.npy body >whole.npy
	head -c 629990 body | cat tail.npy - >cut.npy
	cat whole.npy <(echo abc) >more.npy
	for f in whole cut more tail; do
		gzip -k "$f.npy"
		alike "npy $f.npy" "npy $f.npy.gz"
	done
	dsvc-run -t msgpack 'npy whole.npy' >want
	[[ $(wc -c <want) -gt 630000 ]]
	cat whole.npy | dsvc-run -t msgpack 'npy -' | cmp - want
	alike 'npy whole.npy whole.npy' 'npy whole.npy.gz whole.npy.gz'
	alike 'npy whole.npy | skip 3' 'npy whole.npy.gz | skip 3'
	alike 'npy cut.npy whole.npy on_error=skip' 'npy cut.npy.gz whole.npy.gz on_error=skip'
	service 2
	dsvc-read --order source --shards 4 -t msgpack -e "npy $PWD/whole.npy" | cmp - want
}

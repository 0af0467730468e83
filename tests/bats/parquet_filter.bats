#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Parquet: row groups are skipped whose statistics say that a filter lets none of their rows through, and so are the rows
# of the others that it lets not through; no others are.
# shellcheck disable=SC2016,SC2154

load lib/dsvc
load lib/parquet

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

# Runs the pipelines of standard input, many at once.
all() {
	split -l 400 - part.
	for p in part.*; do
		echo "concat $(tr '\n' ' ' <"$p")" >spec
		dsvc-run -q -f spec || return
	done
	rm -f part.*
}

# A file of whose five row groups of 1000 rows the second cannot be read.
make_bad() {
	pyarrow make zstd z.parquet
	python3 -c '
b = bytearray(open("z.parquet", "rb").read())
n = len(b) // 3
b[n:n + 2000] = bytes(2000)
open("bad.parquet", "wb").write(b)'
}

@test "each type, comparison and constant: the same rows as when the filter is hidden, with statistics and without" {
	for kind in matrix silent; do
		pyarrow make "$kind" m.parquet
		pyarrow tests m.parquet >tests
		all <tests >got
		[[ $(wc -l <got) == "$(wc -l <tests)" ]]
		awk 'NR % 2' got >pushed
		awk 'NR % 2 == 0' got >hidden
		diff pushed hidden || { grep -n '' tests | awk 'NR % 2' >&2; false; }
		cp pushed "$kind.answers"
	done
	cmp matrix.answers silent.answers
	# Among them are tests that some rows pass.
	[[ $(sort -u matrix.answers | wc -l) -gt 100 ]]
}

@test "row groups are skipped, which those show that cannot be read" {
	make_bad
	run -65 --separate-stderr dsvc-run 'parquet bad.parquet | filter (.id >= 2000) == true'
	for test in '.id >= 2000' '.id < 1000' '.id == 4999' '.id in [1, 2500]' '3000 < .id' '.id > 1000 + 1000 and .ms != null' \
		'.id != null and .id > 2500' '.group < 4' '.id in [] and .ms > 1' '.id == null' \
		'.ms != 5 and .id != 5 and .id != 6 and .group != 9 and .id > 2500'; do
		dsvc-run "parquet bad.parquet | filter $test" >got || { echo "$test"; false; }
	done
	[[ $(dsvc-run 'parquet bad.parquet | filter .id > 1999 | count') == 3000 ]]
	[[ $(dsvc-run 'parquet bad.parquet | filter .id != 5 | filter .id < 900 | filter .id > 800 | count') == 99 ]]
	dsvc-run 'parquet bad.parquet with_name=true | filter .id >= 2000 | take 1 | map .record' | cmp - <(echo 2001)
	for test in '.id >= 1999' '.id > 2500 or .id == 0' '.ms < 1000 and .id > 2000' '.id > 2000 and i >= 0' \
		'i >= 0 and .id > 2000' '.id in [5, 1500]' '.name > "n5" and .id > 9' 'not (.id < 2000)'; do
		run -65 dsvc-run -q "parquet bad.parquet | filter $test"
	done
	run -65 dsvc-run -q 'parquet bad.parquet | skip 1 | filter .id >= 2000'
	run -65 dsvc-run -q 'parquet bad.parquet | filter .id % 2 == 0 | filter .id >= 2000'
}

@test "rows are skipped that a filter lets not through, which that shows which cannot be an element" {
	pyarrow make unfit u.parquet
	run -65 --separate-stderr dsvc-run 'parquet u.parquet'
	[[ $stderr == *'more than 4096 keys'* ]]
	run -0 dsvc-run 'parquet u.parquet with_name=true | filter .id != 1 | map [.record, .m]'
	[[ $output == $'[1,{"a":1}]\n[3,{}]' ]]
	for test in '.id > 1.5 and .m != 3' '.id in [2]' '.id == 2 and .m.a == 1'; do
		run -0 dsvc-run "parquet u.parquet | filter $test nulls=skip"
	done
	for test in '.id >= 1' '.id != 1 or .m == 3' '(.id != 1) == true' '.m != 3 and .id != 1'; do
		run -65 dsvc-run "parquet u.parquet | filter $test"
	done
}

@test "statistics of each type are understood: where no group is wanted, none is read" {
	pyarrow make matrix m.parquet
	python3 -c '
import struct
b = bytearray(open("m.parquet", "rb").read())
n = struct.unpack("<I", b[-8:-4])[0]
b[4:len(b) - 8 - n] = bytes(len(b) - 12 - n)
open("zero.parquet", "wb").write(b)'
	run -65 dsvc-run -q 'parquet zero.parquet'
	for c in bool:true int8:120 uint8:255 int16:32767 uint16:65535 int32:2147483647 uint32:4294967295 \
		int64:9223372036854775807 uint64:18446744073709551615 float:100 double:100 'large:"\u{10ffff}"' \
		'bytes:unbase64("//8=")' 'fixed:unbase64("//8=")' 'words:"x"' date:1e11 time:1e8 seconds:1e11 millis:1e11 \
		micros:1e11 nanos:1e11 decimal:1e9 wide:1e60; do
		dsvc-run -q -t none "parquet zero.parquet | filter .${c%%:*} > ${c#*:} nulls=skip" || { echo "$c"; false; }
	done
	dsvc-run -q -t none 'parquet zero.parquet times=int | filter .millis > 9e18 nulls=skip'
	# Texts of decimals have another order than decimals.
	run -65 dsvc-run -q -t none 'parquet zero.parquet decimals=text | filter .decimal > "z" nulls=skip'
}

@test "by index and in a service, row groups are skipped, too, and what is told of rows stays right" {
	make_bad
	dsvc-run --seed 3 'parquet bad.parquet | filter .id >= 2000 | shuffle all | map .id' >got
	sort -n got | cmp - <(seq 2000 4999)
	run -1 cmp -s got <(seq 2000 4999)
	dsvc-run --seed 3 'parquet z.parquet | filter (.id >= 2000) == true | shuffle all | map .id' | cmp - got
	service 2
	dsvc-read -J good -e 'parquet bad.parquet z.parquet | filter .id < 900 | map .id' >got
	sort -n got | cmp - <(for i in {0..899}; do echo $i; echo $i; done)
	dsvc-read -J at -n 1000 --checkpoint pos --order source -e 'parquet bad.parquet | filter .id >= 2000 | map .id' >one
	dsvc-read -J at --checkpoint pos --order source -e 'parquet bad.parquet | filter .id >= 2000 | map .id' >two
	cat one two | cmp - <(seq 2000 4999)
	[[ $(dsvc-run 'parquet bad.parquet | filter .id >= 2000 | distribute | count') == 3000 ]]
}

@test "an element for which a test fails is an error, whatever follows" {
	pyarrow make zstd z.parquet
	run -65 --separate-stderr dsvc-run -t none 'parquet z.parquet | filter .ms > 1000'
	[[ $stderr == *'`>` of null'* ]]
	run -65 --separate-stderr dsvc-run -t none 'parquet z.parquet | filter .ms > 1 and .id > 9000'
	[[ $stderr == *'`>` of null'* ]]
	run -0 dsvc-run -t count 'parquet z.parquet | filter .ms > 1000 nulls=skip'
	[[ $output == 0 ]]
}

@test "--explain and --print=plan show what rows are skipped by" {
	trips=$BATS_TEST_DIRNAME/../docs/trips.parquet
	run -0 dsvc-run --explain "parquet $trips | filter .km > 2 + 3 and \"B\" <= .from and .id % 2 == 0"
	[[ $output == *'skips rows unless .km > 2 + 3 and "B" <= .from  splits'* ]]
	run -0 dsvc-run --print=plan "parquet $trips | filter .id != 7 | filter .km in [1, 2]"
	[[ $output == *'skips rows unless .id != 7 and .km in [1, 2]'* ]]
	run -0 dsvc-run --print=plan "parquet $trips | filter .id % 2 == 0 and .km > 5"
	[[ $output != *'skips rows'* ]]
	run -0 dsvc-run --print=plan "range 5 | filter x > 2"
	[[ $output != *'skips rows'* ]]
}

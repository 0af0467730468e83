#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What formats do that depends on where they are written to.

load lib/dsvc

# The shape in the header of a .npy file.
shape() { head -c 128 "$1" | grep -ao "'shape': ([^)]*)"; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "npy to a file is one array, its length set at the end" {
	dsvc-run -t npy -o a.npy 'range 1000 | map x*0.5'
	[[ $(shape a.npy) == "'shape': (1000,)" && $(stat -c %s a.npy) == 8128 ]]
	dsvc-run -t npy 'range 12 | batch 4' >b.npy
	[[ $(shape b.npy) == "'shape': (3, 4)" ]]
	run -0 dsvc-run 'npy b.npy'
	[[ $output == $'[0,1,2,3]\n[4,5,6,7]\n[8,9,10,11]' ]]
	dsvc-run -t npy -o none.npy 'range 0'
	[[ $(shape none.npy) == "'shape': (0,)" ]]
}

@test "npy after other bytes of a file leaves these alone" {
	{ printf 0123456789; dsvc-run -t npy 'range 3'; } >c
	[[ $(head -c 10 c) == 0123456789 ]]
	tail -c +11 c >d.npy
	[[ $(shape d.npy) == "'shape': (3,)" ]]
}

@test "npy to a pipe or at the end of a file is an array for each element" {
	dsvc-run -t npy 'range 3' | cat >e.npy
	[[ $(shape e.npy) == "'shape': ()" && $(grep -ao NUMPY e.npy | wc -l) == 3 ]]
	dsvc-run -t npy 'range 2' >>e.npy
	[[ $(grep -ao NUMPY e.npy | wc -l) == 5 ]]
}

@test "an element that does not fit ends it with 65; what came before is a whole file" {
	run -65 --separate-stderr dsvc-run -t csv 'elements [{a: 1}, {a: 2}, {b: 3}]'
	[[ $output == $'a\n1\n2' && $stderr == *'element 3: '*'`b`'* ]]
	run -65 bash -c "dsvc-run -t npy 'elements [1, 2, \"x\"]' >f.npy"
	[[ $(shape f.npy) == "'shape': (2,)" ]]
	run -65 dsvc-run -t npy -o g.npy 'elements [1, "x"]'
	[[ ! -e g.npy ]]
}

@test "records go through tar, tfrecord and csv and come back" {
	local spec='elements [{__key__: "a", n: 1, s: "x"}, {__key__: "b", n: 2, s: "y"}]' want
	want=$(dsvc-run "$spec")
	[[ $(dsvc-run -t tfrecord "$spec" | dsvc-run 'tfrecord - as=example') == "$want" ]]
	[[ $(dsvc-run -t csv "$spec" | dsvc-run 'csv -') == "$want" ]]
	[[ $(dsvc-run -t tsv "$spec" | dsvc-run 'tsv -') == "$want" ]]
	run -0 bash -c "dsvc-run -t tar '$spec' | tar -xO b.n a.s"
	[[ $output == x2 ]]
}

@test "binary formats are not for a terminal" {
	for format in npy tfrecord tar; do
		run -64 script -qec "dsvc-run -t $format 'range 1'" /dev/null
		[[ $output == *'not for a terminal'* ]]
	done
}

@test "bytes that are not UTF-8 are U+FFFD in JSON if that is asked for, and themselves elsewhere" {
	printf '\xffA\n' >"$BATS_TEST_TMPDIR/a"
	run -65 dsvc-run "lines $BATS_TEST_TMPDIR/a | map {a: x}"
	run -0 dsvc-run --invalid-utf8 replace "lines $BATS_TEST_TMPDIR/a | map {a: x}"
	[[ $output == $'{"a":"\xef\xbf\xbdA"}' ]]
	dsvc-run "lines $BATS_TEST_TMPDIR/a" | cmp - "$BATS_TEST_TMPDIR/a"
}

@test "no place that makes JSON changes a text that is no UTF-8 in silence" {
	local place
	printf 'good\n\xe9t\xe9\n' >a
	for place in 'map to_json(x)' 'map str([x])' 'map {a: x} | format json' 'map [[x]] | format csv' \
		'map [x] | format text' 'map {a: {b: x}} | format kv' 'map {a: {b: x}} | format url' \
		'map [x] | template "%{x}"' 'map [x] | save out format=text overwrite=true' \
		'map {a: x} | save out format=ndjson overwrite=true' 'map {a: [x]} | save out format=csv overwrite=true' \
		'map {__key__: str(i), a: [x]} | save out format=tar overwrite=true' \
		'map {a: x, b: 1} | nest a sep=, | exec proto=ndjson -- cat' 'map [x] | exec -- cat' \
		'map {a: [x], b: 1} | nest a sep=,' 'map {a: [x], b: 1} | pivot a b' \
		'map [[x]] | exec proto=arg -- echo {}' 'map {a: [x]} | exec proto=netstring -- cat' \
		'map {a: [x]} | exec proto=stream -- cat' 'map [x] | exec proto=raw -- cat'; do
		echo "$place"
		run -65 --separate-stderr dsvc-run "lines a | $place"
		[[ $stderr == *'JSON cannot hold'* ]]
		run -0 dsvc-run --invalid-utf8 replace -t none "lines a | $place"
	done
	for place in '-t ndjson' '-t json' '-t csv' '-t tsv' '-t csv --unsparsify' '-t text' '-t raw' '-0' '-t tar'; do
		echo "$place"
		# shellcheck disable=SC2086
		run -65 --separate-stderr dsvc-run $place 'lines a | map {__key__: str(i), a: [x]}'
		[[ $stderr == *'element 2: '*'`.a[0]`, which is not UTF-8: its byte 1 is 0xe9'* ]]
	done
	run -0 --separate-stderr dsvc-run -t ndjson -o whole 'lines a | map utf8(x, "latin1")'
	[[ $(<whole) == $'"good"\n"été"' ]]
}

# An archive of two files without and with its end; python's writes 10240 bytes, blocks of 512.
archive() { # NAME FILE...
	python3 - "$@" <<-'END'
		import io, sys, tarfile
		with tarfile.open(sys.argv[1], "w") as t:
		    for name in sys.argv[2:]:
		        f = tarfile.TarInfo(name)
		        f.size = 2
		        t.addfile(f, io.BytesIO(b"hi"))
	END
}

@test "an archive that was cut between two files is not whole" {
	local t=$BATS_TEST_TMPDIR/t.tar at
	archive "$t" a.txt b.txt
	run -0 dsvc-run -t ndjson "tar $t decode=true | map .txt"
	[ "$output" = $'"hi"\n"hi"' ]
	for at in 1024 2048; do
		cp "$t" "$t.cut"
		truncate -s "$at" "$t.cut"
		run -65 dsvc-run "tar $t.cut decode=true | map .txt"
		[[ $output == *"t.tar.cut: the archive was cut off: it ends without its end mark"* ]]
	done
	# one empty block is an end that others write too
	truncate -s 2560 "$t"
	run -0 dsvc-run -t count "tar $t"
	[ "$output" = 2 ]
	gzip -c "$t.cut" >"$t.cut.gz"
	run -65 dsvc-run "tar $t.cut.gz"
	: >"$t.none"
	run -0 dsvc-run -t count "tar $t.none"
	[ "$output" = 0 ]
}

@test "a file cannot be the key of its group" {
	archive "$BATS_TEST_TMPDIR/k.tar" a.__key__ a.txt b.txt
	run -65 dsvc-run "tar $BATS_TEST_TMPDIR/k.tar"
	[[ $output == *"the file a.__key__ would be the field __key__, which names its group"* ]]
	run -0 --separate-stderr dsvc-run "tar $BATS_TEST_TMPDIR/k.tar | ignore_errors | map .__key__"
	[ "$output" = b ]
}

@test "bars and hist are as wide as 80 columns, of # where the locale is not UTF-8" {
	export LC_ALL=C
	run -0 dsvc-run -t bars 'elements [["ab", 3], ["c", -1], ["d", null]]'
	[[ ${lines[0]} == "ab $(printf '#%.0s' {1..74}) 3" && ${lines[1]} == "c  "-*"- -1" && ${lines[2]} == 'd  -' ]]
	((${#lines[0]} == 79))
	run -0 dsvc-run -t hist 'elements [1, 1, 2]'
	[[ ${lines[0]} == '1 '*'# 2' && ${lines[1]} == '2 '*'# 1' ]]
	LC_ALL='' LC_CTYPE='' LANG=en_GB.UTF-8 run -0 dsvc-run -t bars 'elements [3]'
	[[ $output == █*' 3' ]]
}

@test "hist counts many numbers exactly, in the ranges that few would get" {
	for spec in 'x' 'x % 777 * 0.25' '(x - 50000) * 1000003' 'x < 9 ? 0.5 : 1e12 + x' '1.5e300 * (x % 3 - 1)' '7'; do
		dsvc-run -t hist "range 100000 | map $spec" >hist
		(($(awk '{ n += $NF } END { print n }' hist) == 100000 && $(wc -l <hist) <= 20))
	done
	dsvc-run -t hist 'range 100000 | map (x - 50000) * 0.001' >hist
	dsvc-run 'range 100000 | map (x - 50000) * 0.001 | group_by floor(x / 5) | sort .key | map .value' >want
	diff want <(awk '{ print $NF }' hist)
}

@test "records that differ are written as far as they came when the pipeline fails" {
	run -65 --separate-stderr dsvc-run -t csv --unsparsify 'elements [{a: 1}, {b: 2}, 3] | map (x == 3 ? fail("no") : x)'
	[[ $output == $'a,b\n1,\n,2' && $stderr == *no* ]]
	run -65 --separate-stderr dsvc-run -t csv 'range 1 | map {id: x // 0}'
	[[ $output == '' ]]
}

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

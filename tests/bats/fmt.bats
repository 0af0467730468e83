#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Spec files in the usual layout: dsvc-run --fmt.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

messy() {
	cat >"$1" <<-'END'


		#!/usr/bin/env -S dsvc-run -f
		dsvc   1     # version
		param  n  :int=  64


		param q = "a   b"   # blanks in quotes stay
		options   seed=3  on_error=skip
		let two =
		# why
		  | map {a: 1,   # one
		      b: "x   y"}     # after
		    # own line
		  | filter .a > $n | filter "$q" ~ /a   $/
		let z = range 3 ; concat (range $n  |  map {a: x}) (z | map {a:x}) |
		   # between
		   two | filter   "${q}" == '$q'

		# test: --set n=1
	END
}

@test "statements, operators, comments and parameters" {
	messy "$BATS_TEST_TMPDIR/a.dsvc"
	run -0 dsvc-run --fmt "$BATS_TEST_TMPDIR/a.dsvc"
	[[ $output == '#!/usr/bin/env -S dsvc-run -f
dsvc 1  # version
param n: int = 64

param q = "a   b"  # blanks in quotes stay
options seed=3 on_error=skip
let two =
  # why
  | map {a: 1, # one
      b: "x   y"}  # after
  # own line
  | filter .a > @n
  | filter "$q" ~ /a   $/
let z = range 3
concat (range @n | map {a: x}) (z | map {a:x})
  # between
  | two
  | filter "'*" == '\$q'

# test: --set n=1" ]]
}

@test "laid out twice is laid out once, and means the same" {
	cd "$BATS_TEST_TMPDIR"
	messy a.dsvc
	dsvc-run --fmt a.dsvc >b.dsvc
	dsvc-run --fmt b.dsvc >c.dsvc
	cmp b.dsvc c.dsvc
	[[ $(dsvc-run --print canonical -f a.dsvc) == "$(dsvc-run --print canonical -f b.dsvc)" ]]
}

@test "a pipeline too long for a line is broken at its operators" {
	run -0 dsvc-run --fmt -e 'range 10   | map x | map x+1'
	[[ $output == 'range 10 | map x | map x+1' ]]
	run -0 dsvc-run --fmt -e 'range 10 | map "0123456789012345678901234567890123456789" | map "0123456789012345678901234567890123456789"'
	[[ ${#lines[@]} == 3 && ${lines[1]} == '  | map "'* ]]
}

@test "--write changes the file, --check only says which would change" {
	cd "$BATS_TEST_TMPDIR"
	messy a.dsvc
	chmod 755 a.dsvc
	echo 'range 3' >good.dsvc
	run -1 --separate-stderr dsvc-run --fmt --check a.dsvc good.dsvc
	[[ $output == a.dsvc ]]
	dsvc-run --fmt a.dsvc >want
	run -0 dsvc-run --fmt --write a.dsvc good.dsvc
	[[ -z $output && -x a.dsvc ]]
	cmp a.dsvc want
	run -0 dsvc-run --fmt --check a.dsvc good.dsvc
	run -0 ls a.dsvc*
	[[ $output == a.dsvc ]]
	run -65 dsvc-run --fmt -e 'range 3 | mpa x'
	run -66 dsvc-run --fmt none.dsvc
	run -64 dsvc-run --fmt
	run -64 dsvc-run --fmt --write -e 'range 3'
}

@test "the stock pipelines have the usual layout" {
	run -0 dsvc-run --fmt --check pipelines/*.dsvc
}

@test "a file that includes lets" {
	cd "$BATS_TEST_TMPDIR"
	printf 'param lo: int = 2\nlet big = | filter x > @lo\nlet one = range 1\n' >lib.dsvc
	printf 'include   "lib.dsvc"\nlet a=range   5\nconcat a  one |  big\n' >a.dsvc
	run -0 dsvc-run --fmt a.dsvc
	[[ $output == 'include "lib.dsvc"
let a = range 5
concat a one | big' ]]
}

@test "a spec that its layout makes too long is bad data, and not our mistake" {
	local f=$BATS_TEST_TMPDIR/long.dsvc
	{
		printf 'range 1|map len("'
		head -c $((1048576 - 20)) /dev/zero | tr '\0' x
		printf '")\n'
	} >"$f"
	run -0 dsvc-run --print=canonical -f "$f"
	run -65 dsvc-run --fmt "$f"
	[[ $output == *'in this layout the spec would be longer than 1048576 bytes' ]]
}

@test "an included file is read once, and may be a pipe" {
	run -0 dsvc-run --fmt -e 'include "/dev/stdin"; range   3 | y' <<<'let y = | map x'
	[[ $output == $'include "/dev/stdin"\nrange 3 | y' ]]
}

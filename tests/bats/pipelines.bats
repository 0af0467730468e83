#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests in spec files: those of pipelines/, and what dsvc-run --test does with them.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

@test "the stock pipelines pass their own tests" {
	run -0 dsvc-run --test pipelines/*.dsvc
	for f in pipelines/*.dsvc; do
		[[ $output == *"ok   $f:"* ]] || { echo "no test in $f"; return 1; }
	done
}

@test "a test that fails shows what differs, and the answer is no" {
	f=$BATS_TEST_TMPDIR/a.dsvc
	printf '%s\n' 'param n = 4' 'range @n' '' '# test:' '# out: 0' '# out: 1' '# out: two' '# out: 3' \
		'' '# test: --set n=1' '# out: 0' >"$f"
	run -1 --separate-stderr dsvc-run --test "$f"
	[[ $output == "FAIL $f:4
  line 3 of the output:
    - two
    + 2
ok   $f:10 --set n=1" ]]
	[[ $stderr == "dsvc-run: 1 of 2 tests failed" ]]
	run -1 dsvc-run -f "$f" --test
}

@test "too many and too few lines, and none at all" {
	f=$BATS_TEST_TMPDIR/a.dsvc
	printf '%s\n' 'range 3' '# test:' '# out: 0' '# out: 1' '# test: -n 1' '# out: 0' '# out: 1' \
		'# test: -t none' '# out: 0' '# test: -t json' >"$f"
	run -1 --separate-stderr dsvc-run --test "$f"
	[[ $output == "FAIL $f:2
  line 3 of the output:
    + 2
FAIL $f:5 -n 1
  line 2 of the output:
    - 1
FAIL $f:8 -t none
  line 1 of the output:
    - 0
FAIL $f:10 -t json
  line 1 of the output:
"* ]]
}

@test "a test may expect to fail" {
	f=$BATS_TEST_TMPDIR/a.dsvc
	printf '%s\n' 'stdin | map int(x)' '# test:' '# in: 1' '# in: x' '# out: 1' '# fail: 65 map int(x)' \
		'# test:' '# in: 7' '# fail: 65' '# out: 7' '# test:' '# in: x' '# fail: 65 something else' >"$f"
	run -1 --separate-stderr dsvc-run --test "$f"
	[[ ${lines[0]} == "ok   $f:2" ]]
	[[ $output == *"FAIL $f:7"*"it ended with 0, not with 65"* ]]
	[[ $output == *"FAIL $f:11"*"it was to say: something else"*"! dsvc-run: "* ]]
}

@test "standard input of a test, empty lines in it, quotes in options" {
	f=$BATS_TEST_TMPDIR/a.dsvc
	printf '%s\n' 'param p: text = "-"' 'stdin | map @p ++ x' "# test: --set 'p=a b '" '# in: 1' '# in:' \
		'# in:  3' '# out: a b 1' '# out: a b ' '# out: a b  3' >"$f"
	run -0 dsvc-run --test "$f"
}

@test "another pipeline in place of a let" {
	f=$BATS_TEST_TMPDIR/a.dsvc
	cat >"$f" <<-'END'
		let hot = ndjson "/no/such/file"
		let web = | filter .status > 499
		hot | web | map .ts
		# test: --with hot=(elements [{status: 503, ts: 1}, {status: 200, ts: 2}])
		# out: 1
		# test: --with hot=(elements [{status: 503, ts: 1}]) --with 'web=(| map {ts: .ts + 1})'
		# out: 2
		# test: --with cold=(range 3)
		# fail: 64 cold
		# test: --with hot=(| take 3)
		# fail: 65 hot
	END
	run -0 dsvc-run --test "$f"
	run -66 dsvc-run -f "$f"
	run -0 dsvc-run --with 'hot=(elements [{status: 500, ts: 9}])' -f "$f"
	[[ $output == 9 ]]
}

@test "bad blocks are bad data, with their place" {
	f=$BATS_TEST_TMPDIR/a.dsvc
	printf 'range 1\n\n# out: 0\n' >"$f"
	run -65 dsvc-run --test "$f"
	[[ ${lines[0]} == "dsvc-run: $f:3:3: this line belongs to no test" ]]
	printf 'range 1\n# test: -o /tmp/x\n# out: 0\n' >"$f"
	run -65 dsvc-run --test "$f"
	[[ ${lines[0]} == "dsvc-run: $f:2:9: a test does not take this option" ]]
	printf 'range 1\n# test: -n\n# out: 0\n' >"$f"
	run -65 dsvc-run --test "$f"
	printf 'range 1\n# test: --set "a=1\n' >"$f"
	run -65 dsvc-run --test "$f"
	printf 'range 1\n# test:\n# ouput: 0\n' >"$f"
	run -65 dsvc-run --test "$f"
	printf 'range 1\n# test:\n# fail: no\n' >"$f"
	run -65 dsvc-run --test "$f"
	printf 'range 1\n' >"$f"
	run -65 dsvc-run --test "$f"
	run -66 dsvc-run --test "$BATS_TEST_TMPDIR/none.dsvc"
	run -64 dsvc-run --test
	run -64 dsvc-run --test -e 'range 3'
	run -64 dsvc-run --test -f -
}

@test "the environment of the user does not change a test, an endless one ends" {
	f=$BATS_TEST_TMPDIR/a.dsvc
	printf 'range 3\n# test:\n# out: 0\n# out: 1\n# out: 2\n' >"$f"
	DSVC_COUNT=1 DSVC_RUN_TO=json run -0 dsvc-run --test "$f"
	DSVC_TEST=1 run -0 within 20s dsvc-run "$f"
	printf 'counter 0\n# test:\n# out: 0\n' >"$f"
	run -1 within 60s dsvc-run --test "$f"
	[[ $output == *"printed more than"* ]]
}

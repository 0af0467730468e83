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
	run -66 dsvc-run --test "$f"
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

@test "installed pipelines pass their tests where they are" {
	# Not by make: with other flags than those of this build it would link the programs again under the tests beside it.
	export DESTDIR=$BATS_TEST_TMPDIR/root PREFIX=/usr
	cd "$BATS_TEST_DIRNAME/../.."
	programs=(cmd/*/main.c)
	programs=("${programs[@]#cmd/}")
	programs=("${programs[@]%/main.c}")
	bash tools/install.sh install "${programs[@]}"
	cd /
	PATH=$BATS_TEST_TMPDIR/root/usr/bin:$PATH run -0 dsvc-run --test "$BATS_TEST_TMPDIR"/root/usr/share/dsvc/pipelines/*.dsvc
	[[ $output != *FAIL* && $output == *'ok   '*'/scored.dsvc:'* ]]
	cd "$BATS_TEST_DIRNAME/../.."
	bash tools/install.sh uninstall "${programs[@]}"
	run -0 find "$BATS_TEST_TMPDIR/root" -type f -o -type l -o -path '*share/dsvc*'
	[[ $output == '' ]]
}

@test "a test runs in the folder of its file; -I is seen from here" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p far inc
	echo 'let twice = | map x ++ x' >inc/twice.dsvc
	echo word >far/data
	printf '%s\n' 'include "twice.dsvc"' 'param p: text' 'lines @p | twice' '# test: --set p=data' '# out: wordword' >far/a.dsvc
	run -0 dsvc-run -I inc --test far/a.dsvc
	[[ $output == 'ok   far/a.dsvc:4 --set p=data' ]]
}

@test "without any test there is nothing to say that it works" {
	cd "$BATS_TEST_TMPDIR"
	echo 'range 3' >none.dsvc
	printf '%s\n' 'range 1' '# test:' '# out: 0' >one.dsvc
	run -66 dsvc-run --test none.dsvc
	[[ ${lines[0]} == 'dsvc-run: none.dsvc has no tests' && $output == *'help: '*'# test:'* ]]
	((${#lines[@]} == 2))
	run -66 dsvc-run --test none.dsvc none.dsvc
	[[ $output == *'none of these files has tests'* ]]
	run -0 dsvc-run --test none.dsvc one.dsvc
	[[ $output == *'none.dsvc has no tests'*'ok   one.dsvc:2'* ]]
}

@test "a spec file with #! is a program: operands are its parameters" {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p far here
	printf 'a b\nc\n' >here/my.log
	echo 'param inner = 7' >far/more.dsvc
	printf '%s\n' '#!/usr/bin/env -S dsvc-run -f' 'include "more.dsvc"' 'param log: text' 'param n: int = 2' \
		'lines @log | flat_map split(x, " ") | take @n' >far/top.dsvc
	chmod +x far/top.dsvc
	cd here
	run -0 ../far/top.dsvc my.log
	[[ $output == $'a\nb' ]]
	# Options stand before and behind them.
	run -0 ../far/top.dsvc my.log 1 -t ndjson
	[[ $output == '"a"' ]]
	run -0 ../far/top.dsvc -t ndjson -s log=my.log 3
	[[ $output == $'"a"\n"b"\n"c"' ]]
	run -64 ../far/top.dsvc my.log 1 2
	[[ $output == *'unexpected argument `2`: the spec has 2 parameters'*'help: parameters of this spec: '*'log, n'* ]]
	run -65 ../far/top.dsvc my.log many
	[[ $output == *"top.dsvc:4:7: n many: 'many' is not a number"* ]]
	run -65 ../far/top.dsvc
	[[ $output == *'the parameter `log` has no value'* ]]
	run -64 dsvc-run -e 'range 3' 4
	# The other programs that take a file take them, too.
	service
	[[ $(dsvc-register -f ../far/top.dsvc "$PWD/my.log" 3 -q) == $(dsvc-register -f ../far/top.dsvc -s n=3 -s log=my.log) ]]
	printf '%s\n' '#!/usr/bin/env -S dsvc-read -f' 'param n: int' 'range @n' >range.dsvc
	chmod +x range.dsvc
	run -0 ./range.dsvc 4 -t count
	[[ $output == 4 ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --dry-run: the commands that would run, and nothing of them; -j by the processors.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

dry() { # CODE WANTED ARG...
	run "-$1" --separate-stderr dsvc-run --dry-run "${@:3}"
	[[ $output == "$2" ]] || { printf 'got: %s\n' "$output" && false; }
}

@test "a dry run prints what a shell runs to the same effect, and runs nothing itself" {
	printf '%s\0' 'a b' "it's" '$HOME' '' '-x' '~' $'two\nlines' '*' '{}' 'ä' >"$BATS_TEST_TMPDIR/words"
	printf '#!/bin/sh\necho started >>%q\nprintf "<%%s>" "$@"\n' "$BATS_TEST_TMPDIR/ran" >"$BATS_TEST_TMPDIR/show"
	chmod +x "$BATS_TEST_TMPDIR/show"
	for spec in "exec proto=arg -- $BATS_TEST_TMPDIR/show {#} {} {.}" 'sh "printf %s. {} | od -An -c" proto=arg' \
		'exec proto=raw -- od -c'; do
		spec="cmd proto=nul -- cat $BATS_TEST_TMPDIR/words | $spec"
		rm -f "$BATS_TEST_TMPDIR/ran"
		dsvc-run --dry-run "$spec" >"$BATS_TEST_TMPDIR/commands"
		[[ ! -e $BATS_TEST_TMPDIR/ran ]]
		dsvc-run -t raw "$spec" >"$BATS_TEST_TMPDIR/out"
		sh "$BATS_TEST_TMPDIR/commands" >"$BATS_TEST_TMPDIR/by_hand"
		cmp <(tr -d '\n' <"$BATS_TEST_TMPDIR/out") <(tr -d '\n' <"$BATS_TEST_TMPDIR/by_hand")
	done
}

@test "a dry run gives a command for each element, or one for a program that handles many" {
	dry 0 $'sha1sum 0 1\nsha1sum 2' 'range 3 | batch 2 | exec proto=arg -- sha1sum'
	for proto in line ndjson nul netstring len32 msgpack stream; do
		dry 0 "cat 'a b'" "range 3 | map str(x) | exec proto=$proto -- cat \"a b\""
	done
	dry 0 $'echo 0\necho 1\necho b' 'concat (range 2 | exec proto=arg -- echo {}) (elements ["b"] | exec proto=arg -- echo {})'
	dry 0 cat 'choose (range 2) (range 2) by=(range 4 | exec proto=line -- cat | map 0)'
	dry 0 $'echo 0\necho 1' -n 2 'range 1_000_000_000 | exec proto=arg parallel=4 ordered=false -- echo {}'
	dry 0 $'"echo 0"' -t ndjson 'range 1 | exec proto=arg -- echo {}'
	dry 0 '' -o "$BATS_TEST_TMPDIR/o" 'range 1 | exec proto=arg -- echo {}'
	[[ $(<"$BATS_TEST_TMPDIR/o") == 'echo 0' ]]
}

@test "what a dry run cannot tell it says, and what would write it refuses" {
	dry 0 'echo 0' 'range 1 | exec proto=arg -- echo {} | exec -- cat'
	[[ $stderr == *'the commands of operator 3 `exec -- cat` are not known: it gets the answers of operator 2' ]]
	dry 64 '' 'range 3'
	dry 64 '' 'range 3 | distribute'
	dry 64 '' "range 3 | exec proto=arg -- echo {} | save $BATS_TEST_TMPDIR/d"
	dry 64 '' "range 3 | cache $BATS_TEST_TMPDIR/d | exec proto=arg -- echo {}"
	[[ ! -e $BATS_TEST_TMPDIR/d && $stderr == *'would write files'* ]]
	dry 127 '' 'range 3 | exec proto=arg -- /no/such/program'
	dry 65 'echo 1' 'elements [{a: 1}, {b: 2}] | exec proto=arg -- echo {.a}'
	dry 0 'echo 1' 'elements [{a: 1}, {b: 2}] | exec proto=arg on_error=skip -- echo {.a}'
}

@test "-j says the number of threads by the processors" {
	local all
	all=$(nproc)
	for j in 0 100% +0 -0; do
		run -0 dsvc-run -j "$j" 'range 1 | exec proto=arg parallel=auto -- sh -c "echo \$DSVC_CHILD_SLOTS"'
		[[ $output == "$all" ]]
	done
	run -0 dsvc-run -j +3 'range 1 | exec proto=arg parallel=auto -- sh -c "echo \$DSVC_CHILD_SLOTS"'
	((output == all + 3))
	DSVC_JOBS=-1000 run -0 dsvc-run 'range 1 | exec proto=arg parallel=auto -- sh -c "echo \$DSVC_CHILD_SLOTS"'
	((output == 1))
	for bad in x% % +x ''; do
		run -64 dsvc-run -j "$bad" 'range 1'
	done
	[[ $output == *'50%, +2, -1'* ]]
}

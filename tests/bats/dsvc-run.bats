#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dsvc-run from outside: a pipeline in one process.
# shellcheck disable=SC1010,SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

@test "help, version and usage need no pipeline" {
	run -0 dsvc-run -h
	[[ $output == "Usage: dsvc-run"* ]]
	run -0 dsvc-run --help
	[[ $output == *"--print"* ]]
	run -0 dsvc-run --version
	[[ ${lines[0]} == "dsvc-run (dsvc) "* ]]
	run -64 dsvc-run
	run -64 dsvc-run --nonsense
	[[ ${lines[0]} == "dsvc-run: "* ]]
	run -64 dsvc-run -e 'range 3' 'range 4'
	run -64 dsvc-run -t xml 'range 3'
	run -64 dsvc-run -n x 'range 3'
}

@test "short help is one screen in every program" {
	local name
	for name in dispatch work register read run status; do
		run -0 "dsvc-$name" -h
		((${#lines[@]} <= 24))
		[[ ${lines[0]} == "Usage: dsvc-$name "* && $output == *--help* ]]
	done
}

@test "options may follow a pipeline that is one operand" {
	run -0 dsvc-run 'range 10 | map x*x' -n 2 -t json
	[[ $output == $'[\n0,\n1\n]' ]]
	run -0 dsvc-run range -2 0
	[[ $output == $'-2\n-1' ]]
}

@test "--timeout ends it with 124, with what was in hand, whatever it waits for" {
	local source
	mkfifo "$BATS_TEST_TMPDIR/never"
	exec 8<>"$BATS_TEST_TMPDIR/never"
	for source in "stdin" "stdin | count" "counter | filter false" 'counter | exec proto=arg -- sleep 60'; do
		run -124 --separate-stderr within 10s dsvc-run --timeout 50ms -t none "$source" <&8
		[[ $stderr == "dsvc-run: --timeout expired" ]]
	done
	run -124 --separate-stderr within 10s dsvc-run --timeout 300ms 'counter | filter x < 3'
	[[ $output == $'0\n1\n2' ]]
	run -0 dsvc-run --timeout 10m 'range 1'
	run -64 dsvc-run --timeout soon 'range 1'
	exec 8>&-
}

@test "--fail-empty is 1 when nothing came" {
	run -1 dsvc-run --fail-empty 'range 3 | filter x > 9'
	[[ ! $output ]]
	run -0 dsvc-run --fail-empty 'range 3 | filter x > 1'
	run -65 dsvc-run --fail-empty 'range 3 | map fail("no")'
}

@test "a pipeline from an operand, -e, -f, standard input and words" {
	run -0 dsvc-run 'range 3 | map x*x'
	[[ $output == $'0\n1\n4' ]]
	run -0 dsvc-run -e 'range 3 | map x*x'
	[[ $output == $'0\n1\n4' ]]
	echo 'range 3 | map x*x' >"$BATS_TEST_TMPDIR/a.dsvc"
	run -0 dsvc-run -f "$BATS_TEST_TMPDIR/a.dsvc"
	[[ $output == $'0\n1\n4' ]]
	run -0 dsvc-run -f - <"$BATS_TEST_TMPDIR/a.dsvc"
	[[ $output == $'0\n1\n4' ]]
	run -0 dsvc-run range 5 then filter x gt 2 then map x '*' x
	[[ $output == $'9\n16' ]]
}

@test "names of files with anything in them need no quoting in words" {
	cd "$BATS_TEST_TMPDIR"
	echo one >"it's a|b (c) [d] *.txt"
	echo two >'k=v then'
	run -0 dsvc-run lines "it's a|b (c) [d] *.txt" 'k=v then' then map 'upper(x)'
	[[ $output == $'ONE\nTWO' ]]
}

@test "a spec file can be a program" {
	printf '#!/usr/bin/env -S dsvc-run -f\nparam n: int = 2\nrange @n\n' >"$BATS_TEST_TMPDIR/prog"
	chmod +x "$BATS_TEST_TMPDIR/prog"
	run -0 "$BATS_TEST_TMPDIR/prog"
	[[ $output == $'0\n1' ]]
}

@test "a byte order mark before a spec is passed over" {
	printf '\xef\xbb\xbfrange 2\n' >"$BATS_TEST_TMPDIR/a.dsvc"
	run -0 dsvc-run -f "$BATS_TEST_TMPDIR/a.dsvc"
	[[ $output == $'0\n1' ]]
}

@test "paths in a spec file start from its folder, those of --set from here" {
	mkdir "$BATS_TEST_TMPDIR/sub"
	cd "$BATS_TEST_TMPDIR"
	echo inside >sub/a.txt
	echo outside >a.txt
	printf 'param f = a.txt\nlines @f\n' >sub/s.dsvc
	run -0 dsvc-run -f sub/s.dsvc
	[[ $output == inside ]]
	run -0 dsvc-run -f sub/s.dsvc -s f=a.txt
	[[ $output == outside ]]
}

@test "mistakes in a file name the file" {
	printf '# one\nrange 3\n  | tak 2\n' >"$BATS_TEST_TMPDIR/bad.dsvc"
	run -65 dsvc-run -f "$BATS_TEST_TMPDIR/bad.dsvc"
	[[ ${lines[0]} == "dsvc-run: $BATS_TEST_TMPDIR/bad.dsvc:3:5: unknown operator \`tak\`" ]]
	[[ ${lines[1]} == "  3 |   | tak 2" ]]
	run -66 dsvc-run -f "$BATS_TEST_TMPDIR/none.dsvc"
	[[ $output == *none.dsvc* ]]
}

@test "formats" {
	run -0 dsvc-run -t json 'range 2'
	[[ ${output//[[:space:]]/} == '[0,1]' ]]
	run -0 dsvc-run 'range 2 | map {n: x}'
	[[ $output == $'{"n":0}\n{"n":1}' ]]
	[[ $(dsvc-run -0 'range 2' | od -An -c | tr -d ' ') == '0\01\0' ]]
	[[ $(dsvc-run -t msgpack 'range 2 | map x + 200' | od -An -tx1 | tr -d ' ') == ccc8ccc9 ]]
	run -0 dsvc-run -t count 'range 1000'
	[[ $output == 1000 ]]
	run -0 dsvc-run -t none 'range 1000'
	[[ ! $output ]]
}

@test "-n stops exactly, without end too" {
	run -0 dsvc-run -n 3 'counter'
	[[ $output == $'0\n1\n2' ]]
	run -0 dsvc-run -n 1500 -t count 'counter'
	[[ $output == 1500 ]]
	run -0 dsvc-run -n 0 'range 3'
	[[ ! $output ]]
}

@test "--check runs nothing and prints nothing" {
	run -0 dsvc-run --check 'range 3'
	[[ ! $output ]]
	run -65 dsvc-run --check 'range 3 | tak 2'
	run -66 dsvc-run --check 'lines nowhere'
}

@test "--print canonical can be read again" {
	local a b
	a=$(dsvc-run --print canonical $'let a = | where x gt 3\nrange 1_0 | a | batch 2')
	b=$(dsvc-run --print canonical "$a")
	[[ $a == "range 10 | filter x > 3 | batch 2" && $a == "$b" ]]
}

@test "--ops and --help-op read the table" {
	run -0 dsvc-run --ops
	[[ $output == *$'\n  range '* && $output == *$'\n  zip '* ]]
	run -0 dsvc-run --help-op batch
	[[ ${lines[0]} == "batch: "* && $output == *drop_remainder* ]]
	run -64 dsvc-run --help-op btch
	[[ $output == *'`batch`'* ]]
}

@test "--help-op tells of an operator and of a function of one name" {
	run -0 dsvc-run --help-op zip
	[[ $output == "zip: "*"In expressions it is a function:"*"zip(list"* ]]
	run -0 dsvc-run --help-op exec
	[[ ${lines[1]} == *" -- COMMAND..." ]]
	run -0 dsvc-run --help-op where
	[[ $output == "filter: "*'`grep PATTERN` is `filter x ~ PATTERN`'* ]]
}

@test "every example of --help-op gives what it says, pasted into a shell" {
	local op line state command input want
	cd "$BATS_TEST_DIRNAME/../docs"
	for op in $(dsvc-run --ops | sed -n 's/^  \([a-z_]*\).*/\1/p'); do
		state='' command='' input='' want=''
		while IFS= read -r line; do
			case $line in
			'In expressions it is a function:') break ;;
			Example:) state=example ;;
			'') state='' ;;
			'  with this on standard input:') state=input ;;
			'  it is:') state=example ;;
			*) case $state in
				input) input+=${line#    }$'\n' ;;
				example) command=${line#    } state=output ;;
				output) want+=${line#    }$'\n' ;;
				esac ;;
			esac
		done < <(dsvc-run --help-op "$op")
		[[ $command ]] || continue
		# help cannot show that a last line has no end
		[[ $op != bytes && $op != msgpack ]] || input=${input%$'\n'}
		run -0 --separate-stderr bash -c "$command" < <(printf %s "$input")
		[[ $output == "${want%$'\n'}" ]] || { echo "$op: $command gives $output"; false; }
	done
}

@test "a missing file is 66 before anything runs" {
	run -66 dsvc-run 'concat (range 3) (lines nowhere.txt)'
	[[ $output == *"nowhere.txt"* && $output != 0* ]]
}

@test "without a service, distribute says so within two seconds" {
	run -69 within 4s dsvc-run -d "$(free_ipc none)" 'range 3 | distribute'
	[[ $output == *"no dispatcher at ipc://"* && $output == *"(from -d)"* ]]
}

@test "a full disk is 74" {
	run -74 bash -c 'dsvc-run "range 3" 2>&1 >/dev/full'
	[[ $output == "dsvc-run: cannot write to standard output: "* ]]
	run -74 bash -c 'dsvc-run "range 100000" 2>&1 >/dev/full'
	[[ $output == *"cannot write to standard output"* ]]
	run -74 dsvc-run -o /dev/full 'range 3'
}

@test "what a parent has closed stays closed" {
	run -74 bash -c 'timeout 10 dsvc-run "stdin | count" 2>&1 <&-' 3>&-
	[[ $output == *": cannot read at byte 0: Bad file descriptor" ]]
	run -74 bash -c 'dsvc-run "range 3" 2>&1 >&-' 3>&-
	[[ $output == "dsvc-run: cannot write to standard output: Bad file descriptor" ]]
	run -65 bash -c 'dsvc-run -o "$1" "range 3 | mpa" 2>&-' - "$BATS_TEST_TMPDIR/x" 3>&-
}

@test "a closed pipe ends it in silence, by SIGPIPE" {
	run -0 bash -c 'dsvc-run counter 2>&1 >&3 | cat' 3> >(head -n 1 >/dev/null)
	[[ ! $output ]]
	run -141 bash -c 'set -o pipefail; dsvc-run counter | head -n 1 >/dev/null'
}

@test "a reader that goes is noticed while nothing comes" {
	mkfifo "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
	# Our own ends: input that never comes, and an output that we close.
	exec 8<>"$BATS_TEST_TMPDIR/in"
	dsvc-run stdin <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/out" 8>&- 3>&- &
	pid[idle]=$!
	exec 9<"$BATS_TEST_TMPDIR/out"
	exec 9<&-
	reap idle 5
	[[ $status == 141 ]]
	exec 8>&-
}

@test "the first element of a slow producer shows at once" {
	mkfifo "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
	exec 8<>"$BATS_TEST_TMPDIR/in"
	dsvc-run 'stdin | map x ++ "!"' <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/out" 8>&- 3>&- &
	pid[slow]=$!
	exec 9<"$BATS_TEST_TMPDIR/out"
	local n line
	for n in 1 2 3; do
		echo "line $n" >&8
		IFS= read -r -t "$patience" -u 9 line
		[[ $line == "line $n!" ]]
	done
	exec 8>&-
	reap slow 5
	[[ $status == 0 ]]
	exec 9<&-
}

@test "with threads the first element shows at once too" {
	mkfifo "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
	exec 8<>"$BATS_TEST_TMPDIR/in"
	dsvc-run 'stdin | map x ++ "!" parallel=2 | filter x != "" parallel=2' \
		<"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/out" 8>&- 3>&- &
	pid[slow]=$!
	exec 9<"$BATS_TEST_TMPDIR/out"
	local n line
	for n in 1 2 3; do
		echo "line $n" >&8
		IFS= read -r -t "$patience" -u 9 line
		[[ $line == "line $n!" ]]
	done
	exec 8>&-
	reap slow 5
	[[ $status == 0 ]]
	exec 9<&-
}

@test "INT and TERM end it by the signal, with what was in hand" {
	local sig
	mkfifo "$BATS_TEST_TMPDIR/in"
	exec 8<>"$BATS_TEST_TMPDIR/in"
	for sig in INT:130 TERM:143; do
		# A job in the background of a script has INT ignored.
		env --default-signal=INT dsvc-run stdin <"$BATS_TEST_TMPDIR/in" \
			>"$BATS_TEST_TMPDIR/got" 8>&- 3>&- &
		pid[sig]=$!
		echo "before $sig" >&8
		until_true 5s grep -q "before $sig" "$BATS_TEST_TMPDIR/got"
		kill -"${sig%:*}" "${pid[sig]}"
		reap sig 5
		[[ $status == "${sig#*:}" ]]
	done
	exec 8>&-
}

@test "a signal leaves no temporary file" {
	cd "$BATS_TEST_TMPDIR"
	local sig
	for sig in TERM HUP; do
		spawn run dsvc-run -o out 'range 1000000 | sleep 1ms'
		until_true 5s compgen -G 'out.*.tmp' >/dev/null
		stop run "$sig"
		[[ $status == $((128 + $(kill -l "$sig"))) ]]
		[[ ! $(compgen -G 'out*') ]]
	done
	# the second one ends it at once
	spawn run dsvc-run -o out 'cmd -- sh -c "trap \"\" TERM; echo 1; exec sleep 20"'
	until_true 5s compgen -G 'out.*.tmp' >/dev/null
	kill -TERM "${pid[run]}"
	kill -TERM "${pid[run]}" || :
	reap run
	[[ $status == 143 && ! $(compgen -G 'out*') ]]
}

@test "a file appears when all is written, and not at all after an error" {
	cd "$BATS_TEST_TMPDIR"
	dsvc-run -o out 'range 3'
	[[ $(<out) == $'0\n1\n2' ]]
	run -65 dsvc-run -o other 'range 3 | map 6 // (x - 1)'
	[[ ! -e other && -z $(compgen -G 'other*') ]]
	dsvc-run -o out 'range 1'
	[[ $(<out) == 0 ]]
}

@test "what came before an error is written" {
	run -65 --separate-stderr dsvc-run 'range 5 | map 6 // (x - 2)'
	[[ $output == $'-3\n-6' ]]
	[[ $stderr == *"map 6 // (x - 2)"* ]]
}

@test "binary data is not for a terminal" {
	run script -qec "dsvc-run -t msgpack 'range 3'" /dev/null
	[[ $status == 64 && $output == *"not for a terminal"* ]]
}

@test "the same seed gives the same elements" {
	local a b c
	a=$(dsvc-run --seed 7 'range 100 | shuffle 100')
	b=$(dsvc-run --seed 7 'range 100 | shuffle 100')
	c=$(dsvc-run --seed 8 'range 100 | shuffle 100')
	[[ $a == "$b" && $a != "$c" ]]
	[[ $(dsvc-run 'options seed=7; range 100 | shuffle 100') == "$a" ]]
}

@test "threads keep the order" {
	local spec='range 700000 | map x * 3 | filter x % 2 == 0'
	[[ $(dsvc-run -j 4 "$spec" | cksum) == "$(dsvc-run "$spec" | cksum)" ]]
	seq 200000 >"$BATS_TEST_TMPDIR/a"
	seq 3 >"$BATS_TEST_TMPDIR/b"
	spec="lines $BATS_TEST_TMPDIR/a $BATS_TEST_TMPDIR/b | map len(x) | enumerate"
	[[ $(dsvc-run -j 3 "$spec" | cksum) == "$(dsvc-run "$spec" | cksum)" ]]
	run -0 dsvc-run -j 4 -n 3 'counter | map x + 1'
	[[ $output == $'1\n2\n3' ]]
	run -65 --separate-stderr dsvc-run -j 3 'range 300000 | map 6 // (x - 200000)'
	[[ ${#lines[@]} == 200000 ]]
	# A pass larger than what a repeat keeps is made again.
	spec='range 600000 | map {n: x} | repeat 2 | map .n'
	[[ $(dsvc-run -j 3 "$spec" | cksum) == "$(dsvc-run "$spec" | cksum)" ]]
	[[ $(dsvc-run -j 4 'range 200000 | map [i, x]' | cksum) == "$(dsvc-run 'range 200000 | map [i, x]' | cksum)" ]]
}

@test "sort gives the same in the same order with any number of threads, in memory and with files" {
	local source by reverse mem jobs is
	for source in 'range 150_000 | map hash(x) % 1_000_000' 'range 150_000 | map str(hash(x) % 1_000_000)' \
		'range 150_000 | map {k: hash(x) % 50, n: x}' 'range 150_000 | map [x % 7 / 2, "same", x]'; do
		for by in '' .k '[.k, -.n]'; do
			[[ -z $by || $source == *k:* ]] || continue
			for reverse in '' ' reverse=true'; do
				is=
				for mem in 1G 3M; do
					for jobs in 1 2 4; do
						run -0 bash -o pipefail -c 'dsvc-run -j "$1" "$2" | cksum' - "$jobs" "$source | sort $by mem=$mem$reverse"
						[[ $output == "${is:=$output}" ]]
					done
				done
			done
		done
	done
}

@test "--stats says how many" {
	run -0 --separate-stderr dsvc-run --stats -t none 'range 1000'
	[[ $stderr == "dsvc-run: 1000 elements in "* ]]
	run -0 --separate-stderr dsvc-run --stats 'range 4 | map 1 // x on_error=skip'
	[[ $stderr == *"; 1 failed"$'\n'*" 2 map 1 // x"*"  1 failed"$'\n'* ]]
}

@test "--errors tells each failed element, --max-errors ends the run, with threads too" {
	cd "$BATS_TEST_TMPDIR"
	printf '1\nx\n3\ny\n5\n' >in.txt
	run -0 --separate-stderr dsvc-run --errors errs 'lines in.txt | map int(x) on_error=skip'
	[[ $output == $'1\n3\n5' ]]
	[[ $stderr == "dsvc-run: 2 elements failed and were skipped; see errs" ]]
	[[ $(jq -r '[.operator, .file, .line, .element] | @tsv' errs) == $'2\tin.txt\t2\tx\n2\tin.txt\t4\ty' ||
	   $(jq -r '[.operator, .file, .line, .element] | @tsv' errs) == $'2\tin.txt\t2\t"x"\n2\tin.txt\t4\t"y"' ]]
	run -0 --separate-stderr dsvc-run -q 'lines in.txt | map int(x) on_error=skip'
	[[ ! $stderr ]]
	run -0 dsvc-run -q --max-errors 2 'lines in.txt | map int(x) on_error=skip'
	run -65 --separate-stderr dsvc-run --max-errors 1 -o out 'lines in.txt | map int(x) on_error=skip'
	[[ $stderr == *"2 elements failed: more than the 1 that --max-errors allows"* ]]
	[[ ! -e out ]]
	# What ends the run is in the file too, and a run without failures leaves it empty.
	run -65 dsvc-run --errors errs 'lines in.txt | map int(x)'
	[[ $(jq -c '[.line, .fatal]' errs) == '[2,true]' ]]
	run -0 dsvc-run --errors errs 'range 3'
	[[ -e errs && ! -s errs ]]
	run -74 dsvc-run --errors /dev/full 'range 3 | map 1 // x on_error=skip'
	run -66 dsvc-run --errors no/such/folder 'range 3'

	run -0 --separate-stderr dsvc-run -j 3 --errors errs -t count \
		'range 1_000_000 | filter x % 1000 < 1 | map 1 // (x % 10_000) on_error=skip'
	[[ $output == 900 ]]
	[[ $stderr == "dsvc-run: 100 elements failed and were skipped; see errs" ]]
	[[ $(wc -l <errs) == 100 ]]
	run -65 dsvc-run -j 3 --max-errors 99 -t none \
		'range 1_000_000 | map 1 // (x % 10_000) on_error=skip'
	# Also where nothing comes out between the failures.
	run -65 within 10s dsvc-run --max-errors 0 -t none 'counter | map x // 0 on_error=skip'
}

@test "elements that come from a terminal are announced" {
	run -0 script -qec "dsvc-run 'lines - | count' </dev/tty" /dev/null < <(printf 'a\nb\n\004')
	[[ $output == *"dsvc-run: reading elements from the terminal; end with ^D"* ]]
	run -0 --separate-stderr dsvc-run 'stdin | count' </dev/null
	[[ $output == 0 && ! $stderr ]]
}

@test "a name that the shell put there for a pattern is called one" {
	cd "$BATS_TEST_TMPDIR"
	touch xax
	run -65 dsvc-run range 3 'then' map x*x
	[[ $output == *"a file of that name exists"*"single quotes"* ]]
	run -65 dsvc-run range 3 'then' map xbx
	[[ $output != *"there is a file"* ]]
	run -0 dsvc-run 'elements ["xax", "-"] | interleave (lines x) on_error=skip' </dev/null
	[[ $output == "dsvc-run: 1 element failed and was skipped" ]]
}

@test "the folder of the private socket matters only to those who need a service" {
	mkdir "$BATS_TEST_TMPDIR/open" && mkdir -m 755 "$BATS_TEST_TMPDIR/open/dsvc"
	local long
	long=/tmp/$(printf 'x%.0s' {1..150})
	XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/open run -0 dsvc-run 'range 2'
	[[ $output == $'0\n1' ]]
	XDG_RUNTIME_DIR=$long run -0 dsvc-run 'range 2'
	[[ $output == $'0\n1' ]]
	XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/open run -77 dsvc-run 'range 2 | distribute'
	[[ $output == *'is not private'* ]]
	XDG_RUNTIME_DIR=$long run -64 dsvc-run 'range 2 | distribute'
	[[ $output == *'longer than 107 bytes'* ]]
	run -64 dsvc-run -d 'nonsense' 'range 2'
}

@test "--timeout holds while an included file does not come" {
	local pipe=$BATS_TEST_TMPDIR/never program
	mkfifo "$pipe"
	service
	for program in dsvc-run 'dsvc-run --check' 'dsvc-run --explain' 'dsvc-run --fmt' 'dsvc-run --try' dsvc-read dsvc-register; do
		# shellcheck disable=SC2086
		run -124 within 10s $program --timeout 100ms -e "include '$pipe'; range 3"
		[[ $output == "${program%% *}: --timeout expired" ]]
		# shellcheck disable=SC2086
		run -124 within 10s $program --timeout 100ms -f "$pipe"
	done
}

@test "pretty fits the terminal, and gives what it has when it is stopped" {
	run -0 script -qec "stty cols 30; dsvc-run -t pretty 'range 2 | map {id: x, long: \"abcdefghijklmnopqrstuvwxyz\", b: \"zzzzzzzzzzzzzzz\"}'" /dev/null
	[[ ${lines[*]} == *'abcdefghij'*'…'* ]]
	for line in "${lines[@]}"; do ((${#line} <= 31)); done # with \r
	# Columns that are narrow already are not cut.
	run -0 script -qec "stty cols 20; dsvc-run -t pretty 'range 1 | map {a: x, b: 1, c: 2, d: 3, e: 4, f: 5, g: 6, h: 7, i: 8}'" /dev/null
	[[ $output == *'a  b  c  d  e  f  g  h  i'* && $output != *'…'* ]]
	# One cell of a million characters does not fill up the same column of all rows.
	run -0 bash -c "dsvc-run -t pretty 'range 900 | map {a: x == 700 ? pad(\"\", 1000000, \".\") : \"s\", b: x}' | wc -c"
	((output > 1000000 && output < 1300000))
	mkfifo "$BATS_TEST_TMPDIR/in"
	exec 8<>"$BATS_TEST_TMPDIR/in"
	spawn run dsvc-run -t pretty "lines $BATS_TEST_TMPDIR/in | print"
	printf '%s\n' a bcd >&8
	until_true 5s grep -q bcd "$BATS_TEST_TMPDIR/run.err"
	stop run
	((status == 143))
	[[ $(<"$BATS_TEST_TMPDIR/run.out") == $'a\nbcd' ]]
	exec 8>&-
}

@test "a misspelt operator that is a function too is suggested once" {
	run -64 dsvc-run --help-op fliter
	[[ $output == *'did you mean `filter`?' ]]
}

# The words of a table in the source: those before the first comma of each row.
words_elsewhere() { # FILE FIRST_LINE
	awk -v from="$2" 'index($0, from) { on = 1; next } on && /^\t*};/ { exit } on' "$1" | grep -o '{ "[^"]*"' | cut -d '"' -f 2
}

@test "operators and functions of other programs are known by name, in any case, and what is named instead exists" {
	local root=$BATS_TEST_DIRNAME/../.. word help first operators functions n=0
	operators=" $(dsvc-run --ops | grep -oE '^ +[a-z_]+' | tr -d ' ' | tr '\n' ' ')"
	functions=" $(dsvc-run --functions | grep -oE '^ *[a-z_0-9]+\(' | tr -d ' (' | tr '\n' ' ')"
	while read -r word; do
		for word in "$word" "${word^^}"; do
			run -65 --separate-stderr dsvc-run "range 1 | $word"
			help=$(grep -o 'here it is written: .*' <<<"$stderr") || { echo "$word: $stderr"; return 1; }
			first=${help#*: }
			first=${first%%[ ,]*}
			[[ $first == -t || $first == dsvc-run || $first == let || $operators == *" $first "* ]] || { echo "$word: $help"; return 1; }
		done
		n=$((n + 1))
	done < <(words_elsewhere "$root/lib/lang/elsewhere.c" 'elsewhere_words[] = {')
	((n > 150))
	n=0
	while read -r word; do
		for word in "$word" "${word^^}"; do
			run -65 --separate-stderr dsvc-run "range 1 | map $word(x)"
			help=$(grep -o 'it is called `.*' <<<"$stderr") || { echo "$word: $stderr"; return 1; }
			first=${help#*\`}
			[[ $functions == *" ${first%%\`*} "* ]] || { echo "$word: $help"; return 1; }
		done
		n=$((n + 1))
	done < <(words_elsewhere "$root/lib/expr/compile/compile_call.c" 'call_elsewhere(const char *name, bool near_it)')
	((n > 100))
}

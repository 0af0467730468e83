#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Programs as operators: their processes, their errors, who may run them.
# What needs no process to be watched is in tests/cases/exec.case.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

gone() { # PID: it has ended (nobody may have buried it yet)
	[[ ! -e /proc/$1 ]] || [[ $(<"/proc/$1/stat") == *") Z "* ]]
}

needs() { # COMMAND PACKAGE
	command -v "$1" >/dev/null || skip "$1 is not installed (Debian: $2; make deps installs it)"
}

# A program that answers lines, and stays when its input has ended.
stayer() {
	printf '#!/bin/sh\necho $$ >>%q\nwhile read -r a; do echo "$a"; done\nexec sleep 1000\n' \
		"$BATS_TEST_TMPDIR/stayer.pid" >"$BATS_TEST_TMPDIR/stayer"
	chmod +x "$BATS_TEST_TMPDIR/stayer"
}

@test "answers are passed on while the next element is waited for" {
	mkfifo "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
	dsvc-run 'stdin | exec -- sed -u s/^/x/' <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/out" 3>&- &
	exec 8>"$BATS_TEST_TMPDIR/in" 9<"$BATS_TEST_TMPDIR/out"
	for word in one two three; do
		echo "$word" >&8
		read -r -t "$patience" -u 9 answer
		[[ $answer == "x$word" ]]
	done
	exec 8>&-
	wait "$!"
	exec 9<&-
}

@test "pipes that are full both ways stop nobody" {
	run -0 within 20s dsvc-run -t count 'range 300 | map [x, split("'"$(printf 'abcdefgh %.0s' {1..2000})"'", " ")] | exec proto=ndjson -- cat'
	[[ $output == 300 ]]
}

@test "children end with the stream, when it is killed too" {
	stayer
	mkfifo "$BATS_TEST_TMPDIR/in"
	for signal in TERM KILL; do
		rm -f "$BATS_TEST_TMPDIR/stayer.pid"
		spawn run bash -c 'exec dsvc-run "stdin | exec -- $0" <"$1"' "$BATS_TEST_TMPDIR/stayer" "$BATS_TEST_TMPDIR/in"
		exec 8>"$BATS_TEST_TMPDIR/in"
		echo a >&8
		until_true 5s test -s "$BATS_TEST_TMPDIR/run.out"
		stop run $signal
		until_true 5s gone "$(<"$BATS_TEST_TMPDIR/stayer.pid")"
		exec 8>&-
	done
}

@test "what a child started is ended with it" {
	mkfifo "$BATS_TEST_TMPDIR/in"
	spawn run bash -c 'exec dsvc-run "stdin | sh \"sleep 1000 & echo \\\$! >$0; cat\"" <"$1"' "$BATS_TEST_TMPDIR/pid" "$BATS_TEST_TMPDIR/in"
	exec 8>"$BATS_TEST_TMPDIR/in"
	echo a >&8
	until_true 5s test -s "$BATS_TEST_TMPDIR/pid"
	exec 8>&-
	until_true 10s gone "$(<"$BATS_TEST_TMPDIR/pid")"
	stop run KILL || true
}

@test "what a child started is ended when dsvc is killed" {
	mkfifo "$BATS_TEST_TMPDIR/in"
	spawn run bash -c 'exec dsvc-run "stdin | sh \"sleep 1000 & echo \\\$! >$0; cat\"" <"$1"' "$BATS_TEST_TMPDIR/pid" "$BATS_TEST_TMPDIR/in"
	exec 8>"$BATS_TEST_TMPDIR/in"
	echo a >&8
	until_true 5s test -s "$BATS_TEST_TMPDIR/pid"
	until_true 5s test -s "$BATS_TEST_TMPDIR/run.out"
	stop run KILL
	until_true 5s gone "$(<"$BATS_TEST_TMPDIR/pid")"
	exec 8>&-
}

# Programs that do what none should. Each is told in words, within seconds; they run
# side by side, for most of them have to be waited for.
hostile() { # CODE TEXT SPEC
	local n=${#hostile[@]}
	hostile+=("$1 $2")
	{
		rc=0
		within 20s dsvc-run "$3" >"$BATS_TEST_TMPDIR/h$n.out" 2>"$BATS_TEST_TMPDIR/h$n.err" || rc=$?
		echo "$rc" >"$BATS_TEST_TMPDIR/h$n.rc"
	} 3>&- &
}
@test "hostile programs: never a hang, always a word" {
	local hostile=()
	hostile 65 'sh closed its output without answers to 10 elements' 'range 10 | exec -- sh -c "exec >&-; sleep 1000"'
	hostile 65 'sh reads no more, without answers to 1024 elements' 'range 100_000 | exec -- sh -c "read a; echo $a; exec <&-; sleep 1000"'
	hostile 65 'sh gave no answer within 0.5 s' 'range 10 | exec timeout=500ms -- sh -c "exec <&-; sleep 1000"'
	hostile 65 'sh ended without answers to 9 elements' 'range 10 | exec -- sh -c "sleep 1000 & echo x"'
	hostile 0 '' 'range 10 | exec -- sh -c "sleep 1000 & cat"'
	hostile 65 'sh has ended, but a process that it started keeps its output open' 'range 3 | exec proto=arg -- sh -c "sleep 1000 & echo x"'
	hostile 65 'sh has ended, but a process that it started keeps its output open' 'range 3 | exec proto=stream -- sh -c "sleep 1000 & cat"'
	hostile 65 'sh has ended, but a process that it started keeps its output open' 'cmd shell=true -- "sleep 1000 & echo hi"'
	hostile 65 'sh closed its output and did not end' 'cmd shell=true -- "echo hi; exec >&-; sleep 1000"'
	hostile 65 'sh ended without answers to 999 elements' 'range 1000 | exec -- sh -c "exec head -n 1"'
	hostile 65 'gave more answers than it was given elements' 'range 10 | exec -- yes'
	hostile 65 'is no JSON' 'range 10 | exec proto=ndjson -- sed -u "s/.*/{x/"'
	hostile 65 'an answer of more than 1000000 bytes' 'options element_max=1000000; range 3 | exec -- head -c 2000000 /dev/zero'
	hostile 65 'died 3 times on this element: sh was killed by signal 11' 'range 10 | exec -- sh -c "kill -SEGV $$"'
	hostile 0 'more lines)' 'range 3 | exec proto=arg -- sh -c "yes bad | head -c 10000000 >&2"'
	hostile 65 'sh gave no answer within 0.5 s' 'range 3 | exec timeout=500ms -- sh -c "yes bad >&2"'
	hostile 65 'sh exited with status 3' 'range 10 | exec -- sh -c "setsid sleep 10 & read a; exit 3"'
	wait
	local n
	for ((n = 0; n < ${#hostile[@]}; n++)); do
		echo "${hostile[n]}:" "$(tail -n 5 "$BATS_TEST_TMPDIR/h$n.err")"
		[[ $(<"$BATS_TEST_TMPDIR/h$n.rc") == "${hostile[n]%% *}" ]]
		[[ $(<"$BATS_TEST_TMPDIR/h$n.err") == *"${hostile[n]#* }"* ]]
	done
}

@test "a program that gives all at its end is told that its input has ended" {
	mkfifo "$BATS_TEST_TMPDIR/in"
	spawn run bash -c 'exec dsvc-run "stdin | map int(x) | exec proto=msgpack -- pipelines/programs/total.py" <"$0"' "$BATS_TEST_TMPDIR/in"
	exec 8>"$BATS_TEST_TMPDIR/in"
	echo 2 >&8
	# It works on 32 at a time, and is told when there is no more for now.
	until_true 5s grep -qx 2 "$BATS_TEST_TMPDIR/run.out"
	echo 4 >&8
	until_true 5s grep -qx 6 "$BATS_TEST_TMPDIR/run.out"
	exec 8>&-
	reap run
	((status == 0))
	grep -q 'total.py: batches 2' "$BATS_TEST_TMPDIR/run.err"
}

@test "pty=true lets a program give each line at once" {
	mkfifo "$BATS_TEST_TMPDIR/in"
	spawn run bash -c 'exec dsvc-run "stdin | exec pty=true -- sed s/^/x/" <"$0"' "$BATS_TEST_TMPDIR/in"
	exec 8>"$BATS_TEST_TMPDIR/in"
	echo a >&8
	until_true 5s grep -qx xa "$BATS_TEST_TMPDIR/run.out"
	exec 8>&-
	reap run
	((status == 0))
	[[ ! -s $BATS_TEST_TMPDIR/run.err ]]
}

@test "a closed pipe ends the children" {
	stayer
	run -0 within 10s bash -c 'set -o pipefail; dsvc-run "range 1_000_000_000 | exec -- $0" | head -n 1; test ${PIPESTATUS[0]} = 141' "$BATS_TEST_TMPDIR/stayer"
	[[ $output == 0 ]]
	until_true 5s gone "$(<"$BATS_TEST_TMPDIR/stayer.pid")"
}

@test "a child that holds its output back is named, with the cure" {
	mkfifo "$BATS_TEST_TMPDIR/in"
	spawn run bash -c 'exec dsvc-run "stdin | exec -- sed s/^/x/" <"$0"' "$BATS_TEST_TMPDIR/in"
	exec 8>"$BATS_TEST_TMPDIR/in"
	echo a >&8
	until_true 10s grep -q 'sed appears to buffer its output (1 element in, none out for 1 s)' "$BATS_TEST_TMPDIR/run.err"
	until_true 5s grep -q 'help: .*`sed -u`' "$BATS_TEST_TMPDIR/run.err"
	exec 8>&-
	reap run
	((status == 0))
	[[ $(<"$BATS_TEST_TMPDIR/run.out") == xa ]]
}

@test "it is named while slow input goes on, and timeout= counts meanwhile" {
	# Elements keep coming, with less than a second between them.
	run -0 --separate-stderr within 30s dsvc-run 'range 16 | rate 8 | exec -- sed s/^/x/'
	[[ $stderr == *'sed appears to buffer its output ('*' elements in, none out for 1 s)'* ]]
	[[ ${lines[15]} == x15 ]]
	# It is a guess by time: who is kept waiting by a loaded machine may be suspected, not always.
	local try
	for try in 1 2 3; do
		run -0 --separate-stderr within 30s dsvc-run 'range 16 | rate 8 | exec -- sed -u s/^/x/'
		[[ $stderr ]] || break
	done
	[[ $stderr == '' ]]
	run -65 within 30s dsvc-run 'counter | rate 8 | exec timeout=700ms -- sed s/^/x/'
	[[ $output == *'sed gave no answer within 0.7 s'* ]]
}

@test "a child that holds back is given more, and the work goes on" {
	run -0 within 20s dsvc-run -t count 'range 100_000 | exec window=2 -- sed s/^/x/'
	[[ $output == *100000 ]]
}

@test "a child that dies is started again, three times on one element" {
	cat >"$BATS_TEST_TMPDIR/dies" <<-'END'
		#!/bin/sh
		echo x >>"$1"
		while read -r a; do
			if [ "$a" = 5 ]; then echo "no fives" >&2; exit 3; fi
			echo "$a!"
		done
	END
	chmod +x "$BATS_TEST_TMPDIR/dies"
	run -65 --separate-stderr dsvc-run "range 8 | exec -- $BATS_TEST_TMPDIR/dies $BATS_TEST_TMPDIR/count"
	[[ $output == $'0!\n1!\n2!\n3!\n4!' ]]
	[[ $stderr == *'died 3 times on this element: dies exited with status 3'*'    no fives'* ]]
	(($(wc -l <"$BATS_TEST_TMPDIR/count") == 3))
	run -0 --separate-stderr dsvc-run "range 8 | exec on_error=skip -- $BATS_TEST_TMPDIR/dies $BATS_TEST_TMPDIR/count"
	[[ $output == $'0!\n1!\n2!\n3!\n4!\n6!\n7!' ]]
	run -0 --separate-stderr dsvc-run "range 8 | exec on_error=keep parallel=3 -- $BATS_TEST_TMPDIR/dies $BATS_TEST_TMPDIR/count"
	[[ $output == $'0!\n1!\n2!\n3!\n4!\n5\n6!\n7!' ]]
}

@test "a child that dies once costs nothing but a start" {
	cat >"$BATS_TEST_TMPDIR/once" <<-'END'
		#!/bin/sh
		while read -r a; do
			if [ "$a" = 500 ] && [ ! -e "$1" ]; then : >"$1"; kill -9 $$; fi
			echo "$a"
		done
	END
	chmod +x "$BATS_TEST_TMPDIR/once"
	dsvc-run "range 1000 | exec -- $BATS_TEST_TMPDIR/once $BATS_TEST_TMPDIR/flag" >"$BATS_TEST_TMPDIR/got"
	seq 0 999 | cmp - "$BATS_TEST_TMPDIR/got"
	[[ -e $BATS_TEST_TMPDIR/flag ]]
}

@test "retry, and exit status 75" {
	cat >"$BATS_TEST_TMPDIR/later" <<-'END'
		#!/bin/sh
		echo x >>"$1/tries.$2"
		[ "$(wc -l <"$1/tries.$2")" -ge 3 ] || exit "$3"
		echo "ok $2"
	END
	chmod +x "$BATS_TEST_TMPDIR/later"
	run -0 dsvc-run "range 2 | exec proto=arg -- $BATS_TEST_TMPDIR/later $BATS_TEST_TMPDIR {} 75"
	[[ $output == $'ok 0\nok 1' ]]
	rm "$BATS_TEST_TMPDIR"/tries.*
	run -0 dsvc-run "range 2 | exec proto=arg parallel=2 on_error=retry:2 -- $BATS_TEST_TMPDIR/later $BATS_TEST_TMPDIR {} 1"
	[[ $output == $'ok 0\nok 1' ]]
	rm "$BATS_TEST_TMPDIR"/tries.*
	run -65 dsvc-run "range 2 | exec proto=arg on_error=retry:1 -- $BATS_TEST_TMPDIR/later $BATS_TEST_TMPDIR {} 1"
	[[ $output == *'later exited with status 1'* ]]
}

@test "timeouts end the process and count as errors" {
	run -65 within 10s dsvc-run 'range 1 | exec proto=arg timeout=100ms -- sleep 1000'
	[[ $output == *'sleep did not end within 0.1 s'* ]]
	run -65 within 10s dsvc-run 'range 1 | exec timeout=100ms -- sleep 1000'
	[[ $output == *'sleep gave no answer within 0.1 s'* ]]
	run -0 --separate-stderr within 10s dsvc-run 'range 3 | exec timeout=2s on_error=skip shell=true -- "while read -r a; do [ $a != 1 ] || sleep 1000; echo $a; done"'
	[[ $output == $'0\n2' ]]
}

@test "copies: order kept, order not kept, slots in the environment" {
	seq 0 4999 >"$BATS_TEST_TMPDIR/want"
	dsvc-run 'range 5000 | exec parallel=4 -- cat' | cmp - "$BATS_TEST_TMPDIR/want"
	dsvc-run 'range 5000 | exec parallel=4 ordered=false -- cat' | sort -n | cmp - "$BATS_TEST_TMPDIR/want"
	dsvc-run 'range 200 | exec proto=arg parallel=4 -- echo' | cmp - <(head -n 200 "$BATS_TEST_TMPDIR/want")
	run -0 dsvc-run --seed 9 'range 1 | sh "echo \$DSVC_CHILD_SHARD \$DSVC_CHILD_SHARDS \$DSVC_CHILD_EPOCH \$DSVC_CHILD_OP \$DSVC_CHILD_SLOT \$DSVC_CHILD_SLOTS \$DSVC_CHILD_SEED \$DSVC_CHILD_PROTO \$DSVC_CHILD_INDEX" proto=arg parallel=3'
	[[ $output == '0 1 0 2 1 3 9 arg 0 0' ]]
	printf 'a\nb\n' >"$BATS_TEST_TMPDIR/f.txt"
	run -0 dsvc-run "lines $BATS_TEST_TMPDIR/f.txt | sh 'echo \$DSVC_CHILD_SOURCE' proto=arg"
	[[ $output == "$BATS_TEST_TMPDIR/f.txt:1 a"$'\n'"$BATS_TEST_TMPDIR/f.txt:2 b" ]]
}

@test "{%} and the slot in the environment are the same number, from 1" {
	run -0 dsvc-run 'range 40 | sh "test \$DSVC_CHILD_SLOT = {%} && echo \$((DSVC_CHILD_SLOT >= 1 && DSVC_CHILD_SLOT <= 3))" proto=arg parallel=3 | unique'
	[[ $output == 1 ]]
}

@test "no option of any program can be a variable of children" {
	local program option
	for program in "$B"/bin/dsvc*; do
		# The variables of an option: DSVC_FOO, DSVC_READ_FOO.
		[[ ${program##*/} != dsvc-child* ]]
		for option in $("$program" --help | grep -o ' --[a-z][a-z-]*'); do
			# These are not read from the environment.
			[[ $option != --child* || $option =~ ^--child-(env|memory|files)$ ]]
		done
	done
	# All that children are given, and nothing else with our name.
	run -0 env DSVC_SEED=1 DSVC_RUN_TO=json DSVC_CHILD_OTHER=1 DSVC_DISPATCHER=tcp://127.0.0.1:1 \
		dsvc-run -t text 'elements ["a"] | sh "env | grep ^DSVC_ | grep -v ^DSVC_CHILD_; : {}" proto=arg'
	[[ $output == DSVC_DISPATCHER=tcp://127.0.0.1:1 ]]
	run -0 env DSVC_CHILD_OTHER=1 dsvc-run 'elements ["a"] | sh "env | grep -c OTHER; : {}" proto=arg'
	[[ $output == 0 ]]
}

# Programs inside exec, sh and cmd of a pipeline that $how runs, which has a job and a
# seed that are its own affair.
outer_is() {
	outer=(dsvc-run)
	[[ $how == run ]] || outer=(dsvc-read -J "outer$((++n))" -e)
}
inside() { # WANT SPEC
	outer_is
	run -0 --separate-stderr within 30s "${outer[@]}" "$2"
	[[ $(sort -n <<<"$output" | paste -sd' ') == "$1" ]] || {
		echo "${outer[*]} '$2': $output"
		return 1
	}
}

@test "dsvc inside dsvc, alone and on workers" {
	local how n=0 outer numbers id
	service 3
	export PATH DSVC_SEED=7 DSVC_EPOCH=1
	id=$(dsvc-register 'range 5')
	for how in run read; do
		inside '0 2 4' 'range 3 | exec -- dsvc-run "stdin | map int(x) * 2"'
		inside '0 2 4' 'range 3 | exec proto=stream -- dsvc-run "stdin | map int(x) * 2"'
		inside '0 2 4' 'range 3 | sh "dsvc-run \"stdin | map int(x) * 2\""'
		inside '1 2' 'range 1 3 | exec proto=arg -- dsvc-run -t count "elements [0, 1] | take @n" -s n={}'
		inside '10 11' 'range 2 | sh "dsvc-run -t count \"range 1\"{}" proto=arg'
		inside '0 1 2' 'cmd -- dsvc-run "range 3"'
		# A seed of its own.
		outer_is
		numbers=$(within 30s "${outer[@]}" 'range 8 | sh "dsvc-run \"random 1\" && : {}" proto=arg')
		[[ $(sort -u <<<"$numbers" | wc -l) == 8 ]]
		# The same service, and a job of its own.
		inside '10 11' 'range 2 | sh "dsvc-read -t count -e \"range 1\"{}" proto=arg'
		inside '0 1 2' 'cmd -- dsvc-read -e "range 3"'
		inside '0 1 2 3 4' "cmd -- dsvc-read $id"
		inside "$id" 'cmd -- dsvc-register "range 5"'
		inside 1 'cmd shell=true -- "dsvc-status --json >/dev/null; echo \$((\$? == 0))"'
		inside 1 'cmd shell=true -- "dsvc-exec-test -- cat >/dev/null; echo \$((\$? == 0))"'
	done
}

@test "a service inside dsvc is another one" {
	service
	cat >"$BATS_TEST_TMPDIR/inner" <<-'END'
	#!/bin/bash
	d=$(mktemp -d) && cd "$d" && mkfifo up1 up2 || exit
	dsvc-dispatch -q -b "ipc://$d/d" --ready-fd 3 3>up1 >&2 & read -r DSVC_DISPATCHER <up1
	export DSVC_DISPATCHER
	dsvc-work -q --ready-fd 3 3>up2 >&2 & read -r _ <up2
	dsvc-read -t count -e 'range 10'
	kill %1 %2 && wait && rm -r "$d"
	END
	chmod +x "$BATS_TEST_TMPDIR/inner"
	run -0 within 30s dsvc-read -J outer -e "cmd -- $BATS_TEST_TMPDIR/inner"
	[[ $output == 10 ]]
}

@test "-d holds for programs inside, too" {
	mkdir "$sockets/n" && XDG_RUNTIME_DIR=$sockets/n
	endpoint=$(free_ipc d)
	start d dsvc-dispatch -b "$endpoint"
	start w1 dsvc-work -d "$endpoint"
	start w2 dsvc-work -d "$endpoint"
	run -0 within 30s dsvc-read -d "$endpoint" -e 'cmd -- dsvc-read -t count -e "range 3"'
	[[ $output == 3 ]]
	run -0 within 30s dsvc-run -d "$endpoint" 'cmd -- dsvc-read -t count -e "range 3"'
	[[ $output == 3 ]]
	run -0 within 30s dsvc-read -d "$endpoint" -e 'range 3 | distribute | exec proto=stream -- dsvc-read -t count -e "range 3"'
	[[ $output == 3 ]]
}

@test "an error names the source's file and line" {
	printf 'one\ntwo\n' >"$BATS_TEST_TMPDIR/f.txt"
	run -65 dsvc-run "lines $BATS_TEST_TMPDIR/f.txt | exec proto=arg -- test one ="
	[[ $output == *"$BATS_TEST_TMPDIR/f.txt:2:"*'test exited with status 1'* ]]
}

@test "stderr of a child is shown, each line with its name" {
	run -0 --separate-stderr dsvc-run 'range 1 | exec proto=arg -- sh -c "echo careful >&2; echo fine"'
	[[ $output == fine ]]
	[[ $stderr == *'sh: careful'* ]]
}

@test "dsvc-exec-test tells good operators from bad ones" {
	run -0 within 60s dsvc-exec-test -- sed -u s/a/b/
	[[ $(grep -c '^ok ' <<<"$output") == 6 ]]
	run -1 within 60s dsvc-exec-test -- sed s/a/b/
	[[ $output == *'FAIL each answer at once: it buffers its output'*'help: '*'`sed -u`'* ]]
	run -1 within 60s dsvc-exec-test -P msgpack -- cat
	[[ $output == *'the handshake that it was given'* ]]
	run -1 within 60s dsvc-exec-test -- sh -c 'n=0; while read -r a; do echo $((n += 1)); done'
	[[ $output == *'FAIL several copies give the same'*'parallel=1'* ]]
	run -1 within 60s dsvc-exec-test -- head -n 2
	[[ $output == 'FAIL one answer for each element: '*'without answers to 2 elements'* ]]
	run -1 within 60s dsvc-exec-test --limit 500ms -- sleep 100
	[[ $output == *'does not end in time'* ]]
	run -127 dsvc-exec-test -- no-such-program
	run -64 dsvc-exec-test
}

@test "the example in C, as its head says to build it" {
	read -ra flags < <(pkg-config --cflags --libs msgpack-c 2>/dev/null || pkg-config --cflags --libs msgpack)
	read -ra cc <<<"${CC:-cc}"
	"${cc[@]}" -Wall -Werror -o "$BATS_TEST_TMPDIR/lengths" pipelines/programs/lengths.c "${flags[@]}"
	run -0 dsvc-run "elements [\"a\", \"bcd\", 1] | exec proto=msgpack on_error=skip -- $BATS_TEST_TMPDIR/lengths"
	[[ $output == $'1\n3\n'* ]]
}

@test "jq and python as co-processes" {
	needs jq jq
	needs python3 python3
	run -0 dsvc-run 'range 3 | map {n: x} | exec proto=ndjson -- jq -c --unbuffered ".n * 2"'
	[[ $output == $'0\n2\n4' ]]
	cat >"$BATS_TEST_TMPDIR/score.py" <<-'END'
		import json, sys
		for line in sys.stdin:
		    x = json.loads(line)
		    print(json.dumps({"id": x["id"], "score": len(x["text"])}), flush=True)
	END
	run -0 dsvc-run "elements [{id: 1, text: \"abc\"}, {id: 2, text: \"\"}] | exec proto=ndjson parallel=2 -- python3 $BATS_TEST_TMPDIR/score.py"
	[[ $output == $'{"id":1,"score":3}\n{"id":2,"score":0}' ]]
}

@test "an image thumbnailer" {
	needs convert imagemagick
	mkdir "$BATS_TEST_TMPDIR/imgs"
	convert -size 64x48 xc:red "$BATS_TEST_TMPDIR/imgs/a.png"
	convert -size 32x64 xc:blue "$BATS_TEST_TMPDIR/imgs/b.png"
	dsvc-run "files '$BATS_TEST_TMPDIR/imgs/*.png' | exec proto=arg -- convert {} -thumbnail 16x16 $BATS_TEST_TMPDIR/{/.}.gif"
	[[ $(identify -format '%wx%h' "$BATS_TEST_TMPDIR/a.gif") == 16x12 ]]
	[[ $(identify -format '%wx%h' "$BATS_TEST_TMPDIR/b.gif") == 8x16 ]]
	dsvc-run -t raw "whole $BATS_TEST_TMPDIR/imgs/a.png | exec proto=raw -- convert - -thumbnail 8x8 jpg:-" >"$BATS_TEST_TMPDIR/a.jpg"
	[[ $(identify -format '%m %wx%h' "$BATS_TEST_TMPDIR/a.jpg") == 'JPEG 8x6' ]]
}

@test "a WebDataset to thumbnails, to a WebDataset: the groups stay together" {
	needs convert imagemagick
	local names want=$'blue PNG 6x16\nfire PNG 16x16\nred PNG 16x11'
	names=$(tar tf pipelines/data/images.tar)
	dsvc-run -t tar -f pipelines/tar-thumbnails.dsvc --set shards=pipelines/data/images.tar --set size=16x16 >"$BATS_TEST_TMPDIR/small.tar"
	[[ $(tar tf "$BATS_TEST_TMPDIR/small.tar") == "$names" ]]
	[[ $(sizes "$BATS_TEST_TMPDIR/small.tar") == "$want" ]]
	run -0 python3 -c '
import sys, tarfile
t = tarfile.open(sys.argv[1])
print([t.extractfile(m).read().strip().decode() for m in t if m.name.endswith(".cls")])' "$BATS_TEST_TMPDIR/small.tar"
	[[ $output == "['0', '1', '2']" ]]
	# The same by two workers, into archives of their own.
	service 2
	dsvc-read -t none -e "tar $PWD/pipelines/data/images.tar | exec field=png proto=raw -- convert - -thumbnail 16x16 png:- | save $BATS_TEST_TMPDIR/small format=tar"
	[[ $(sizes "$BATS_TEST_TMPDIR/small/*.tar") == "$want" ]]
}
sizes() { # TAR
	dsvc-run "tar $1 | exec field=png proto=raw -- identify -format '%m %wx%h' - | map .__key__ ++ ' ' ++ str(.png)" | sort
}

@test "on workers of a private service programs run, and know where they are" {
	service 2
	run -0 dsvc-read -t count -e 'range 1000 | exec -- cat'
	[[ $output == 1000 ]]
	run -0 dsvc-read --job here -e 'elements ["a"] | exec proto=arg -- sh -c "echo ${DSVC_CHILD_WORKER:+there} ${#DSVC_CHILD_DATASET} $DSVC_CHILD_JOB $((DSVC_CHILD_SHARD < DSVC_CHILD_SHARDS)) $((DSVC_CHILD_SHARDS > 0))"'
	[[ $output == 'there '*' here 1 1' ]]
	run -65 dsvc-read -e 'range 10 | exec proto=arg -- test 5 -ne'
	[[ $output == *'test exited with status 1'* ]]
	run -127 dsvc-read -e 'range 10 | exec -- no-such-program'
	[[ $output == *'there is no such program'* ]]
}

@test "through workers the order of the source is kept, and each element comes once" {
	service 2
	seq 0 299999 >"$BATS_TEST_TMPDIR/want"
	dsvc-read --order source -e 'range 300_000 | exec -- cat' | cmp - "$BATS_TEST_TMPDIR/want"
	dsvc-read --order source -e 'range 300_000 | exec parallel=2 -- sed s/x//' | cmp - "$BATS_TEST_TMPDIR/want"
	# each of them ends a split before it takes the next one
	dsvc-read --order source -e 'range 300_000 | exec -- cat | exec -- cat' | cmp - "$BATS_TEST_TMPDIR/want"
	dsvc-read -e 'range 300_000 | exec parallel=2 -- cat' | sort -n | cmp - "$BATS_TEST_TMPDIR/want"
}

@test "a worker killed, another drained, children at work: each element once, no child left" {
	local p
	printf '#!/bin/sh\necho $$ >>%q\nwhile read -r a; do echo "$a"; done\n' "$BATS_TEST_TMPDIR/pids.children" >"$BATS_TEST_TMPDIR/slow"
	chmod +x "$BATS_TEST_TMPDIR/slow"
	service 2
	spawn read dsvc-read -e "range 200_000 | exec parallel=2 -- $BATS_TEST_TMPDIR/slow"
	until_true 20s test -s "$BATS_TEST_TMPDIR/read.out"
	cp "$BATS_TEST_TMPDIR/pids.children" "$BATS_TEST_TMPDIR/first"
	stop work1 KILL || true
	start work3 dsvc-work
	stop work2 TERM
	((status == 0))
	reap read 60
	((status == 0))
	sort -n "$BATS_TEST_TMPDIR/read.out" | cmp - <(seq 0 199999)
	stop work3 KILL || true
	[[ -s $BATS_TEST_TMPDIR/first ]]
	while read -r p; do until_true 5s gone "$p"; done <"$BATS_TEST_TMPDIR/pids.children"
}

@test "what a program remembers goes with its stream when the worker is killed" {
	start dispatch dsvc-dispatch
	start work1 dsvc-work -j 1 --restart-interval 50ms
	spawn read dsvc-read --sharding off -e "range 400_000 | exec proto=msgpack -- $PWD/pipelines/programs/total.py"
	until_true 20s test -s "$BATS_TEST_TMPDIR/read.out"
	stop work1 KILL || true
	start work2 dsvc-work -j 1
	reap read 60
	((status == 0))
	# The sum at each even number; each worker that joined may have given a whole of its own.
	sort -nu "$BATS_TEST_TMPDIR/read.out" | cmp - <(seq 0 399999 | awk '{ t += $1 } $1 % 2 == 0 { printf "%.0f\n", t }')
	(($(wc -l <"$BATS_TEST_TMPDIR/read.out") % 200000 == 0))
}

@test "what a program remembers is not made up when it has ended" {
	needs python3 python3
	cat >"$BATS_TEST_TMPDIR/again.py" <<-'END'
		#!/usr/bin/python3
		import msgpack
		hear, out = msgpack.Unpacker(open(0, "rb", 0)), open(1, "wb", 0)
		next(hear)
		out.write(msgpack.packb({"dsvc": 1, "caps": ["state"]}))
		numbers = [number for number, x in hear]
		for number in numbers[:-1]: out.write(msgpack.packb([number, "ok", number]))
		out.write(msgpack.packb([numbers[-1], "error", "later", {"retry": True}]))
	END
	chmod +x "$BATS_TEST_TMPDIR/again.py"
	run -65 within 20s dsvc-run "range 5 | exec proto=msgpack -- $BATS_TEST_TMPDIR/again.py"
	[[ $output == *'again.py has ended, and its state is lost'* ]]
}

@test "on workers that speak TCP programs are refused, unless --allow-exec" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	export DSVC_DISPATCHER=$ready
	DSVC_ALLOW_EXEC=1 DSVC_WORK_ALLOW_EXEC=1 start work dsvc-work --insecure
	run -77 dsvc-read -e 'range 3 | exec -- cat'
	[[ $output == *'exec -- cat'*'--allow-exec'* ]]
	local spec id
	for spec in 'range 3 | interleave (range x | sh cat)' 'cmd -- seq 3' 'range 3 | sh cat' \
		'range 3 | group_by_window x 2 (| exec -- cat)' 'let f = | exec -- cat; range 3 | f'; do
		run -77 dsvc-read -e "$spec"
		[[ $output == *'--allow-exec'* ]]
	done
	id=$(dsvc-register 'range 3 | exec -- cat')
	run -77 dsvc-read "$id"
	# One that may and one that may not: whoever gets a stream of it says so.
	start may dsvc-work --insecure --allow-exec any
	run -77 dsvc-read "$id"
	[[ $output == *'exec -- cat'*'--allow-exec'* ]]
	stop may
	run -0 dsvc-read -e 'range 3'
	stop work
	start work dsvc-work --insecure --allow-exec any
	run -0 dsvc-read -e 'range 3 | exec -- cat'
	[[ $output == $'0\n1\n2' ]]
}

@test "arguments that are too long for the system are told, and what to do" {
	run -126 dsvc-run "range 100000 | map str(x) ++ 'a text that makes each of them longer' | batch 100000 | exec proto=arg -- /bin/echo"
	[[ ${lines[0]} == *'cannot run echo: its arguments are longer than the system allows' ]]
	[[ ${lines[1]} == '  help: give it fewer at a time, with a smaller batch, '* ]]
}

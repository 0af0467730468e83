#!/usr/bin/env bats
# SPDX-License-Identifier: MIT

load lib/dsvc

@test "help and version need nothing" {
	run -0 dsvc-read --version
	[[ ${lines[0]} == dsvc-read* && $output == *"protocol 2"* ]]
	run -0 dsvc-read -h
	[[ $output == *"dsvc-read -e 'range 10 | map x*x'"* ]]
	run -0 dsvc-read --help
}

@test "wrong options are usage errors" {
	run -64 dsvc-read
	run -64 dsvc-read -n x one
	run -64 dsvc-read -t png one
	run -64 dsvc-read --order random one
	run -64 dsvc-read --wait-workers many one
	[[ $output == *2/30s* ]]
	run -64 dsvc-read -e 'range 1' one
	[[ $output == *'more than one dataset or pipeline given'* ]]
	for option in -o -f --checkpoint --errors; do
		run -64 dsvc-read "$option" '' -e 'range 3'
		[[ $output == *"name of a file"* ]]
	done
}

@test "a dispatcher that is not there is told within two seconds" {
	run -69 within 2s dsvc-read -e 'range 10'
	[[ $output == "dsvc-read: no dispatcher at $endpoint (the default): nothing is listening there"* ]]
	[[ $output == *help:*dsvc-run* ]]
	DSVC_DISPATCHER=tcp://127.0.0.1:1 run -69 within 2s dsvc-read one
	[[ $output == *"tcp://127.0.0.1:1 (from DSVC_DISPATCHER): connection refused"* ]]
}

@test "a mistake in the pipeline is found before anything else" {
	run -65 dsvc-read -e 'range 10 | map x +'
	[[ $output == *"<arg>:1:"* ]]
}

@test "a registered dataset is read by its id" {
	service
	local id
	id=$(dsvc-register 'range 5 | map x*x')
	run -0 dsvc-read "$id"
	[[ $(sort -n <<<"$output") == $'0\n1\n4\n9\n16' ]]
	run -0 dsvc-read "$id"
	[[ $(sort -n <<<"$output") == $'0\n1\n4\n9\n16' ]]
}

@test "the first digits of a hash stand for the dataset" {
	service 1
	local id
	id=$(dsvc-register 'range 3')
	run -0 dsvc-read "${id:0:4}" --order source
	[[ $output == $'0\n1\n2' ]]
	run -66 dsvc-read "${id:0:3}"
	dsvc-register --id abcdef 'range 4'
	run -66 dsvc-read abcd
	cd "$BATS_TEST_TMPDIR"
	run -0 dsvc-read "${id:0:5}" --checkpoint pos
	run -0 dsvc-read -q "$id" --checkpoint pos
	[[ ! $output ]]
	run -65 dsvc-read abcdef --checkpoint pos
	[[ $output == *"$id"*abcdef* ]]
}

@test "options may follow the dataset, and a pipeline in one operand" {
	service 1
	dsvc-register --id three 'range 3'
	run -0 dsvc-read three -t json --order source
	[[ $output == $'[\n0,\n1,\n2\n]' ]]
	run -0 dsvc-read 'range -1 1' --order source -n 1
	[[ $output == -1 ]]
	run -0 dsvc-read --order source range -1 1 'then' map x
	[[ $output == $'-1\n0' ]]
	run -64 dsvc-read three --nonsense
}

@test "--fail-empty is 1 when nothing came" {
	service 1
	run -1 dsvc-read --fail-empty 'range 3 | filter x > 9'
	[[ ! $output ]]
	run -0 dsvc-read --fail-empty 'range 3 | filter x > 1'
}

@test "--timeout ends it with 124, with what has come" {
	service 1
	run -124 --separate-stderr within 10s dsvc-read --timeout 1500ms -e 'counter | filter x < 2' -n 9
	[[ $(sort <<<"$output") == $'0\n1' && $stderr == "dsvc-read: --timeout expired" ]]
}

@test "-d @FILE is the address that a dispatcher wrote there" {
	service 1
	echo "$endpoint" >"$BATS_TEST_TMPDIR/where"
	run -0 dsvc-read -d "@$BATS_TEST_TMPDIR/where" --order source -e 'range 2'
	[[ $output == $'0\n1' ]]
	run -69 within 2s dsvc-read -d "@$BATS_TEST_TMPDIR/nothing" -e 'range 2'
	[[ $output == *"has written its address to"*"--ready-file"* ]]
	echo nonsense >"$BATS_TEST_TMPDIR/where"
	run -64 dsvc-read -d "@$BATS_TEST_TMPDIR/where" -e 'range 2'
}

@test "what nobody registered is 66" {
	service
	run -66 dsvc-read nothing
	[[ $output == *nothing* ]]
}

@test "a pipeline comes as text, file or words" {
	service
	run -0 bash -c "dsvc-read -e 'range 4' | sort"
	[[ $output == $'0\n1\n2\n3' ]]
	echo 'range @n | map x+1' >"$BATS_TEST_TMPDIR/spec.dsvc"
	run -0 bash -c "dsvc-read -s n=2 -f '$BATS_TEST_TMPDIR/spec.dsvc' | sort"
	[[ $output == $'1\n2' ]]
	run -0 bash -c "dsvc-read range 3 then map x+10 | sort"
	[[ $output == $'10\n11\n12' ]]
}

@test "a pipeline may come through a pipe" {
	service 1
	run -0 dsvc-read --order source -f - <<<'range 3'
	[[ $output == $'0\n1\n2' ]]
	run -0 dsvc-read --order source -f <(echo 'range 3 | map x')
	[[ $output == $'0\n1\n2' ]]
}

@test "what stands behind distribute runs here" {
	service
	run -0 dsvc-read -e 'range 10 | distribute | count'
	[[ $output == 10 ]]
	run -0 bash -c "dsvc-read -e 'range 4 | distribute | map x+0.5' | sort"
	[[ $output == $'0.5\n1.5\n2.5\n3.5' ]]
	local id
	id=$(dsvc-register 'range 100')
	run -0 dsvc-read -e "dataset $id | filter x > 97 | count"
	[[ $output == 2 ]]
	run -0 dsvc-run "dataset $id | count"
	[[ $output == 100 ]]
}

@test "formats" {
	service
	run -0 dsvc-read -t count -e 'range 100000'
	[[ $output == 100000 ]]
	run -0 dsvc-read -t none -e 'range 100000'
	[[ ! $output ]]
	run -0 dsvc-read -t json -e 'range 1'
	[[ $output == $'[\n0\n]' || $output == '[0]' ]]
	run -0 dsvc-read -t json -e 'range 0'
	[[ $output == '[]' ]]
	run -0 dsvc-read -e 'range 1 | map {a: x, b: "t"}'
	[[ $output == '{"a":0,"b":"t"}' ]]
	run -0 bash -c "dsvc-read -0 -e 'range 1' | od -An -c | tr -d ' '"
	[[ $output == '0\0' ]]
	# nothing, again and again, is over, too
	for option in --order=any --order=stable --sharding=data --sharding=off; do
		run -0 within 5s dsvc-read "$option" -e 'range 0 | repeat'
		[[ ! $output ]]
	done
}

@test "no worker in time is 69" {
	service 0
	run -69 within 3s dsvc-read --wait-workers 1/0.2s -e 'range 10'
	[[ $output == *worker* ]]
}

@test "a worker that comes in time is waited for" {
	service 0
	spawn read dsvc-read --wait-workers 1/20s -t count -e 'range 10'
	start work dsvc-work
	reap read
	((status == 0))
	[[ $(<"$BATS_TEST_TMPDIR/read.out") == 10 ]]
}

@test "-n gives so many and stops the work" {
	service
	run -0 within 10s bash -c "dsvc-read -n 5 -e 'counter' | wc -l"
	[[ $output == 5 ]]
	run -0 dsvc-read -n 0 -e 'counter'
	[[ ! $output ]]
	run -0 bash -c "dsvc-read -n 100001 -e 'counter' | wc -l"
	[[ $output == 100001 ]]
	# nobody makes anything any more
	run -0 dsvc-read -t count -e 'range 1000'
	[[ $output == 1000 ]]
}

@test "a closed pipe ends it in silence" {
	service
	run -0 --separate-stderr within 5s bash -c "dsvc-read -e counter | head -n 3; echo \${PIPESTATUS[0]}"
	[[ ${lines[3]} == 141 && ! $stderr ]]
}

@test "a closed pipe is noticed while nothing comes" {
	service
	mkfifo "$BATS_TEST_TMPDIR/never" "$BATS_TEST_TMPDIR/out"
	exec 8<>"$BATS_TEST_TMPDIR/never"
	spawn read bash -c "exec dsvc-read -e 'lines $BATS_TEST_TMPDIR/never' >'$BATS_TEST_TMPDIR/out' 8>&-"
	exec 9<"$BATS_TEST_TMPDIR/out"
	exec 9<&-
	reap read 5
	((status == 141))
	exec 8>&-
}

@test "a full disk is no success" {
	service
	run -74 --separate-stderr bash -c "dsvc-read -e 'range 100000' >/dev/full"
	[[ $stderr == *"cannot write to standard output: No space left on device"* ]]
	run -74 bash -c "dsvc-read -e 'range 1' >/dev/full"
	run -74 bash -c "dsvc-read -t count -e 'range 1' >/dev/full"
}

@test "a file appears when all is written" {
	service
	run -0 dsvc-read -o "$BATS_TEST_TMPDIR/out.txt" -e 'range 3'
	[[ $(sort "$BATS_TEST_TMPDIR/out.txt") == $'0\n1\n2' ]]
}

@test "a file that is not finished is kept as a part, and the job has the rest" {
	service 1
	cd "$BATS_TEST_TMPDIR"
	local sig part
	for sig in TERM HUP; do
		spawn reader dsvc-read -J "j$sig" -o out -e 'range 2000 | sleep 1ms'
		until_true 10s compgen -G 'out.*.part' >/dev/null
		until_true 10s test -s out.*.part
		stop reader "$sig"
		[[ $status == $((128 + $(kill -l "$sig"))) && ! -e out ]]
		part=$(compgen -G 'out.*.part')
		grep -q "$part keeps the $(wc -l <"$part") elements that came; reading its job again" reader.err
		dsvc-read -J "j$sig" -e 'range 2000 | sleep 1ms' >rest
		sort -n "$part" rest | cmp - <(seq 0 1999)
		rm "$part"
	done
	# what comes before an error, in a format with an end
	run -65 dsvc-read -o out -t json --order source -e 'range 20 | map 100 // (14 - x)'
	[[ $output == *"keeps the 14 elements that came"$'\n'* && ! -e out ]]
	[[ $(tail -n 1 out.*.part) == ']' ]]
	rm out.*.part
	# nothing came, or the file is complete: no part
	run -66 dsvc-read -o out -e 'lines /nowhere/at-all'
	run -0 dsvc-read -o out -n 5 -e 'range 20'
	[[ ! $(compgen -G 'out.*') && $(wc -l <out) == 5 ]]
}

@test "the first element of a slow source shows at once" {
	service
	mkfifo "$BATS_TEST_TMPDIR/slow" "$BATS_TEST_TMPDIR/out"
	exec 8<>"$BATS_TEST_TMPDIR/slow"
	spawn read bash -c "exec dsvc-read -e 'lines $BATS_TEST_TMPDIR/slow' >'$BATS_TEST_TMPDIR/out' 8>&-"
	exec 9<"$BATS_TEST_TMPDIR/out"
	echo one >&8
	IFS= read -r -t "$patience" -u 9 line
	[[ $line == one ]]
	echo two >&8
	IFS= read -r -t "$patience" -u 9 line
	[[ $line == two ]]
	exec 9<&- 8>&-
}

@test "an element that fails ends it with 65 and says where" {
	service
	run -65 --separate-stderr dsvc-read -t none -e 'range 1000 | map x == 777 ? fail("seven") : x'
	[[ $stderr == *seven* && $stderr == *map* && $stderr == *worker* ]]
	printf '{"a":1}\n{"a":\n' >"$BATS_TEST_TMPDIR/bad.ndjson"
	run -65 --separate-stderr dsvc-read -t none -e "ndjson $BATS_TEST_TMPDIR/bad.ndjson"
	[[ $stderr == *bad.ndjson* && $stderr == *2* ]]
	run -0 --separate-stderr dsvc-read -e "ndjson $BATS_TEST_TMPDIR/bad.ndjson on_error=skip"
	[[ $output == '{"a":1}' ]]
}

@test "what was made before an element that fails is delivered, in each order" {
	service 2
	local spec='range 20000 | map 100 // (14014 - x)' want
	want=$(seq 0 14013 | awk '{print int(100 / (14014 - $1))}')
	run -65 --separate-stderr dsvc-read --order source -e "$spec"
	[[ $output == "$want" && $stderr == *"division by zero"* ]]
	run -65 --separate-stderr dsvc-read --order source --sharding off -e "$spec"
	[[ $output == "$want" ]]
	# the same blocks each time, up to the one with the failure
	run -65 --separate-stderr dsvc-read --order stable -e "$spec"
	local stable=$output
	[[ $(wc -l <<<"$stable") -gt 5000 ]]
	run -65 --separate-stderr dsvc-read --order stable -e "$spec"
	[[ $output == "$stable" ]]
	run -65 --separate-stderr dsvc-read --order any --shards 1 --sharding off -e "$spec"
	[[ $output == "$want" ]]
	# a position is saved before the error, and behind it is nothing but the error
	cd "$BATS_TEST_TMPDIR"
	run -65 --separate-stderr dsvc-read --order source --checkpoint pos -e 'range 20 | map 100 // (14 - x)'
	[[ $(wc -l <<<"$output") == 14 ]]
	run -65 --separate-stderr dsvc-read --order source --checkpoint pos -e 'range 20 | map 100 // (14 - x)'
	[[ ! $output ]]
}

@test "without an order all of the stream that failed comes, and of the others what they have given" {
	start dispatch dsvc-dispatch
	start alone dsvc-work -j 1
	local spec='map 100 // (14 - x)' behind
	# one slot: one stream
	for behind in '' ' | distribute | map x'; do
		run -65 --separate-stderr dsvc-read -e "range 20 | $spec$behind"
		[[ $(wc -l <<<"$output") == 14 && ${lines[13]} == 100 ]]
	done
	# a pass that takes a while gets more streams: which elements come then is a matter of time
	start other dsvc-work
	dsvc-run -q "range 20 | $spec on_error=skip" | sort >"$BATS_TEST_TMPDIR/all"
	for behind in '' ' | distribute | map x'; do
		run -65 --separate-stderr dsvc-read -e "range 20 | sleep 30ms | $spec$behind"
		[[ $stderr =~ 'after element '([0-9]+)': '.*'division by zero' ]]
		((${#lines[@]} >= BASH_REMATCH[1]))
		[[ ! $(comm -23 <(sort <<<"$output") "$BATS_TEST_TMPDIR/all") ]]
	done
}

@test "a file that is missing where the worker is, is 66 and named" {
	service
	run -66 dsvc-read -e 'lines /nowhere/at-all.txt'
	[[ $output == *"/nowhere/at-all.txt"* ]]
}

@test "two readers of a job divide its elements" {
	service
	dsvc-read -J both -e 'range 400000' >"$BATS_TEST_TMPDIR/a" &
	local other=$!
	dsvc-read -J both -e 'range 400000' >"$BATS_TEST_TMPDIR/b"
	wait "$other"
	sort -n "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" | cmp - <(seq 0 399999)
	# who comes late gets an immediate end
	run -0 within 5s dsvc-read -q -J both -e 'range 400000'
	[[ ! $output ]]
	# and another pass is another pass
	run -0 dsvc-read -J both --epoch 2 -t count -e 'range 400000'
	[[ $output == 400000 ]]
}

@test "readers of a job must agree" {
	service
	run -0 dsvc-read -J one -t none -e 'range 10'
	run ! dsvc-read -J one -t none --sharding off -e 'range 10'
	[[ $output == *off* && $output == *dynamic* ]]
	run ! dsvc-read -J one -t none -e 'range 11'
}

@test "epochs are passes one after the other" {
	service
	run -0 bash -c "dsvc-read --epochs 3 -e 'range 4' | sort | uniq -c | tr -s ' '"
	[[ $output == $' 3 0\n 3 1\n 3 2\n 3 3' ]]
}

@test "sharding off gives everything once for each worker" {
	service 2
	run -0 dsvc-read --wait-workers 2 --sharding off -t count -e 'range 1000'
	[[ $output == 2000 ]]
}

@test "the same seed gives the same elements" {
	service
	local a
	a=$(dsvc-read --seed 5 -e 'random 100' | sort | sha256sum)
	local b
	b=$(dsvc-read --seed 5 -e 'random 100' | sort | sha256sum)
	local c
	c=$(dsvc-read --seed 6 -e 'random 100' | sort | sha256sum)
	[[ $a == "$b" && $a != "$c" ]]
}

@test "stats and quiet" {
	service
	run -0 --separate-stderr dsvc-read --stats -t none -e 'range 1000'
	[[ $stderr =~ ^dsvc-read:\ 1000\ elements ]]
	run -0 --separate-stderr dsvc-read -t none -e 'range 1000'
	[[ ! $stderr ]]
}

@test "INT ends it by that signal" {
	service
	mkfifo "$BATS_TEST_TMPDIR/never"
	exec 8<>"$BATS_TEST_TMPDIR/never"
	# not in the background of a shell without job control: that ignores INT
	spawn read env --default-signal=INT dsvc-read -e "lines $BATS_TEST_TMPDIR/never"
	until_true 5s grep -q . "/proc/${pid[read]}/task/${pid[read]}/children" || :
	until_true 5s bash -c "dsvc-status --json | grep -q '\"seat\":[1-9]'"
	stop read INT
	((status == 130))
	exec 8>&-
}

@test "--errors and --max-errors count failures of all workers, once, though one is killed" {
	service 2
	cd "$BATS_TEST_TMPDIR"
	local spec='range 400_000 | map x // (x % 1000) on_error=skip'
	spawn reader dsvc-read -t count --errors errs -e "$spec | rate 200_000"
	until_true 5s bash -c 'dsvc-status --json | grep -q "\"acknowledged\":[1-9]"'
	kill -KILL "${pid[work1]}"
	reap reader 20
	[[ $status == 0 ]]
	[[ $(<reader.out) == 399600 ]]
	grep -q '400 elements failed; see errs' reader.err
	[[ $(jq -c '[.stream, .element]' errs | sort | uniq -d | wc -l) == 0 ]]
	[[ $(jq -r '.worker + .text' errs | head -1) == *'on_error=skip' ]]
	run -65 --separate-stderr dsvc-read --max-errors 10 -t none -e "$spec"
	[[ $stderr == *"more than the 10 that --max-errors allows"* ]]
	run -0 dsvc-read -q --max-errors 400 -t count -e "$spec"
}

@test "a failed element's offset is exact" {
	service
	seq 2000 | sed 's/00$/bad/' >"$BATS_TEST_TMPDIR/in"
	cd "$BATS_TEST_TMPDIR"
	run -0 dsvc-read --order source -t none --errors bad -e 'lines in | map int(x) on_error=skip | filter x % 2 == 0'
	# 20 of 2000 fail; of the 99 before each, 49 are even
	run -0 jq -c '[.line, .offset]' bad
	((${#lines[@]} == 20))
	[[ ${lines[0]} == '[100,49]' && ${lines[1]} == '[200,98]' && ${lines[19]} == '[2000,980]' ]]
}

@test "progress is shown when asked for, and by itself only on a terminal" {
	service
	mkfifo "$BATS_TEST_TMPDIR/never"
	exec 8<>"$BATS_TEST_TMPDIR/never"
	spawn loud dsvc-read -p always -e "lines $BATS_TEST_TMPDIR/never"
	spawn still dsvc-read -e "lines $BATS_TEST_TMPDIR/never"
	until_true 5s grep -q 'elements.*streams done' "$BATS_TEST_TMPDIR/loud.err"
	[[ ! -s $BATS_TEST_TMPDIR/still.err ]]
	kill -KILL "${pid[loud]}" "${pid[still]}"
	exec 8>&-
}

@test "the line of progress gives way to elements and messages" {
	service
	mkfifo "$BATS_TEST_TMPDIR/in"
	exec 8<>"$BATS_TEST_TMPDIR/in"
	printf '#!/bin/bash\nwhile read -r x; do echo "said $x" >&2; echo "=$x"; done\n' >"$BATS_TEST_TMPDIR/says"
	chmod +x "$BATS_TEST_TMPDIR/says"
	# A terminal for both, elements and messages of a program behind the border.
	spawn tty script -qec "dsvc-read -p always -e \"lines $BATS_TEST_TMPDIR/in | distribute | exec -- $BATS_TEST_TMPDIR/says\"" /dev/null
	local k
	for k in 1 2 3; do
		until_true 10s shown_again "$k"
		echo "$k" >&8
		until_true 10s grep -q "=$k" "$BATS_TEST_TMPDIR/tty.out"
		until_true 10s grep -q "said $k" "$BATS_TEST_TMPDIR/tty.out"
	done
	kill -KILL "${pid[tty]}"
	exec 8>&-
	# What is left of each line when the terminal has followed its \r\033[K.
	run -0 bash -c 'tr -d "\r" <"$0" | sed "s/.*\x1b\[K//" | grep -v "^$"' "$BATS_TEST_TMPDIR/tty.out"
	((${#lines[@]} >= 6))
	for k in "${lines[@]:0:6}"; do
		[[ $k =~ ^=[123]$ || $k =~ ^'dsvc-read: operator '.*said\ [123]$ ]]
	done
}
shown_again() { # K: progress has been drawn K times at least, and stands there now
	(($(grep -o 'elements  ' "$BATS_TEST_TMPDIR/tty.out" | wc -l) >= $1)) &&
		[[ $(tail -c 100 "$BATS_TEST_TMPDIR/tty.out" | sed 's/.*\x1b\[K//' | tail -n 1) == *'elements  '* ]]
}

@test "off a terminal progress is a line every few seconds" {
	service
	# Two and a half seconds, in which there were ten lines in each.
	run -0 --separate-stderr within 30s dsvc-read -p always -e 'range 20 | distribute | rate 8'
	[[ $(sort -n <<<"$output") == "$(seq 0 19)" ]]
	[[ $stderr == *'elements  '* ]]
	(($(grep -c 'elements  ' <<<"$stderr") <= 2))
}

@test "--wait-workers 0 waits for the first, however long it takes" {
	start dispatch dsvc-dispatch
	# Beyond the 10 s of the default.
	run -124 within 30s dsvc-read --wait-workers 0 --timeout 11s -e 'range 3'
	run -69 within 5s dsvc-read --wait-workers 1/10ms -e 'range 3'
	[[ $output == *'only 0 of 1 workers ready'* ]]
	run -64 dsvc-read --wait-workers 0/5s -e 'range 3'
	[[ $output == *'help: write 0, or 1/5s'* ]]
	spawn read dsvc-read --wait-workers 0 -e 'range 3'
	start work dsvc-work
	reap read
	((status == 0))
	[[ $(<"$BATS_TEST_TMPDIR/read.out") == $'0\n1\n2' ]]
}

@test "fifty readers of one job" {
	service 2
	local i
	for ((i = 0; i < 50; i++)); do
		spawn "r$i" dsvc-read -J many -e 'range 200000'
	done
	for ((i = 0; i < 50; i++)); do
		reap "r$i" 30
		((status == 0))
	done
	sort -n "$BATS_TEST_TMPDIR"/r*.out | cmp - <(seq 0 199999)
}

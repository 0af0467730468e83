#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What programs of exec did with each element: --joblog, --resume, --halt, --tag.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

gives() { # CODE WANTED ARG...
	run "-$1" --separate-stderr dsvc-run "${@:3}"
	[[ $output == "$2" ]] || { printf 'got: %s\n' "$output" && false; }
}
rows() { # COLUMNS: these columns of the log, a row a word
	tail -n +2 log | cut -f "$1" | tr '\t\n' ': '
}
has_rows() { # N: so many whole lines are there
	[[ -e log ]] && (($(wc -l <log) == $1 + 1))
}

# Answers "got X"; fails for 3 unless the file `mended` is there, and waits for 4 until `go` is.
worker() {
	mkfifo wait
	printf '#!/bin/sh\necho "$1" >>ran\ntest "$1" != 3 || test -e mended || exit 7\n%s\necho "got $1"\n' \
		'test "$1" != 4 || test -e go || read -r x <wait' >worker
	chmod +x worker
}

@test "the log has a row for each element, in the columns of GNU parallel" {
	printf '#!/bin/sh\ncase $1 in b) exit 3;; c) kill -9 $$;; d) echo 1; echo 2;; esac\n' >p
	chmod +x p
	gives 0 $'1\n2' --joblog log 'elements ["a", "b", "c", "d"] | exec proto=arg on_error=skip -- ./p'
	[[ $(head -n 1 log) == $'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\tArgument\tKey\tOutput' ]]
	[[ $(rows 1,2,5-10) == '1:::0:0:0:0:./p a:a 2:::0:0:3:0:./p b:b 3:::0:0:0:9:./p c:c 4:::0:4:0:0:./p d:d ' ]]
	output=$(awk -F '\t' 'NR > 1 && (NF != 12 || $3 !~ /^[0-9]+\.[0-9][0-9][0-9]$/ || $4 !~ /^[0-9]+\.[0-9]+$/ || length($11) != 32)' log)
	[[ $output == '' ]]
}

@test "every protocol that pairs answers with elements is logged, with every order and policy" {
	local spec
	for spec in 'exec -- cat' 'exec proto=nul -- cat' 'exec proto=ndjson -- cat' 'exec proto=raw -- cat' \
		'exec proto=arg parallel=3 -- echo' 'exec proto=arg parallel=3 ordered=false -- echo' 'sh "echo {}" proto=arg' \
		'exec parallel=2 on_error=retry:2 -- cat' 'map {f: x} | exec field=f proto=arg -- echo {}'; do
		run -0 dsvc-run -t count --joblog log "range 20 | map str(x) | $spec"
		[[ $output == 20 && $(tail -n +2 log | cut -f 1 | sort -n | tr '\n' ' ') == "$(seq -s ' ' 20) " ]]
		[[ $(tail -n +2 log | cut -f 7,8 | sort -u) == $'0\t0' ]]
		gives 0 '' --joblog log --resume "range 20 | map str(x) | $spec"
		has_rows 20
	done
	for spec in 'retry:2' 'retry:2,skip' keep; do
		run dsvc-run -t none --joblog log "range 1 | exec proto=arg on_error=$spec -- sh -c 'exit 3'"
		[[ $(rows 1,7) == '1:3 ' ]]
	done
	run -65 dsvc-run --joblog log 'range 1 | exec proto=arg timeout=50ms -- sh -c "exec sleep 100"'
	[[ $(rows 1,7) == '1:124 ' ]]
	run -65 dsvc-run --joblog log 'range 1 | exec proto=ndjson -- sed -u s/^/x/'
	[[ $(rows 1,7) == '1:65 ' ]]
	gives 0 5 -t count --joblog log 'concat (range 2 | exec -- cat) (range 3 | exec -- cat)'
	gives 0 1 -t count --joblog log --resume 'concat (range 2 | exec -- cat) (range 4 | exec -- cat)'
}

@test "--resume leaves out what was done, --resume-failed runs again what failed" {
	worker
	gives 65 $'got 0\ngot 1\ngot 2' --joblog log 'range 4 | exec proto=arg -- ./worker'
	[[ $(rows 1,7) == '1:0 2:0 3:0 4:7 ' ]]
	touch go
	gives 0 $'got 4\ngot 5' --joblog log --resume 'range 6 | exec proto=arg -- ./worker'
	[[ $stderr == 'dsvc-run: resuming: log has 4 elements, of which 1 failed; 4 are skipped' ]]
	gives 0 '' --joblog log --resume 'range 6 | exec proto=arg -- ./worker'
	touch mended
	# The order and the numbers may differ: it is the elements that count, each as often as it is there.
	gives 0 $'got 6\ngot 3\ngot 5' --joblog log --resume-failed 'elements [5, 6, 3, 2, 1, 0, 4, 5] | exec proto=arg -- ./worker'
	gives 0 '' --joblog log --resume-failed 'range 7 | exec proto=arg -- ./worker'
	[[ $(<ran) == $(printf '%s\n' 0 1 2 3 4 5 6 3 5) ]]
	gives 0 $'got 1' --joblog log 'range 1 2 | exec proto=arg -- ./worker'
	has_rows 1
	# -n: the rows of the answers that were written, and the rest later.
	gives 0 $'0\n1\n2' -n 3 --joblog log 'range 6 | exec -- cat'
	[[ $(rows 1,10) == '1:0 2:1 3:2 ' ]]
	gives 0 $'3\n4\n5' --joblog log --resume 'range 6 | exec -- cat'
	gives 0 2 -t count -n 2 --joblog log 'range 6 | exec -- cat | map x'
	has_rows 2
	# Where rows cannot be told apart, none is written.
	gives 0 1 -t count -n 1 --joblog log 'range 6 | exec -- cat | flat_map [x, x]'
	has_rows 0
}

@test "a run that is killed goes on where the log says, and a file has each answer once" {
	worker
	touch mended
	spawn run dsvc-run --joblog log -o out 'range 8 | exec proto=arg -- ./worker'
	until_true 10s has_rows 4
	until_true 10s grep -qx 4 ran
	stop run KILL
	[[ $(rows 1,12) == '1:6 2:12 3:18 4:24 ' ]]
	# An answer whose row is not there, and a row that is torn.
	printf 'got ' >>out
	printf '5\t:\t123' >>log
	touch go
	run -0 dsvc-run --joblog log --resume -o out 'range 8 | exec proto=arg -- ./worker'
	[[ $(<out) == $(printf 'got %s\n' {0..7}) && $(sort ran | uniq -d) == 4 ]]
	has_rows 8
}

@test "a run that is stopped says what is safe, and another on the same log is refused" {
	worker
	touch mended
	spawn run dsvc-run --joblog log 'range 8 | exec proto=arg -- ./worker'
	until_true 10s has_rows 4
	run -75 dsvc-run --joblog log 'range 1 | exec -- cat'
	[[ $output == 'dsvc-run: another run writes log'* ]]
	stop run TERM || true
	grep -qx 'dsvc-run: stopped: 4 elements of this run are in log; the same command with --resume continues' run.err
	spawn plain dsvc-run -o out 'elements [9, 4] | exec proto=arg -- ./worker'
	until_true 10s eval '(($(grep -c 4 ran) == 2))'
	stop plain TERM || true
	grep -q 'stopped: out is as it was' plain.err
	[[ ! -e out ]]
}

@test "a log is refused where it could not tell what to go on with" {
	gives 64 '' --resume 'range 3 | exec -- cat'
	gives 64 '' --joblog log 'range 3'
	gives 64 '' --joblog log 'range 3 | exec proto=stream -- cat'
	local behind
	for behind in count 'batch 2' 'exec -- cat' 'map x parallel=2' prefetch 'take 1'; do
		gives 64 '' --joblog log --resume "range 3 | exec -- cat | $behind"
		[[ $stderr == *'keeps answers of operator 2'* ]]
	done
	gives 64 '' --joblog log --resume -t json -o out 'range 3 | exec -- cat'
	[[ ! -e log && ! -e out ]]
	gives 0 $'a0\na1' --joblog log 'range 2 | exec -- cat | map "a" ++ x | filter len(x) > 0'
	gives 0 '' --joblog log --resume 'range 2 | exec -- cat | map "a" ++ x | filter len(x) > 0'
	echo nonsense >bad
	gives 65 '' --joblog bad --resume 'range 3 | exec -- cat'
	[[ $stderr == *'bad:1: not a row of a --joblog file'* && $(<bad) == nonsense ]]
	printf '%s\n1\t2\n' "$(head -n 1 log)" >bad
	gives 65 '' --joblog bad --resume 'range 3 | exec -- cat'
	[[ $stderr == *'bad:2: '* ]]
	gives 74 '' --joblog /dev/full 'range 3 | exec -- cat'
	gives 66 '' --joblog no/such/log 'range 3 | exec -- cat'
}

@test "--halt says when failures end a run, and the exit code tells" {
	local odd='range 10 | exec proto=arg -- sh -c "test $(($0 % 2)) = 0 && echo $0"'
	gives 65 $'0\n2\n4\n6\n8' --halt never "$odd"
	[[ ${lines[0]} == 0 && $stderr == *'element 2 (1): sh exited with status 1'*'5 of 10 elements failed' ]]
	gives 65 $'0\n2' --halt soon,fail=2 "$odd"
	[[ $stderr == *'2 of 4 elements failed, and the run was ended: --halt soon,fail=2' ]]
	gives 65 $'0\n2\n4' --halt soon,fail=40% "$odd"
	gives 0 0 --halt soon,success=1 "$odd"
	gives 65 $'0\n2' --halt soon,done=3 "$odd"
	gives 0 $'0\n2\n4\n6\n8' --halt never "${odd/arg/arg on_error=skip}"
	local bad
	for bad in soon now x soon,fail=0 soon,fail= now,fail=x% soon,done=5% soon,fail=1.5 soon,fail=101%; do
		gives 64 '' --halt "$bad" "$odd"
	done
	gives 64 '' --halt never 'range 3'
}

@test "--halt now ends the programs that run, and keeps what is finished" {
	local spec='elements [5000, 5000, 0] | exec proto=arg parallel=3 -- sh -c "test $0 != 0 && exec sleep 1000; CODE"'
	within 30s dsvc-run --halt now,success=1 -o first "${spec/CODE/echo done}"
	[[ $(<first) == 'done' ]]
	run -65 within 30s dsvc-run --halt now,fail=1 "${spec/CODE/exit 1}"
	run -65 within 30s dsvc-run --halt now,fail=1 'range 3 | exec parallel=3 on_error=retry:1 timeout=100ms -- sh -c "read x; exec sleep 1000"'
}

@test "--tag puts the element in front of each line of its answer" {
	gives 0 $'a b\tx\na b\ty\nc\\nd\tx\nc\\nd\ty' --tag 'elements ["a b", "c\nd"] | exec proto=arg -- sh -c "echo x; echo y"'
	gives 0 $'0\tx0\n1\tx1' --tag 'range 2 | exec -- sed -u s/^/x/'
	gives 0 $'[0,1]\t0 1' --tag 'range 2 | batch 2 | exec proto=arg -- echo'
	gives 0 '' --tag 'range 2 | exec proto=arg -- true'
	gives 64 '' --tag 'range 2 | exec proto=ndjson -- cat'
	gives 64 '' --tag 'range 2 | exec proto=arg bytes=true -- echo'
	gives 64 '' --tag 'range 2 | exec -- cat | map x'
}

@test "a failed element is named: its place, its number, its value cut short, and what the program said" {
	printf 'ok\n%0500d\n' 7 >in
	gives 65 ok 'lines in | exec proto=arg -- sh -c "test \${#0} -lt 9 && echo \$0 || { echo too long >&2; exit 1; }"'
	[[ $stderr == 'dsvc-run: in:2: operator 2 `exec '*'`: element 2 ("000000'*'...): sh exited with status 1'*'too long' ]]
	((${#lines[0]} < 400))
}

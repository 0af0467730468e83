#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --joblog where the programs run on workers: each element has its row once, whatever happens to workers and
# readers. What a log is, and --resume, are in joblog.bats.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

rows() { # COLUMNS: these columns of the log, a row a line
	tail -n +2 log | cut -f "$1"
}
has_rows() { # N: so many whole lines are there
	[[ -e log ]] && (($(wc -l <log) == $1 + 1))
}
all_once() { # N: a row for each of 0 to N-1, numbered as they came, and each answer in out once
	[[ $(rows 10 | sort -n) == "$(seq 0 $(($1 - 1)))" && $(rows 1) == "$(seq "$1")" ]]
	[[ $(sort -n out) == "$(seq 0 $(($1 - 1)))" ]]
}

# A program that answers with its element; at 60 and above it waits until `opened`.
gated() {
	mkfifo gate
	printf '#!/bin/sh\ntest "$1" -lt 60 || : <%s\necho "$1"\n' "$PWD/gate" >program
	chmod +x program
}
opened() {
	exec 9<>gate
}

@test "each element has a row, with every option of a job, and the output is as without" {
	service 2
	local options
	for options in '' '--order source' '--shards 3' '--compression snappy' '--epochs 2' '--sharding data' '--sharding off' \
		'-J one' '--seed 3' '-t ndjson' '-0' '-n 12' '-t msgpack -o out'; do
		# shellcheck disable=SC2086
		dsvc-read ${options/one/two} -e 'range 50 | exec -- sed -u s/^/x/' | sort >want
		[[ $options != *out ]] || mv out want
		# shellcheck disable=SC2086
		run -0 --separate-stderr bash -c 'dsvc-read --joblog log "$@" | sort >got' - $options -e 'range 50 | exec -- sed -u s/^/x/'
		[[ $stderr == '' ]]
		[[ $options != *out ]] || mv out got
		case $options in
		'-n 12') [[ $(wc -l <got) == 12 ]] && has_rows 12 ;;
		*--epochs* | *off) cmp want got && has_rows 100 ;;
		*out) cmp <(dsvc-run -t text 'msgpack want' | sort) <(dsvc-run -t text 'msgpack got' | sort) && has_rows 50 ;;
		*) cmp want got && has_rows 50 ;;
		esac
		[[ $(rows 7,8,9 | sort -u) == $'0\t0\tsed -u \'s/^/x/\'' ]]
		[[ $(rows 2 | grep -cx :) == 0 ]]
		[[ $(head -n 1 log) == $'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\tArgument\tKey\tOutput' ]]
	done
}

@test "the pipeline may come in any form, and every protocol and policy is logged" {
	service 1
	local spec
	for spec in 'exec -- cat' 'exec proto=nul -- cat' 'exec proto=ndjson -- cat' 'exec proto=raw -- cat' \
		'exec proto=arg parallel=3 -- echo' 'exec proto=arg parallel=3 ordered=false -- echo' 'sh "echo {}" proto=arg' \
		'exec parallel=2 on_error=retry:2 -- cat' 'map {f: x} | exec field=f proto=arg -- echo {}'; do
		dsvc-read -t ndjson -e "range 20 | map str(x) | $spec" | sort >want
		dsvc-read --joblog log -t ndjson -e "range 20 | map str(x) | $spec" | sort | cmp want -
		has_rows 20
		dsvc-read --joblog log -t ndjson -e "range 20 | map str(x) | $spec | distribute" | sort | cmp want -
		has_rows 20
		dsvc-run --joblog log -t ndjson "range 20 | map str(x) | $spec | distribute" | sort | cmp want -
		has_rows 20
		# The keys are those of a run without workers.
		rows 11 | sort >keys
		dsvc-run --joblog log -t none "range 20 | map str(x) | $spec"
		rows 11 | sort | cmp keys -
	done
	echo 'range 9 | exec -- cat' >spec
	[[ $(dsvc-read --joblog log -f spec | sort -n) == "$(seq 0 8)" ]]
	has_rows 9
	[[ $(dsvc-read --joblog log range 5 'then' exec -- cat | sort -n) == "$(seq 0 4)" ]]
	has_rows 5
	[[ $(dsvc-read --joblog log "$(dsvc-register 'range 7 | exec -- cat')" | sort -n) == "$(seq 0 6)" ]]
	has_rows 7
	[[ $(dsvc-read --joblog log "$(dsvc-register --id logged 'range 8 | exec log=true -- cat')" | sort -n) == "$(seq 0 7)" ]]
	has_rows 8
	[[ $(dsvc-read --joblog log -e 'dataset logged' | sort -n) == "$(seq 0 7)" ]]
	has_rows 8
	[[ $(dsvc-read --joblog log -e 'range 3 | exec log=true -- cat' | sort -n) == "$(seq 0 2)" ]]
	has_rows 3
}

@test "elements that failed and those without an answer have rows, too" {
	service 1
	printf '#!/bin/sh\ncase $1 in b) exit 3;; c) kill -9 $$;; d) echo 1; echo 2;; esac\n' >p
	chmod +x p
	local spec='elements ["a", "b", "c", "d"] | exec proto=arg on_error=skip -- '"$PWD/p"
	run -0 --separate-stderr dsvc-read --joblog log -o out -e "$spec"
	[[ $stderr == 'dsvc-read: 2 elements failed' && $(<out) == $'1\n2' ]]
	[[ $(rows 1,5-8,10,12 | tr '\t\n' ': ') == '1:0:0:0:0:a:0 2:0:0:3:0:b:0 3:0:0:0:9:c:0 4:0:4:0:0:d:4 ' ]]
	run -0 --separate-stderr dsvc-run --joblog log -o out "$spec | distribute"
	[[ $(<out) == $'1\n2' && $(rows 1,5-8,10 | tr '\t\n' ': ') == *'2:0:0:3:0:b '*'4:0:4:0:0:d '* ]]
	run -0 --separate-stderr dsvc-read --joblog log -e "${spec/skip/keep}"
	[[ $output == $'b\nc\n1\n2' ]]
	has_rows 4
	# The element that ends the pass is in the log.
	run -65 dsvc-read --joblog log -e "${spec/on_error=skip/on_error=retry:1}"
	[[ $(rows 7,10) == $'0\ta\n3\tb' ]]
	run -65 dsvc-run --joblog log "${spec/on_error=skip/} | distribute"
	[[ $(rows 7,10) == $'0\ta\n3\tb' ]]
	# Programs of more than one answer, or none; they are counted as elements.
	spec="elements [\"ab\", \"\", \"c\"] | exec proto=msgpack on_error=skip -- $BATS_TEST_DIRNAME/../../pipelines/programs/shout.py"
	[[ $(dsvc-read -q --joblog log -e "$spec") == $'AB\n2\nC\n1' ]]
	[[ $(rows 7,10 | tr '\t\n' ': ') == '0:ab 65: 0:c ' ]]
	[[ $(dsvc-read -q -n 3 --joblog log -e "$spec") == $'AB\n2\nC' ]]
	has_rows 2
	[[ $(dsvc-read -q -n 1 --joblog log -e "$spec") == AB ]]
	has_rows 0
	# Nor in a job with a name, of which another reader gets the rest.
	[[ $(dsvc-read -q -J named -n 1 --joblog log -e "$spec") == $'AB\n2' ]]
	has_rows 1
	[[ $(dsvc-read -q -J named --joblog log -e "$spec") == $'C\n1' ]]
	has_rows 2
	# A position lies between elements of the stream: their answers are not parted.
	[[ $(dsvc-read -q -n 1 --checkpoint pos --joblog log -e "$spec") == $'AB\n2' ]]
	has_rows 1
	[[ $(dsvc-read -q --checkpoint pos --joblog log -e "$spec") == $'C\n1' ]]
	has_rows 3
}

@test "workers are killed, and each element has one row and one answer" {
	gated
	start dispatch dsvc-dispatch
	start w1 dsvc-work -j 2 --name w1 --restart-interval 20ms
	start w2 dsvc-work -j 2 --name w2 --restart-interval 20ms
	local spec="range 300 | exec proto=arg parallel=2 -- $PWD/program"
	spawn reader dsvc-read --joblog log -o out -e "$spec"
	until_true 20s eval '[[ -e log ]] && (($(wc -l <log) > 20))'
	stop w1 KILL
	start w3 dsvc-work -j 2 --name w3 --restart-interval 20ms
	stop w2 KILL
	start w4 dsvc-work -j 2 --name w4
	opened
	until_true 20s eval '(($(wc -l <log) > 100))'
	stop w3 KILL
	reap reader 30
	((status == 0))
	all_once 300
	[[ $(rows 2 | sort -u) == *w4* && $(rows 7,8 | sort -u) == $'0\t0' ]]
}

@test "a reader that is killed goes on at its position, and so does the log" {
	gated
	service 1
	local read=(dsvc-read --checkpoint pos --joblog log -o out -e "range 200 | exec proto=arg -- $PWD/program")
	spawn reader "${read[@]}"
	until_true 20s eval '[[ -e pos && -e log ]] && (($(wc -l <log) > 20))'
	run -75 dsvc-read --joblog log -e 'range 3 | exec -- cat'
	[[ $output == *'another run writes log'* ]]
	stop reader KILL
	# Rows and answers that no position has.
	echo 7 >>out
	printf '%s\n' "$(tail -n 1 log)" torn >>log
	opened
	run -0 "${read[@]}"
	all_once 200
	[[ $(tail -n 1 log | cut -f 12) == "$(stat -c %s out)" ]]
	# At the end nothing is left, and nothing is lost.
	run -0 "${read[@]}"
	all_once 200
	echo short >log
	run -65 "${read[@]}"
	[[ $output == *'log is shorter than it was'* && $(<log) == short ]]
}

@test "a row is written when the consumer has finished with its answer" {
	service 1
	mkfifo acks
	spawn reader bash -c 'exec dsvc-read --ack-fd 3 --joblog log -e "range 20 | exec -- cat" 3<acks >out'
	exec 9>acks
	until_true 10s eval '[[ -e out ]] && (($(wc -l <out) == 20))'
	has_rows 0
	echo 5 >&9
	until_true 10s has_rows 5
	echo 20 >&9
	until_true 10s has_rows 20
	exec 9>&-
	reap reader 10
	((status == 0))
	all_once 20
}

@test "what stands behind \`distribute\` gets the answers, and all programs are logged" {
	service 2
	[[ $(dsvc-run --joblog log 'range 100 | exec -- cat | distribute | map int(x) * 2 | reduce 0 s + x') == 9900 ]]
	has_rows 100
	[[ $(dsvc-run --joblog log 'range 100 | exec -- cat | distribute | count') == 100 ]]
	has_rows 100
	[[ $(dsvc-run --joblog log 'range 5 | exec -- cat | distribute | exec -- sed -u s/^/x/' | sort) == $'x0\nx1\nx2\nx3\nx4' ]]
	has_rows 10
	[[ $(rows 2 | sort -u | wc -l) -ge 2 && $(rows 2 | grep -cx :) == 5 ]]
	[[ $(dsvc-run --joblog log 'concat (range 5 | exec -- cat | distribute) (range 6 | exec -- cat | distribute)' | wc -l) == 11 ]]
	has_rows 11
	[[ $(rows 1 | sort -n) == "$(seq 11)" ]]
	[[ $(dsvc-run --joblog log 'range 5 | distribute | exec -- cat' | sort) == $'0\n1\n2\n3\n4' ]]
	[[ $(rows 2 | sort -u) == : ]]
	[[ $(dsvc-run --joblog log 'range 9 | exec -- cat | distribute order=source | prefetch | batch 4 | map len(x)') == $'4\n4\n1' ]]
	has_rows 9
	[[ $(dsvc-run --joblog log 'range 3 | exec -- cat | distribute | repeat 2 | count') == 6 ]]
	has_rows 6
}

@test "--halt ends a pass because of how programs on workers end" {
	start dispatch dsvc-dispatch
	start work dsvc-work -j 1
	local odd='range 10 | exec proto=arg -- sh -c "test $(($0 % 2)) = 0 && echo $0"' halt code out said
	while IFS=';' read -r halt code out said; do
		run "-$code" --separate-stderr dsvc-read --halt "$halt" -e "$odd"
		[[ $(tr '\n' ' ' <<<"$output") == "$out " && $stderr == *"$said" ]]
		run "-$code" --separate-stderr dsvc-run --halt "$halt" "$odd | distribute"
		[[ $(tr '\n' ' ' <<<"$output") == "$out " && $stderr == *"$said" ]]
	done <<-'END'
		never;65;0 2 4 6 8;5 of 10 elements failed
		soon,fail=2;65;0 2;2 of 4 elements failed, and the run was ended: --halt soon,fail=2
		now,fail=2;65;0 2;2 of 4 elements failed, and the run was ended: --halt now,fail=2
		soon,fail=40%;65;0 2 4;3 of 6 elements failed, and the run was ended: --halt soon,fail=40%
		now,success=1;0;0;
		soon,done=3;65;0 2;1 of 3 elements failed, and the run was ended: --halt soon,done=3
	END
	[[ $(dsvc-read --halt soon,fail=1 -e "$odd" 2>&1 | grep -c 'element (1): sh -c .* 1 failed with status 1') == 1 ]]
	# Elements that are skipped by the pipeline's own word count, but do not make the pass fail.
	run -0 --separate-stderr dsvc-read --halt never -e "${odd/arg/arg on_error=skip}"
	[[ $output == $'0\n2\n4\n6\n8' && $stderr == 'dsvc-read: 5 elements failed' ]]
	# A log, and a position behind which it goes on.
	run -65 dsvc-read --halt soon,fail=1 --joblog log --checkpoint pos -o out -e "$odd"
	[[ $(rows 7,10) == $'0\t0\n1\t1' ]]
	run -65 dsvc-read --halt never --joblog log --checkpoint pos -o out -e "$odd"
	[[ $(rows 1,10 | tr '\t\n' ': ') == '1:0 2:1 3:2 4:3 5:4 6:5 7:6 8:7 9:8 10:9 ' && $(<out) == $'0\n2\n4\n6\n8' ]]
	# Programs that do not end by themselves.
	local spec='elements [0, 5000, 5000] | exec proto=arg parallel=3 -- sh -c "test $0 != 0 && exec sleep 1000; echo done"'
	[[ $(within 30s dsvc-read --halt now,success=1 -e "$spec") == 'done' ]]
	[[ $(within 30s dsvc-run --halt now,success=1 "$spec | distribute") == 'done' ]]
	# Nothing behind it begins another pass.
	[[ $(within 30s dsvc-run --halt now,success=1 'range 3 | exec -- cat | distribute | repeat') == 0 ]]
	[[ $(within 30s dsvc-run --halt now,success=1 'concat (range 3 | exec -- cat | distribute) (range 3 | exec -- cat | distribute)') == 0 ]]
	local bad
	for bad in soon x soon,fail=0 now,fail=x%; do
		run -64 dsvc-read --halt "$bad" -e "$odd"
		run -64 dsvc-run --halt "$bad" "$odd | distribute"
	done
	[[ $(dsvc-read --halt now,success=1 "$(dsvc-register "$odd")") == 0 ]]
	run -64 dsvc-read --halt never -e 'range 3'
	run -64 dsvc-read --halt never -e "$odd | map x"
	[[ $output == *'--halt: on workers'* ]]
}

@test "--tag and --dry-run are for programs on workers, too" {
	service 1
	local spec='elements ["a b", "c\nd"] | exec proto=arg -- sh -c "echo x; echo y"' tagged=$'a b\tx\na b\ty\nc\\nd\tx\nc\\nd\ty'
	[[ $(dsvc-run --tag "$spec") == "$tagged" ]]
	[[ $(dsvc-read --tag -e "$spec") == "$tagged" ]]
	[[ $(dsvc-read --tag --joblog log -e "$spec") == "$tagged" ]]
	has_rows 2
	[[ $(dsvc-read --tag -e "$spec | distribute") == "$tagged" ]]
	[[ $(dsvc-run --tag "$spec | distribute") == "$tagged" ]]
	[[ $(dsvc-run --tag "let d = ($spec | distribute); d") == "$tagged" ]]
	[[ $(dsvc-read "$(dsvc-register "${spec/arg/arg tag=true}")") == "$tagged" ]]
	[[ $(dsvc-read --tag "$(dsvc-register "$spec")") == "$tagged" ]]
	[[ $(dsvc-run --tag 'range 2 | distribute | exec -- sed -u s/^/x/') == $'0\tx0\n1\tx1' ]]
	for spec in 'range 2' 'range 2 | exec -- cat | map x' 'range 2 | exec proto=ndjson -- cat' \
		'range 2 | exec proto=stream -- cat'; do
		run -64 dsvc-read --tag -e "$spec"
		[[ $output == *'  | '*^^^* ]]
		run -64 dsvc-run --tag "$spec | distribute"
		[[ $output == *'  | '*^^^* ]]
	done
	run -64 dsvc-read --tag "$(dsvc-register 'range 2')"
	# The commands, without a service.
	export DSVC_DISPATCHER=ipc:///nowhere
	[[ $(dsvc-run --dry-run 'range 2 | exec proto=arg -- echo {} | distribute') == $'echo 0\necho 1' ]]
	[[ $(dsvc-run --dry-run -n 3 'concat (range 2 | exec proto=arg -- echo a | distribute) (range 2 | exec -- cat | distribute)') == \
		$'echo a 0\necho a 1\ncat' ]]
	run -0 --separate-stderr dsvc-run --dry-run 'range 1 | exec proto=arg -- echo {} | distribute | exec -- cat'
	[[ $output == 'echo 0' && $stderr == *'operator 4 `exec -- cat` are not known: it gets the answers of programs on workers' ]]
	run -64 dsvc-run --dry-run 'range 3 | distribute'
	run -64 dsvc-run --dry-run 'range 3 | exec proto=arg -- echo {} | save d per_stream=true | distribute'
	[[ ! -e d ]]
}

@test "a log that could not be whole is refused, and what is there stays" {
	service 1
	echo mine >log
	local spec
	for spec in 'range 3' 'range 3 | distribute' 'range 3 | exec -- cat | map x' 'range 3 | exec -- cat | exec -- cat' \
		'range 3 | exec proto=stream -- cat' 'range 3 | exec -- cat | batch 2 | distribute' \
		'range 3 | interleave (range 2 | exec -- cat)' 'range 3 | exec -- cat | distribute | map x'; do
		run -64 dsvc-read --joblog log -e "$spec"
		[[ $output == *help:* ]]
	done
	for spec in 'range 3 | exec -- cat | map x | distribute' 'range 3 | exec -- cat | exec -- cat | distribute | exec -- cat' \
		'range 3 | exec proto=stream -- cat | distribute'; do
		run -64 dsvc-run --joblog log "$spec"
		[[ $output == *'  | '*^^^* ]]
	done
	run -64 dsvc-run --joblog log --resume 'range 3 | exec -- cat | distribute'
	[[ $output == *--checkpoint* ]]
	run -64 dsvc-read --joblog log "$(dsvc-register --id plain 'range 3')"
	run -64 dsvc-read --joblog log -e 'dataset plain'
	[[ $output == *log=true* ]]
	run -66 dsvc-read --joblog log nothing
	run -64 dsvc-read --joblog log -s x=1 plain
	run -64 dsvc-read --joblog log -J j --consumer 0/2 -e 'range 3 | exec -- cat'
	[[ $(<log) == mine ]]
	dsvc-register --id mixed 'elements [1, "a"]'
	run -65 dsvc-read --joblog log -e 'dataset mixed'
	run -74 dsvc-read --joblog /dev/full -e 'range 3 | exec -- cat'
	run -66 dsvc-read --joblog no/such/log -e 'range 3 | exec -- cat'
	# A position of a pass without a log is one of another pipeline.
	dsvc-read -q --checkpoint pos -n 1 -e 'range 3 | exec -- cat' >one
	run -65 dsvc-read --checkpoint pos --joblog log -e 'range 3 | exec -- cat'
	[[ $output == *'use the same pipeline'* ]]
}

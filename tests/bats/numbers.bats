#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Every sentence of the manual with a number in it, held against the programs. `says`
# takes the sentence as it is printed, so that a changed sentence fails here until its
# check is changed too; the last test fails for one that stands nowhere in this file.
#
#	says PAGE 'SENTENCE'       the test that it stands in checks it
#	told PAGE 'SENTENCE'       no promise about the programs, or what another test tries
#
# shellcheck disable=SC2016,SC1112
load lib/dsvc

pages=(man/*.[1-8])

setup_file() {
	python3 tests/bats/lib/sentences.py --numbers "${pages[@]}" >"$BATS_FILE_TMPDIR/said"
}

says() { # PAGE SENTENCE
	grep -qxF "$1"$'\t'"$2" "$BATS_FILE_TMPDIR/said" && return
	echo "$1 does not say: $2"
	grep -F "$1" "$BATS_FILE_TMPDIR/said" | grep -F "${2:0:30}" || :
	return 1
}
told() { says "$@"; }

gives() { # OUTPUT ARG...
	run -0 --separate-stderr dsvc-run "${@:2}"
	[ "$output" = "$1" ] || {
		echo "gave: $output"
		return 1
	}
}

# A constant of the sources that cannot be tried in reasonable time or memory.
is() { # FILE TEXT
	grep -qF -- "$2" "$1" || {
		echo "$1 has no: $2"
		return 1
	}
}

@test "exit codes" {
	says dsvc.7 '0 done'
	dsvc-run -t none 'range 3'
	says dsvc.7 '1 a check failed'
	run -1 dsvc-run --fail-empty 'range 0'
	says dsvc.7 '64 bad option, bad number, missing operand'
	run -64 dsvc-run --no-such-option 'range 3'
	run -64 dsvc-run -n x 'range 3'
	run -64 dsvc-run
	says dsvc.7 '65 bad data or bad spec'
	run -65 dsvc-run 'rage 3'
	run -65 dsvc-run 'range 1 | map int("x")'
	says dsvc.7 '66 no such file or dataset'
	run -66 dsvc-run 'lines /no/such/file'
	says dsvc.7 '69 no dispatcher or worker answered'
	run -69 dsvc-status -d "$(free_ipc nobody)"
	says dsvc.7 '74 read or write failed, for example because the disk is full, or memory ran out'
	run -74 bash -c "dsvc-run 'range 3' >/dev/full"
	says dsvc.7 '75 lost contact; running it again may help'
	says dsvc-dispatch.1 'Without a state, a dispatcher that is killed takes its jobs with it, and workers and readers end with 75.'
	start dispatch dsvc-dispatch
	start work dsvc-work
	spawn read dsvc-read -t none -e 'counter'
	until_true 10s bash -c "dsvc-status --json | grep -q '\"seat\":[1-9]'"
	stop dispatch KILL
	reap read 20
	((status == 75))
	reap work 20
	((status == 75))
	says dsvc.7 '77 not allowed'
	run -77 dsvc-work -d tcp://127.0.0.1:1
	says dsvc.7 '78 bad configuration'
	mkdir -p "$sockets/dsvc"
	rm -f "${endpoint#ipc://}"
	echo precious >"${endpoint#ipc://}"
	run -78 dsvc-dispatch
	says dsvc.7 '124 --timeout expired'
	run -124 dsvc-run --timeout 100ms -t none counter
	says dsvc.7 '128+n killed by signal n'
	spawn run dsvc-run -t none counter
	stop run KILL
	((status == 128 + 9))
	# README has the same list
	[ "$(sed -n '/^0 done · 1 /,/^$/p' README.md | grep -oE '(^|· )[0-9]+' | tr -d '· ' | paste -sd ' ')" = \
		"$(grep -oP '^dsvc\.7\t\K[0-9]+(?=(\+n)? )' "$BATS_FILE_TMPDIR/said" | paste -sd ' ')" ]
	# urls.bats tries these.
	told dsvc-pipeline.5 'An object of 16 MiB or more is divided into splits like a file, if the server supports range requests and sends an ETag or the time of the last change.'
	told dsvc-pipeline.5 'If the data changes while it is read, or after it was listed, that is an error (65); two versions are never mixed.'
	told dsvc-pipeline.5 'The exit code is 66 if there is no such object, 77 if access is denied, and 74 if the server does not answer.'
	told dsvc-engines.7 'The image has the programs and their libraries, no shell, and the user 65532; its program is dsvc(1), its folder /var/lib/dsvc.' # tests/engines/oci.bats
	told dsvc.7 'The columns and their types are those of the first batch, of up to 1024 elements, unless the pipeline determines them: ints among floats are floats, tensors become lists, and any column may be null.' # parquet.bats
	told dsvc.7 '70 internal error (please report)'
	told dsvc.7 '76 versions do not match' # unit/host/dispatch_test: other_version_is_refused_with_both
}

@test "the dispatcher: how it ends the others" {
	says dsvc-dispatch.1 'Without --state this ends the whole service: workers end with 0, and readers that are not done with 75.'
	start dispatch dsvc-dispatch
	start work dsvc-work
	spawn read dsvc-read -t none -e 'counter'
	until_true 10s bash -c "dsvc-status --json | grep -q '\"seat\":[1-9]'"
	stop dispatch
	((status == 0))
	reap work 20
	((status == 0))
	reap read 20
	((status == 75))
	told dsvc.7 'When a stream has cost three workers without making progress, its job ends with 65, since something in that stream kills every worker that runs it.'
	told dsvc-work.1 'If there are more streams than slots, as with several jobs or with an ordered job and a large --shards, they take turns: a stream gives up its slot when it has produced enough, or after 0.2 seconds, and keeps its files and programs open meanwhile.'
	says dsvc-work.1 'After the first INT or TERM the worker hands its streams over and ends with 0; the second ends it at once.'
	start again dsvc-dispatch
	start work2 dsvc-work
	stop work2
	((status == 0))
	told dsvc-work.1 'When the dispatcher is ended in an orderly way, its workers end as well, with 0.'
}

@test "the dispatcher: limits on peers" {
	says dsvc-dispatch.1 'This happens to a peer that has not completed the handshake after 5 seconds, or does not read while 64 MiB of answers wait for it.'
	says dsvc-dispatch.1 'Over TCP it also happens to one that sends more than 64 MiB without completing a message, or 4 MiB before its first message.'
	says dsvc-dispatch.1 'If more than 1024 connections, or a quarter of the descriptors that the process may have, have not sent a message yet, the oldest of them is closed.'
	# the limits themselves are tried by unit/net/outbox_test and guard_test
	is lib/net/outbox.h 'OUTBOX_MAX = 64 * 1024 * 1024'
	is lib/net/guard.h 'GUARD_OWED = 64 << 20'
	is lib/net/guard.h 'GUARD_FIRST = 4 << 20'
	is lib/net/guard.h 'GUARD_SILENT = 1024'
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	run -0 within 20s python3 -c '
import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
begin = time.monotonic()
while s.recv(100):
    pass
print(time.monotonic() - begin)' "${ready##*:}"
	[[ $output == [4-9].* ]]
}

@test "the dispatcher: its state" {
	says dsvc-dispatch.1 'The log has a length of 8 MiB from the start; if a single transaction makes it longer, the loss of the part beyond that length may go unnoticed.'
	says dsvc-dispatch.1 'If the state is empty, cut short, changed or without its log, it is refused with 65 and left as it is; if it was written by another version, it is refused with 78.'
	local s=$BATS_TEST_TMPDIR/state
	start dispatch dsvc-dispatch --state "$s"
	[ "$(stat -c %s "$s/state.db-wal")" -eq $((8 << 20)) ]
	stop dispatch
	python3 -c 'import sqlite3, sys; x = sqlite3.connect(sys.argv[1]); x.execute("pragma user_version = 99"); x.commit()' "$s/state.db"
	run -78 dsvc-dispatch --state "$s"
	: >"$s/state.db"
	run -65 dsvc-dispatch --state "$s"
	told dsvc-dispatch.1 'While the disk is full, new readers and registrations are refused with 74; what was promised before continues, and everything else does so as soon as there is room.' # durable.bats
}

@test "exec: what it is given and how it ends" {
	says dsvc-exec.7 'The error message includes the last 20 lines of standard error.'
	says dsvc-exec.7 'If a program writes more than 100 lines to it in a second, only their number is passed on.'
	run -65 dsvc-run 'range 1 | exec proto=arg -- sh -c "seq 21 >&2; exit 1"'
	[[ ${lines[1]} =~ ^\ *2$ && ${lines[20]} =~ ^\ *21$ ]]
	says dsvc-exec.7 'Exit status 75 means “try again”: the element is tried up to three more times.'
	run -65 dsvc-run "range 1 | exec proto=arg -- sh -c 'echo once >>$BATS_TEST_TMPDIR/tries; exit 75'"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/tries")" -eq 4 ]
	told dsvc-run.1 'N can also be a share of the processors, as with parallel(1): ‘50%’, or ‘+2’ or ‘-1’ of them more or less, at least 1; 0 is all of them.'
	says dsvc-exec.7 '{#} the number of the element in the stream, from 1'
	says dsvc-exec.7 '{%} the number of the copy that works on it, from 1'
	gives $'1 1\n2 1' 'range 2 | exec proto=arg -- echo {#} {%}'
	says dsvc-exec.7 'like exit status 75: the element is tried again; with false it is not, whatever on_error says'
	says dsvc-exec.7 "arg, raw: the element's number, from 0, and its file and line"
	gives $'0\n1' "range 2 | exec proto=arg -- sh -c 'echo \$DSVC_CHILD_INDEX'"
	says dsvc-exec.7 'A program that handles many elements is given more of them before it has answered, up to ‘window=’ elements (1024) and a mebibyte, so that neither side waits for the other.'
	dsvc-run --help-op exec | grep -A2 window | grep -q 1024
	says dsvc-exec.7 '65 an element failed, or a command ended with an error'
	run -65 dsvc-run 'range 1 | exec proto=arg -- false'
	run -65 dsvc-run 'cmd -- false'
	says dsvc-exec.7 '126 the program cannot be run'
	run -126 dsvc-run 'range 1 | exec -- /etc/passwd'
	says dsvc-exec.7 '127 there is no such program'
	run -127 dsvc-run 'range 1 | exec -- /no/such'
	says dsvc-exec.7 '77 the workers are not allowed to run programs'
	says dsvc-exec.7 'Workers that speak TCP therefore refuse exec, sh and cmd with exit status 77, unless they are started with --allow-exec PROGRAM, which names a program, a folder of programs, or any of them.'
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready
	start work dsvc-work --insecure -d "$at"
	run -77 dsvc-read -d "$at" -e 'range 3 | exec -- cat'
	says dsvc-work.1 'What is refused ends the job with exit status 77.'
	run -77 dsvc-read -d "$at" -e 'lines /etc/hostname'
	told dsvc-feed.1 'CMD must read all steps: one that ends while some are left in its pipe has failed, with code 75, unless --each-loop is given.' # dsvc-feed.bats
	told dsvc-feed.1 'Only processes of the user of dsvc-feed, and of root, may join; others are refused with 77.' # feed_user.bats
	says dsvc-exec.7 'An element fails if its own process ends with an exit status other than 0, if the answer cannot be read, or if there is no answer within ‘timeout=DURATION’. ‘on_error=fail’, skip, keep, retry:N or retry:N,skip decides what happens then.'
	gives '' 'range 1 | exec proto=arg on_error=skip -- sh -c "exit 3"'
	says dsvc-exec.7 'which copy this is, from 1, and how many there may be; a script can use ‘CUDA_VISIBLE_DEVICES=$((DSVC_CHILD_SLOT - 1))’'
	gives '1 1' "range 1 | exec proto=arg -- sh -c 'echo \$DSVC_CHILD_SLOT \$DSVC_CHILD_SLOTS'"
	says dsvc-exec.7 'pass of a repeat around the program, from 0'
	gives $'0\n1' "range 1 | map x + rand(1) | exec proto=arg -- sh -c 'echo \$DSVC_CHILD_EPOCH' | repeat 2"
	says dsvc-exec.7 'If the process has not ended 5 seconds later, its group is sent TERM, and KILL after 5 more seconds.'
	is lib/op/exec/exec_child.h 'CHILD_GRACE_MS = 5000'
	told dsvc-exec.7 'The number 1 is the version of the protocol; a program that does not know the version should end. type is the type of the elements. name and caps are optional.'
	told dsvc-exec.7 'In a shell script the elements are passed as arguments (‘"${1}"’ and so on), so each placeholder is one word, or part of one, whatever the element contains.'
}

@test "the language: numbers, limits" {
	says dsvc-pipeline.5 'Numbers may be written ‘10_000’, ‘64k’ (64 times 1024) or ‘0x40’.'
	gives 10000 'range 10_000 | count'
	gives 65536 'range 64k | count'
	gives 64 'range 0x40 | count'
	says dsvc-pipeline.5 'Ints have 64 bits and are exact; a result that does not fit is an error.'
	gives $'9223372036854775807\n18446744073709551615' 'elements [9223372036854775807, 18446744073709551615] | map x'
	gives 9223372036854775807 'elements [9223372036854775806] | map x + 1'
	run -65 dsvc-run 'elements [9223372036854775807] | map x + 1'
	says dsvc-pipeline.5 'element_max the size limit of an element in bytes; the default is 256 MiB'
	truncate -s $((256 << 20 | 1)) "$BATS_TEST_TMPDIR/big"
	run -65 dsvc-run -t none "whole $BATS_TEST_TMPDIR/big"
	[[ $output == *"268435456 bytes"* ]]
	truncate -s 1018 "$BATS_TEST_TMPDIR/fits" # three bytes are the head
	gives 1 -t count "options element_max=1k; whole $BATS_TEST_TMPDIR/fits"
	truncate -s 1025 "$BATS_TEST_TMPDIR/fits"
	run -65 dsvc-run -t count "options element_max=1k; whole $BATS_TEST_TMPDIR/fits"
	says dsvc-pipeline.5 'There is no unary plus: if the shell has replaced the ‘$n’ in ‘x > $n + 1’ by nothing, the rest is an error and not a comparison with 1.'
	run -65 dsvc-run 'range 3 | filter x >  + 1'
	says dsvc-pipeline.5 'The dtypes are u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64 and bool; f16 is half precision as IEEE 754 has it, bf16 the upper half of an f32.'
	for dtype in u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 bool; do
		gives "$dtype" "range 1 | map dtype(zeros([2], \"$dtype\"))"
	done
	gives '[[65504.0,null],[3.3895313892515355e+38,null]]' -t ndjson \
		'elements [1] | map [tensor([65519, 65520], "f16"), tensor([3.395e38, 3.3962e38], "bf16")]'
	says dsvc-pipeline.5 'The other operand may be a plain number or another tensor; axes are paired from the last one on, and their lengths must be equal or 1.'
	gives '[[11,21],[12,22]]' -t ndjson 'elements [0] | map tensor([[1], [2]]) + tensor([10, 20])'
	run -65 dsvc-run 'elements [0] | map tensor([1, 2, 3]) + tensor([10, 20])'
	says dsvc-pipeline.5 'Where one byte is expected, as after delim=, the escapes ‘\t \n \r \0 \x09’ mean that byte, in quotes or not.'
	printf 'a\0b\tc' >"$BATS_TEST_TMPDIR/bytes"
	gives $'a\nb\tc' "lines $BATS_TEST_TMPDIR/bytes delim=\\0"
	gives c "lines $BATS_TEST_TMPDIR/bytes delim='\\x09' | skip 1"
	told dsvc-pipeline.5 'In a text that is not valid UTF-8, the stretches between the invalid bytes are matched'
}

@test "dsvc-run: --fmt and --test" {
	says dsvc-run.1 '--fmt prints spec files in the usual layout: statements begin in the first column, a pipeline that does not fit on one line of 80 characters gets one line per operator, and ‘$name’ becomes ‘@name’.'
	local n
	for n in 80 81; do
		printf 'range 10 | map "%s"\n' "$(head -c $((n - 17)) /dev/zero | tr '\0' x)" >"$BATS_TEST_TMPDIR/$n.dsvc"
		[ "$(head -n 1 "$BATS_TEST_TMPDIR/$n.dsvc" | wc -c)" -eq $((n + 1)) ]
		run -0 dsvc-run --fmt "$BATS_TEST_TMPDIR/$n.dsvc"
		[ "${#lines[@]}" -eq $((n - 79)) ]
	done
	says dsvc-run.1 'Comments are kept, and the meaning does not change. --fmt --write rewrites the files in place. --fmt --check lists the files whose layout differs and, if there are any, ends with 1.'
	run -1 dsvc-run --fmt --check "$BATS_TEST_TMPDIR/81.dsvc"
	[[ $output == *81.dsvc* ]]
	run -0 dsvc-run --fmt --check "$BATS_TEST_TMPDIR/80.dsvc"
	says dsvc-run.1 'If a test fails, the difference is shown and the exit code is 1; if no file has a test, it is 66.'
	run -66 dsvc-run --test "$BATS_TEST_TMPDIR/80.dsvc"
	printf 'range 2\n# test:\n# out: 0\n# out: 2\n' >"$BATS_TEST_TMPDIR/wrong.dsvc"
	run -1 dsvc-run --test "$BATS_TEST_TMPDIR/wrong.dsvc"
	told dsvc-run.1 '‘# test:’ begins a test and may be followed by options for the run: --set, --with, -n, -t, -0, -j and --seed. ‘# in:’ gives one line of standard input, ‘# out:’ one line of expected output; a blank after the colon is ignored. ‘# fail:’ gives the expected exit code and, optionally, a text that standard error must contain.'
}

@test "how many jobs that are over are shown" {
	told dsvc-status.1 'Of the jobs without readers the table shows the 20 that were read last, and the number of the others; --all shows them, too.'
}

@test "how many slots are wanted" {
	says dsvc-status.1 'It is 0 when nobody reads, and at least 1 while somebody does. --wanted=workers gives it as a number of workers that have the average number of slots of the present ones.'
	service
	[ "$(dsvc-status --wanted)" = 0 ]
	says dsvc-status.1 'The sum over all passes is at most four times the slots there are, or 500 more, whichever is less, so that a wrong first guess does not start a thousand workers. --busy 0.8 asks for as many slots as keep each busy for four fifths of its time.'
	is lib/core/wanted.h 'WANTED_STEP = 500'
	is lib/core/wanted.c 'most = have * 4'
}

@test "what the dispatcher keeps of what happened" {
	# tried by dsvc-export.bats
	told dsvc-export.1 '‘ok’ if the dispatcher answers, or 503 and the reason.'
	told dsvc-export.1 'A request waits for the dispatcher for 3 seconds at most; then its answer is 503.'
	told dsvc-export.1 'If it refuses the key of dsvc-export, or there is none for its address, the program ends with 77.'
	is cmd/dsvc-export/web.h 'WEB_PATIENCE_MS = 3000'
	told dsvc-export.1 'A report has at most the first 1000 streams of each pass; the picture says how many are not listed.'
	is lib/core/disp/disp_report.c 'REPORT_STREAMS = 1000 }; /* listed per iteration */'
	says dsvc-events.1 'The dispatcher keeps the last 500 events, in memory: one that is started again begins with none.'
	is lib/core/disp/disp_events.h 'EVENTS_KEPT = 500'
	says dsvc-why.1 'Workers and readers report to the dispatcher once a second where their time went, and dsvc-why waits up to 4 seconds until they have reported enough.'
	is cmd/dsvc-why/why.c 'WHY_WAIT_NS 4000000000LL'
	says dsvc-doctor.1 '• that at least 1024 files may be open, 256 processes and threads may run, and files may have 1 GiB;'
	is cmd/dsvc-doctor/machine.c 'MACHINE_FILES = 1024, MACHINE_PROCESSES = 256'
	told dsvc-doctor.1 '• that the folder for temporary files can be written to and has 256 MiB left;'
	is cmd/dsvc-doctor/machine.c 'MACHINE_ROOM (256ULL << 20)'
	says dsvc-doctor.1 '• that the dispatcher answers, and that its clock differs by less than 5 seconds;'
	says dsvc-doctor.1 "• that there are workers, and that none is silent for 3 times the dispatcher's --beat, awaited since a restart of the dispatcher, or inside one call of an operator for longer than --stuck;"
	is cmd/dsvc-doctor/service.c 'SERVICE_BEATS = 3'
	is cmd/dsvc-doctor/service.c 'SERVICE_CLOCK_MS = 5000'
	told dsvc-tap.1 'OPERATOR is the name of an operator, or its number in the pipeline, where the source is number 1, as dsvc-why(1) counts them.'
	says dsvc-tap.1 'The elements are a sample: twice a second each stream of the pass gives the next ones that come by, up to 1000 of them, and those of several streams come in any order.'
	is lib/wire/msg.h 'WIRE_TAP_MAX = 1000'
	is lib/core/disp/disp_tap.c 'TAP_AGAIN_NS 500000000ll'
	says dsvc-tap.1 'Elements of more than 64 KiB are left out; at the end dsvc-tap says how many they were.'
	is lib/host/work/produce_tap.h 'PRODUCE_TAP_ELEMENT = 64 << 10'
	told dsvc-status.1 'Lines are cut to the width of the terminal, or to 80 characters.' # tried in dsvc-status.bats
}

@test "readers, status, and what the others say" {
	says dsvc-read.1 "If it has none, the reader ends with 75: at once if the dispatcher was ended in an orderly way, otherwise when it has been away for 5 seconds (the dispatcher's --loss) or has come back without its records."
	dsvc-dispatch --help | tr -s ' \n' ' ' | grep -qF 'default 5s; DSVC_LOSS'
	says dsvc-read.1 "When there has been no connection to one for 5 seconds, the reader says so, with the worker's address and the reason, and dsvc-events(1) shows it."
	is lib/core/read/reader_inner.h 'READER_REACH_NS 5000000000ll'
	says dsvc-read.1 'A reader that can reach none of them ends with 69 and the list.' # tried in unreached.bats
	says dsvc-read.1 'If the descriptor is closed before everything is finished, the exit status is 75.'
	says dsvc-read.1 "A line that isn't a number, or a number that is too high, ends the reader with 65."
	service 1
	run -65 bash -c "dsvc-read --ack-fd 8 -e 'range 3' 8<<<nonsense"
	run -65 bash -c "dsvc-read --ack-fd 8 -e 'range 3' 8<<<4"
	run -75 bash -c "dsvc-read --ack-fd 8 -e 'range 3' 8</dev/null"
	says dsvc-read.1 'A pipeline for which several streams could not keep that promise is refused with 65.'
	says dsvc-read.1 'Put them after distribute, or use a single stream with --shards 1.'
	run -65 dsvc-read --order source -e 'range 5 | batch 2'
	run -0 dsvc-read --order source --shards 1 -e 'range 5 | batch 2'
	[ "$output" = $'[0,1]\n[2,3]\n[4]' ]
	says dsvc-status.1 'Ids are 16 hexadecimal digits.'
	[[ $(dsvc-register 'range 3') =~ ^[0-9a-f]{16}$ ]]
	told dsvc-status.1 'id, spec, type, jobs (that use the dataset), known (whether a worker has looked at it, when it was first read; the others are there only then), cardinality (its number of elements; -1: without end, -2: not known before it is read), global (the first operator that must see all elements, or nothing), files (its source is files), hint (it has ‘shard auto auto’), orders (order source may have several streams), repeats (made again, it gives the same), indexed (shards of data make nothing twice), programs (it runs programs)' # tried in jobs_said.bats
	says dsvc-status.1 'jobs job (its number), consumers (places in a round; 0 without rounds), name, dataset, sharding, shards (0 unless the sharding divides the job into shards), order, target, where, compression, users (number of readers now), idle_ms (time without readers), forgotten_in_ms (null while the job is read, and if it is never forgotten), iterations'
	dsvc-read -J undivided -t none -e 'range 3'
	dsvc-read -J divided --sharding data --shards 2 -t none -e 'range 3'
	dsvc-status --json | jq -e '[.jobs[] | select(.name == "undivided" or .name == "divided") | .shards] == [0, 2]'
	says dsvc-status.1 'of running passes, and of those with shards that are over, the first 1000: stream, generation, state, worker, shards (how many there are, of a job with shards), splits (assigned to the stream), files (that it is given in all, with sharding file), restart_point (the offset from which the stream can be made again), length (once ended), ended, acknowledged'
	is lib/core/disp/disp_report.c 'REPORT_STREAMS = 1000 }; /* listed per iteration */'
	is lib/core/disp/disp_shards.h 'SHARD_SUMS = 1000 };'
	says dsvc.7 'JSON is Unicode: a text that is not UTF-8 is an error that names its field, unless --invalid-utf8 replace asks for U+FFFD in place of each byte that belongs to no character.'
	printf '\xff\n' >"$BATS_TEST_TMPDIR/byte"
	gives $'"\uFFFD"' --invalid-utf8 replace -t ndjson "lines $BATS_TEST_TMPDIR/byte"
	says dsvc.7 'Types are not kept: the text 7 comes back as a number.'
	dsvc-run -t csv 'elements [{a: "7"}]' >"$BATS_TEST_TMPDIR/t.csv"
	gives int "csv $BATS_TEST_TMPDIR/t.csv | map type(x.a)"
	says dsvc.7 'A tensor is an extension value of type 1: a byte each for the version, which is 1, for the dtype, the number of axes and the number of padding bytes; the lengths of the axes, in 8 bytes each; the padding; and the numbers in row-major order, all of it little endian.'
	says dsvc.7 'The dtypes are counted from 0: u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, bool, f16, bf16.'
	local number=0 type
	for type in u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 bool f16 bf16; do
		dsvc-run -t msgpack "range 1 | map cast(tensor([1]), \"$type\")" >"$BATS_TEST_TMPDIR/tensor"
		[[ $(tail -c +3 "$BATS_TEST_TMPDIR/tensor" | od -An -tx1 -v -N 18 | tr -d ' \n') == "0101$(printf %02x $number)0104010000000000000000000000"* ]]
		number=$((number + 1))
	done
	[[ $(tail -c 2 "$BATS_TEST_TMPDIR/tensor" | od -An -tx1) == ' 80 3f' ]]
	says dsvc.7 'tfrecord Text and bytes become TFRecord records with both checksums; records are written as tf.train.Example, with floats in 32 bits.'
	dsvc-run -t tfrecord 'elements [{a: 0.1}]' >"$BATS_TEST_TMPDIR/f.tfrecord"
	gives 0.10000000149011612 "tfrecord $BATS_TEST_TMPDIR/f.tfrecord as=example | map x.a"
	says dsvc.7 'iteration one pass of a job (an epoch), numbered from 1'
	says dsvc-tfdata.7 'flat_map flat_map EXPR giving a list; interleave (..) cycle=1'
	gives $'0\n0\n1' 'range 3 | interleave (range x) cycle=1'
	says dsvc-tfdata.7 'get_single_element dsvc-read -n 1'
	gives 0 -n 1 'range 3'
	told dsvc-read.1 'If it shares its job with other readers, however, they have its elements by then, and it ends with 75.'
}

@test "operators" {
	says dsvc-ops.7 'Beyond 64 bits it is an error, never a wrap.'
	run -65 dsvc-run 'counter 9223372036854775806 | skip 3 | take 1'
	says dsvc-ops.7 'Integers from START up to STOP. `range STOP` counts from 0; `range START STOP [STEP]` sets the start and the step.'
	gives $'0\n1' 'range 2'
	gives $'5\n7' 'range 5 9 2'
	says dsvc-ops.7 'So do values that are not JSON (.5, +5, 0x1f) and those that a number would not hold exactly (007, whole numbers of more than 64 bits); -0 is a float, since no int is printed that way.'
	printf 'a,b,c,d,e,f\n.5,+5,0x1f,007,99999999999999999999,-0\n' >"$BATS_TEST_TMPDIR/n.csv"
	gives '["text","text","text","text","text","float"]' -t ndjson "csv $BATS_TEST_TMPDIR/n.csv | map [type(x.a), type(x.b), type(x.c), type(x.d), type(x.e), type(x.f)]"
	says dsvc-ops.7 'Objects become records, whole numbers of 64 bits stay exact, and other numbers become floats.'
	printf '18446744073709551615\n1e2\n' >"$BATS_TEST_TMPDIR/n.ndjson"
	gives $'18446744073709551615\n100.0' "ndjson $BATS_TEST_TMPDIR/n.ndjson"
	says dsvc-ops.7 'Equal values are one key, such as 1 and 1.0.'
	gives 1 -t count 'elements [1, 1.0] | unique'
	says dsvc-ops.7 'length the length of an element, an integer from 0.'
	run -65 dsvc-run 'range 3 | bucket x - 1 bounds=[2] sizes=[1, 1]'
	says dsvc-ops.7 'Each element is in exactly one of the shards 0 to N - 1.'
	gives $'0\n2\n4' 'range 5 | shard 2 0'
	gives $'1\n3' 'range 5 | shard 2 1'
	says dsvc-ops.7 'index which shard to keep, from 0; auto: the one that the stream produces.'
	run -65 dsvc-run 'range 5 | shard 2 2'
	says dsvc-ops.7 'Quantiles are exact as long as mem= holds all numbers: 8 million.'
	gives '[2047.5,4054.05]' 'range 4096 | stats quantiles=[0.5, 0.99] | map [x.p50, x.p99]'
	says dsvc-ops.7 'class the class of an element, an integer from 0.'
	run -65 dsvc-run 'range 3 | resample x - 1 target=[0.5, 0.5]'
	says dsvc-ops.7 'by for each element, the number of a pipeline, from 0, or its name.'
	gives $'7\n8\n7' 'choose (elements [7, 7]) (elements [8, 8]) by=(elements [0, 1, 0])'
	says dsvc-ops.7 'Index of the first match, from 0, or null.'
	gives 0 'elements ["abc"] | map find(x, "a")'
	says dsvc-ops.7 'Seconds since 1970 as a date and time, in ISO 8601 (also with the form "") or a strftime(3) format; in UTC, or in a zone such as Europe/Berlin or +02:00.'
	gives 1970-01-01T02:00:00+02:00 'elements [0] | map fmt_time(x, "", "+02:00")'
	gives 1970-01-01T00:00:00Z 'elements [0] | map fmt_time(x)'
	says dsvc-ops.7 'The text filled up on the left to the width, or on the right if the width is below 0.'
	gives 'a  |' 'elements ["a"] | map pad(x, -3) ++ "|"'
	says dsvc-ops.7 'The nearest int, with halves rounded away from 0; with digits, a float rounded to that many digits; in tensors halves are rounded to the even number, as in numpy.'
	gives '[3,-3,[2.0,4.0]]' -t ndjson 'elements [2.5] | map [round(x), round(-x), round(tensor([2.5, 3.5]))]'
	says dsvc-ops.7 'A part, as with [from:to]; a number below 0 counts from the end.'
	gives de 'elements ["abcde"] | map slice(x, -2)'
	says dsvc-ops.7 'The same numbers in another shape; one length may be -1, and is then computed from the others.'
	run -65 dsvc-run 'elements [1] | map reshape(tensor([1, 2, 3, 4]), [-1, -1])'
	says dsvc-ops.7 'The ints from start (or 0) up to, but not including, stop.'
	gives '[[0,1],[1,2]]' -t ndjson 'elements [1] | map [range(2), range(1, 3)]'
	says dsvc-ops.7 'The tensor in another dtype: ints wrap around; floats that become ints lose their fraction and are limited to the range of the dtype, and nan becomes 0.'
	gives '[44,0,255]' -t ndjson 'elements [1] | map [cast(tensor([300]), "u8")[0], cast(tensor([-2.7]), "u8")[0], cast(tensor([300.0]), "u8")[0]]'
	says dsvc-pipeline.5 'how a text that is not valid UTF-8 is written as JSON: error or replace, U+FFFD in place of each byte that belongs to no character'
	printf 'a\xff\xff\n' >"$BATS_TEST_TMPDIR/bytes"
	gives $'["a\uFFFD\uFFFD"]' "options invalid_utf8=replace; lines $BATS_TEST_TMPDIR/bytes | map str([x])"
	says dsvc-ops.7 'A text that is UTF-8: with U+FFFD in place of each byte that belongs to no character, or all bytes read as ISO 8859-1.'
	gives $'\uFFFDa\uFFFD ÿ' 'elements [1] | map utf8(unhex("ff61fe")) ++ " " ++ utf8(unhex("ff"), "latin1")'
}

@test "how long jobs are kept, and how they are forgotten" {
	says dsvc-dispatch.1 'At most 256 anonymous jobs are kept for audits, and at most 10000 finished jobs that have a position; beyond that the oldest are forgotten.'
	is lib/core/disp/disp_inner.h 'DISP_ENDED_JOBS = 256,'
	is lib/core/disp/disp_inner.h 'DISP_DONE_JOBS = 10000,'
	# tried in front_door.bats
	told dsvc-stop.1 'The dispatcher ends first and tells the others: workers end with 0, and readers that are not done with 75.'
	# tried in dsvc-forget.bats
	told dsvc-forget.1 'A job that has readers and a dataset that is in use are refused with 75, unless --force is given.'
	told dsvc-forget.1 'Over TCP this requires the role admin; other keys end with 77.' # tried in keys.bats
	told dsvc-forget.1 'Then the jobs end: their readers end with 66, and what they have not written is lost with the job.'
}

@test "what load says of a folder that is not complete" {
	told dsvc-save.1 'Forgetting a job requires the role admin: with another key dsvc-save ends with 77 and leaves DIR as it was.' # tried in keys_programs.bats
	says dsvc-save.1 'It refuses a folder that is not complete (66) and one whose save has failed (65).'
	mkdir "$BATS_TEST_TMPDIR/saved"
	: >"$BATS_TEST_TMPDIR/saved/.dsvc-save"
	run -66 dsvc-run "load $BATS_TEST_TMPDIR/saved"
	: >"$BATS_TEST_TMPDIR/saved/SNAPSHOT.failed"
	run -65 dsvc-run "load $BATS_TEST_TMPDIR/saved"
}

@test "keys, invitations and their files" {
	is lib/net/key.h 'KEY_TEXT = 52,'
	is cmd/dsvc-invite/main.c '.def = "15m"'
	is cmd/dsvc-invite/main.c '.def = "1"'
	told dsvc-keygen.1 'dsvc-keygen makes a pair of keys and prints the public one, 52 lower-case letters and digits.'
	told dsvc-invite.1 'Whoever has it can add one key to those that the service allows, once and within 15 minutes unless --uses and --for say otherwise.'
	told dsvc-security.7 'It is a line of text, good for 15 minutes and for one key.'
	# tried in keys.bats and in unit trust/trust_test
	told dsvc-keygen.1 'Whoever can read it can do what its key may; programs refuse a key file with 78 if its mode is not 0600 or 0400, or if others can write in its folder.'
	told dsvc-keygen.1 'A file of root'\''s may also have mode 0640 or 0440, as secrets in containers do, for programs that do not run as root.'
	told dsvc-allow.1 'only until the beginning of that day, or until that minute (2026-11-22T04:00Z); times are UTC'
	told dsvc-allow.1 'A worker or reader whose key was removed is then cut off, even in the middle of a pass; its streams, and the elements that it had not acknowledged, go to others, and it ends with 77.'
	told dsvc-security.7 'In containers, mount a key file and a file of services into $XDG_CONFIG_HOME/dsvc, as secrets with mode 0600 or 0400, or with 0440 if they belong to root and the program is not root; dsvc-keygen(1) makes keys for that, and dsvc-allow(1) adds them.'
	told dsvc-security.7 'Programs that knew the old key refuse the new one with 77 until dsvc-join(1) is run.'
	told dsvc-security.7 'All are in $XDG_CONFIG_HOME/dsvc or ~/.config/dsvc, and are refused with 78 unless they are closed to others and only their user can write in the folder.'
	# the range of the ids that libzmq makes up
	says dsvc-security.7 'A key without the role admin sees only its own jobs in dsvc-status(1), is limited in what it may ask of the dispatcher at once, over all its connections, and gets no job with more than 64 shards for each slot of the workers.'
	is lib/core/disp/disp_role.h 'DISP_SHARDS_SLOT = 64' # tried in keys.bats
	told dsvc-security.7 'With --insecure, anyone who can reach a port can also try to crash the program by guessing ids inside libzmq, which takes about 2^31 tries.'
}

# In dsvc-ops.7 defaults are printed from the rows of options, and what functions give is tried by
# tests/run-docs.
@test "formats: how wide and how many" {
	says dsvc.7 'Pictures for people, as wide as the terminal, or 80 columns. bars writes a line of blocks for each element, as long as its number: in a record or a list the first number behind the first field, which is the label, so that what group_by gives can be shown as it is. hist counts numbers in at most 20 ranges of a round width, each up to but without its upper edge, and nulls, nan and inf in lines of their own.'
	[ "$(LC_ALL=C dsvc-run -t bars 'range 9' | wc -L)" = 80 ]
	[ "$(dsvc-run -t hist 'range 2000' | wc -l)" = 20 ]
	told dsvc.7 'Where the locale (LC_ALL, LC_CTYPE or LANG) is not UTF-8, blocks are ‘#’.' # formats.bats
}

@test "silent servers" {
	says dsvc-pipeline.5 'A request that fails, or that receives no byte for 30 seconds, is repeated, up to six times in a row, and resumes at the byte that was reached.'
	says dsvc-save.1 'It has 120 seconds for each answer, since it puts a large upload together before that; then the connection counts as lost, and the request is made again.'
	is lib/fetch/http.c 'http_silence_s = 30, http_silence_write_s = 120'
	is lib/fetch/link.h 'LINK_TRIES = 6'
}

@test "traces" {
	says dsvc-run.1 'Calls of an operator that follow each other closely are one span of up to 4 ms with their sums; the time in which it really worked, including the operators before it, is ‘busy_ns’.'
	is lib/base/trace.c 'TRACE_SPAN_NS 4000000'
	says dsvc-run.1 'Operators that take turns within 0.2 ms share a span that has their names.'
	is lib/base/trace.c 'TRACE_LEAST_NS 200000'
	told dsvc-run.1 'After ‘kill -9’ the bracket at its end is missing, which both viewers accept.'
	says dsvc-run.1 'Each thread can have 4096 events waiting to be written; it does not wait for the disk, and if it has more, one event gives their number instead.'
	is lib/base/trace_inner.h 'TRACE_RING = 4096'
	says dsvc-run.1 'An event is about 200 bytes in the file.'
	dsvc-run --trace "$BATS_TEST_TMPDIR/t.json" 'range 300k | batch 1 | map x[0] | filter x % 2 == 0' -t none
	grep busy_ns "$BATS_TEST_TMPDIR/t.json" >"$BATS_TEST_TMPDIR/spans" # the first lines of a file are shorter
	each=$(($(wc -c <"$BATS_TEST_TMPDIR/spans") / $(wc -l <"$BATS_TEST_TMPDIR/spans")))
	((each > 140 && each < 260)) || { echo "$each bytes"; false; }
	says dsvc-run.1 'An operator that is called without a pause adds some 250 events a second, 50 kB; behind a pause of more than 0.1 ms a call begins a new one.'
	is lib/base/trace.c 'TRACE_SPAN_NS 4000000'
	is lib/base/trace.c 'TRACE_GAP_NS 100000'
}

@test "no sentence with a number is without a check" {
	run -0 python3 - "$BATS_FILE_TMPDIR/said" "$BATS_TEST_FILENAME" <<-'END'
		import re, shlex, sys
		listed = set()
		for line in open(sys.argv[2], encoding="utf-8"):
		    if re.match(r"\t(says|told) ", line):
		        word = shlex.split(line, comments=True)
		        listed.add((word[1], word[2]))
		for line in open(sys.argv[1], encoding="utf-8"):
		    page, sentence = line.rstrip("\n").split("\t")
		    if page != "dsvc-ops.7" and (page, sentence) not in listed:
		        print("add a check for", page + ":", sentence)
	END
	echo "$output"
	[ "$output" = '' ]
}

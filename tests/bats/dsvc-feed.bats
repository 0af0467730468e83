#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dsvc-feed from outside: steps, tails, results, who is blamed, positions.
# shellcheck disable=SC2016

load lib/dsvc

feed() { timeout "$patience" dsvc-feed --local --as ndjson "$@"; }
core=(sh -c 'while IFS= read -r b; do printf "%s\n" "$b"; done')

# The other ways, and the options of steps: in tfdata.bats.
@test "who gets which rows of a step" {
	run -0 feed -n 2 --batch 4 --results step -e 'range 4' -- "${core[@]}"
	[[ $output == $'{"step":0,"core":0,"result":[0,1]}\n{"step":0,"core":1,"result":[2,3]}' ]]
	run -0 --separate-stderr feed -n 2 --batch 4 --tail pad --results rows -e 'range 7' -- "${core[@]}"
	[[ $output == $'0\n1\n2\n3\n4\n5\n6' ]]
}

@test "each way with the last rows, pass by pass" {
	run -0 --separate-stderr feed --epochs 2 --batch 2 --tail drop -e 'range 3' -- cat
	[[ $output == $'[0,1]\n[0,1]' && $stderr == *'and were dropped'* ]]
	run -0 --separate-stderr feed --epochs 2 --batch 2 --tail pad -e 'range 3' -- cat
	[[ $output == $'[0,1]\n[2,0]\n[0,1]\n[2,0]' && $stderr == *'has 1 of 2 rows, the others are padding'* ]]
	run -0 feed --batch 2 --tail short -e 'range 3' -- cat
	[[ $output == $'[0,1]\n[2]' ]]
	run -65 feed --batch 2 --tail error -e 'range 3' -- cat
	[[ $output == *'the last step has 1 of 2 rows'* ]]
	run -0 feed -n 3 --batch 3 --tail short --results step -e 'range 1' -- "${core[@]}"
	[[ $output == *'"core":0,"result":[0]'*'"core":2,"result":[]'* ]]
	run -0 feed --batch 2 -e 'range 0' -- cat
	[[ $output == '' ]]
	run -1 feed --batch 2 --fail-empty -e 'range 0' -- cat
	# more small steps than there are slots, for a core that takes them at once
	[[ $(feed -e 'range 1000' -- cat | wc -l) == 1000 ]]
}

@test "elements from standard input, and single values" {
	run -0 bash -c "dsvc-run -t msgpack 'range 3' | dsvc-feed --batch 2 --as ndjson - -- cat"
	[[ $output == $'[0,1]\n[2]' ]]
	run -0 feed -e 'range 2 | map {a: x, b: "t"}' -- cat
	[[ $output == $'{"a":0,"b":"t"}\n{"a":1,"b":"t"}' ]]
	run -0 bash -c "dsvc-feed --local --as msgpack --batch 2 -e 'range 2 | map {a: x}' -- cat | dsvc-run -t ndjson 'msgpack -'"
	[[ $output == '{"a":[0,1]}' ]]
}

@test "an element of another structure is named before any core sees its step" {
	cd "$BATS_TEST_TMPDIR" || return
	run -65 feed --batch 2 -e 'elements [1, 2, 3, 4.5]' -- cat
	[[ $output == *'step 1, row 1'*'the element is float, and was int from the start'*help:*cast* ]]
	run -65 feed --batch 2 -e 'elements [{a: 1}, {b: 1}]' -- cat
	[[ $output == *'field `b` was not there from the start'* ]]
	run -65 feed --batch 2 --expect '{x: f32[2]}' -e 'range 3' -- cat
	[[ $output == *'--expect {x: f32[2]}, but the elements are int'* ]]
	# What the plan leaves open is known at the first element, which no core sees when it does not fit.
	printf '{"a": 1}\n{"a": 2}\n' > x
	local open='lines x | map {y: parse_json(x)}'
	run -0 feed --batch 2 --expect '{y: {a: int}}' -e "$open" -- cat
	[[ $output == '{"y":{"a":[1,2]}}' ]]
	run -65 feed --batch 2 --expect '{y: {a: text}}' -e "$open" -- cat
	[[ $output == *'step 0, row 0 (x:1): --expect {y: {a: text}}, but the elements are {y: {a: int}}'* && $output != *'[1'* ]]
	run -65 feed -n 2 --element host -e 'range 3 | batch 3' -- cat
	[[ $output == *'3 rows cannot be shared evenly by 2 cores'* ]]
	run -65 feed -e 'elements [[1], [1, 2]]' -- cat
	[[ $output == *'a batch has 2 rows, and the first one had 1'* ]]
	run -64 feed -n 4 --batch 10 -e 'range 3' -- cat
	[[ $output == *'10 rows cannot be shared evenly by 4 cores'*'--batch 8 or 12'* ]]
}

@test "such an element is named by its member of an archive, and by the worker that made it" {
	cd "$BATS_TEST_TMPDIR"
	local n
	for n in 0 1 2; do echo "$n" >00$n.cls; done
	tar cf a.tar 00?.cls
	local spec='tar a.tar | map {__key__: .__key__, t: .__key__ == "002" ? 1.5 : 1}'
	run -65 feed -e "$spec" -- cat
	[[ $output == *'step 2, row 0 (a.tar:3, member 002): field `t` is float, and was int from the start'* ]]
	service 1
	run -65 timeout "$patience" dsvc-feed --as ndjson --order source -e "$spec" -- cat
	[[ $output =~ 'step 2, row 0 (member 002, worker '[a-z]+'://'[^,]+', stream 0, offset 2): field `t` is float' ]]
	# No file comes with an element of the service; the remedy says how to see it, and that is true.
	[[ $output == *'; the same pipeline with --local names the file, if it reads one'* ]]
	run -65 timeout "$patience" dsvc-feed --local --as ndjson --order source -e "$spec" -- cat
	[[ $output == *'(a.tar:3, member 002)'* && $output != *'with --local'* ]]
}

@test "the core that failed is the cause, and its status is passed on" {
	run -3 feed -n 2 --batch 2 -e 'range 1000000' -- sh -c '[ $DSVC_CORE = 1 ] && read x && exit 3; cat >/dev/null'
	[[ $output == *'core 1 (rank 1, pid '*') exited with status 3 in step '* ]]
	run -137 feed -n 2 --batch 2 -e 'range 1000000' -- sh -c '[ $DSVC_CORE = 0 ] && kill -9 $$; cat >/dev/null'
	[[ $output == *'core 0 (rank 0, pid '*') was killed by signal 9'*'see dmesg'* ]]
	run -75 feed -n 2 --batch 2 --results step -e 'range 1000000' -- sh -c '[ $DSVC_CORE = 0 ] && exit; cat'
	[[ $output == *'core 0'*'while steps were outstanding'* ]]
	# One on a pipe that gives no results: it is at the step that it has read, whatever else the pipe holds.
	run -137 feed --batch 1 -e 'range 1000' -- sh -c 'for i in 1 2 3 4 5; do read x; done; kill -9 $$'
	[[ $output == *'was killed by signal 9 in step 4 (as far as it has read)'* ]]
	run -75 feed --batch 1 -e 'range 100' -- sh -c 'read x'
	[[ $output == *'ended in step 0 (as far as it has read), while steps were outstanding'* ]]
	run -3 feed --batch 1 --loop 10 --each-loop -e 'range 100' -- sh -c 'read a; read b; [ $b = "[51]" ] && exit 3; exit 0'
	[[ $output == *'exited with status 3 in step 51 ('* ]]
	# A core that does not listen: writing to it must not end the feed itself.
	run -3 feed --batch 2 -e 'range 1000000' -- sh -c 'exec 0<&-; n=0; while [ $n != 30000 ]; do n=$((n+1)); done; exit 3'
	[[ $output == *'exited with status 3'* ]]
	run -127 feed -e 'range 3' -- /nonexistent/program
	run -124 feed --core-timeout 1 --grace 0.1 --results step -e 'range 3' -- sh -c 'read a; exec tail -f /dev/null'
	[[ $output == *'has done nothing for 1 s, at step 0'* ]]
}

@test "a result that is wrong ends it with 65" {
	run -65 feed --batch 4 --results rows -e 'range 4' -- sh -c 'read x; echo "[1,2]"; cat >/dev/null'
	[[ $output == *'has 2 rows, and the step has 4'* ]]
	run -65 feed --batch 4 --results rows -e 'range 4' -- sh -c 'read x; echo "{"; cat >/dev/null'
	[[ $output == *'the result of step 0 is not JSON'* ]]
	run -65 feed --batch 4 --results step -e 'range 4' -- sh -c 'echo 1; echo 2; cat >/dev/null'
	run -65 feed --batch 2 --results step -e 'range 4' -- sh -c 'read x; echo 1; cat >/dev/null'
	[[ $output == *'gave no result for step 1'* ]]
}

@test "nothing that a core started is left, also when the feed is killed" {
	spawn feed dsvc-feed --local -n 2 --as ndjson -e 'range 1000000000' -- sh -c 'sh -c "echo \$\$ >>'"$BATS_TEST_TMPDIR"'/kids; exec tail -f /dev/null" & cat >/dev/null; wait'
	two() { [[ $(cat "$BATS_TEST_TMPDIR/kids" 2>/dev/null | wc -l) == 2 ]]; }
	until_true 10s two
	stop feed KILL || true
	gone() { local p; while read -r p; do kill -0 "$p" 2>/dev/null && return 1; done <"$BATS_TEST_TMPDIR/kids"; return 0; }
	until_true 10s gone
}

@test "a signal stops all cores at the same step" {
	spawn feed dsvc-feed --local -n 2 --batch 2 --as ndjson --results step -o "$BATS_TEST_TMPDIR/res" --checkpoint "$BATS_TEST_TMPDIR/pos" --save-every 1 -e 'range 1000000000' -- "${core[@]}"
	some() { [[ -s $BATS_TEST_TMPDIR/res ]]; }
	until_true 10s some
	stop feed
	((status == 143))
	(($(grep -c '"core":0' "$BATS_TEST_TMPDIR/res") == $(grep -c '"core":1' "$BATS_TEST_TMPDIR/res")))
}

@test "a signal that comes before the cores is not forgotten" {
	start feed dsvc-feed --local -n 2 --batch 2 --listen "$BATS_TEST_TMPDIR/sock" -e 'range 10'
	stop feed
	((status == 143))
	cd "$BATS_TEST_TMPDIR"
	mkfifo go
	spawn feed dsvc-feed --local --batch 2 -e 'range 1000000000000' -- sh -c \
		'echo begun >begun; read go <go; PYTHONPATH="'"$BATS_TEST_DIRNAME/../../python"'" exec python3 -c "import dsvc
for b in dsvc.feed(): print(b)"'
	until_true 20s test -s begun
	kill -TERM "${pid[feed]}"
	echo go >go
	reap feed
	((status == 143))
	[[ ! -s feed.out ]]
}

@test "a run that is begun again goes on after its position, with other numbers of cores" {
	cd "$BATS_TEST_TMPDIR"
	local spec='range 100 | shuffle 50' n
	run -0 feed --seed 3 --batch 12 --results rows -o whole -t text -e "$spec" -- "${core[@]}"
	for n in 1 3 2 6 4; do
		run -0 --separate-stderr feed -n $n --seed 3 --batch 12 --steps 2 --checkpoint pos --save-every 1 --results rows -o res -t text -e "$spec" -- "${core[@]}"
	done
	cmp whole res
	run -0 --separate-stderr feed --batch 12 --checkpoint pos --from 8 --results rows -o res -t text -e "$spec" -- "${core[@]}"
	cmp whole res
	run -66 feed --batch 12 --checkpoint pos --from 77 -e "$spec" -- cat
	[[ $output == *'has no position of step 77'*'it has those of the steps'*'8'* ]]
	run -65 feed --batch 12 --checkpoint pos -e 'range 7' -- cat
	[[ $output == *'belongs to dataset'* ]]
	echo nonsense >pos
	run -65 feed --batch 12 --checkpoint pos -e 'range 7' -- cat
	run -64 feed --order any --checkpoint pos2 -e 'range 7' -- cat
}

@test "without positions --from passes over the rows before its step, and says so" {
	run -0 --separate-stderr feed --batch 2 --from 1 --until 2 -e 'range 9' -- cat
	[[ $output == '[2,3]' && $stderr == *'the rows of 1 step are passed over'* ]]
}

@test "through the service, with a worker and a core killed, each row comes once" {
	cd "$BATS_TEST_TMPDIR"
	service 2
	local spec='range 20000 | map {i: x, t: str(x)} | shuffle 100' before
	fed() { timeout "$patience" dsvc-feed --as ndjson --wait-workers 2 --batch 64 --checkpoint pos --save-every 20 --results rows -o res -t text -e "$spec" "$@"; }
	run -137 --separate-stderr fed -n 2 -- sh -c 'n=0; jq -c --unbuffered .i | while IFS= read -r x; do printf "%s\n" "$x"; n=$((n+1)); [ $n = 100 ] && [ $DSVC_CORE = 1 ] && kill -9 $$; done'
	[[ $stderr == *'core 1'*'was killed by signal 9'* ]]
	# The core that lived may have come far: the worker is killed once there is more than that.
	before=$(wc -l <res)
	spawn again dsvc-feed --as ndjson --wait-workers 2 --batch 64 --checkpoint pos --save-every 20 --results rows -o res -t text -e "$spec" -n 4 -- jq -c --unbuffered .i
	lines() { (($(wc -l <res) > (before < 10000 ? 10000 : before))); }
	until_true 20s lines
	stop work1 KILL || true
	reap again 30
	((status == 0))
	sort -n res | cmp - <(seq 0 19999)
}

@test "rows of arrays behind those that were had come once, whoever is started anew" {
	cd "$BATS_TEST_TMPDIR"
	service 2
	dsvc-run -t npy 'range 200000 | map tensor([x, x, x, x, x, x, x, x])' >rows.npy
	fed() { timeout "$patience" dsvc-feed --as ndjson --wait-workers 2 --batch 1000 --checkpoint pos -e 'npy rows.npy | map x[0]' "$@" -- cat >>had; }
	fed --steps 70
	fed --steps 115
	fed
	jq -c '.[]' had | sort -n | cmp - <(seq 0 199999)
	# The same steps follow, also on another number of workers.
	stop work1
	split -l 70 had part
	: >had
	timeout "$patience" dsvc-feed --as ndjson --batch 1000 --checkpoint pos --from 70 --steps 115 -e 'npy rows.npy | map x[0]' -- cat >had
	cmp <(head -n 115 <(cat partab partac)) had
}

@test "mistakes in the options are told" {
	run -64 dsvc-feed --local -e 'range 3' --as ndjson
	[[ $output == *'--as is for a command'* ]]
	run -64 dsvc-feed --local -- cat
	[[ $output == *'no dataset or pipeline given'* ]]
	run -64 dsvc-feed --local -e 'range 3' 'range 4' -- cat
	[[ $output == *'more than one dataset or pipeline given'* ]]
	run -64 dsvc-feed --local --batch 2 --element copy -e 'range 3' -- cat
	run -64 dsvc-feed --local -o x -e 'range 3' -- cat
	run -64 dsvc-feed --steps 1 --until 2 --local -e 'range 3' -- cat
	run -65 dsvc-feed -e 'lines -' -- cat
	run -66 dsvc-feed --local --as ndjson -e 'lines nosuchfile' -- cat
	run -69 dsvc-feed --listen "$BATS_TEST_TMPDIR/s" --wait-cores 0.1 --local -e 'range 3'
	[[ $output == *'1 of 1 core did not come'* ]]
}

@test "a consumer in C, with the files that projects copy" {
	cd "$BATS_TEST_TMPDIR"
	cat >core.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include "dsvc_feed.h"
		int main(void)
		{
			struct dsvc_batch b;
			struct dsvc_error err;
			size_t rows, len;
			struct dsvc_feed *f = dsvc_feed_open(NULL, &err);
			if (!f) {
				fprintf(stderr, "%s\n", err.text);
				return err.code;
			}
			while (dsvc_feed_next(f, &b) == 1) {
				const long *x = dsvc_feed_column(&b, "r.x", DSVC_I64, &rows);
				double y[64];
				if (!x || dsvc_feed_column(&b, "r.x", DSVC_F32, &rows) || dsvc_feed_width(&b, "t") != 2)
					dsvc_feed_fail(f, "no column");
				for (size_t i = 0; x && i < rows; i++) {
					const char *s = dsvc_feed_bytes(&b, "s", i, &len);
					y[i] = len != 2 || memcmp(s, "ab", 2) ? -1 : (double)(x[i] * 10);
				}
				dsvc_feed_put(f, &b, y, rows);
				dsvc_feed_done(f, &b);
			}
			return dsvc_feed_close(&f);
		}
	END
	cc -Wall -Wextra -Werror -I "$BATS_TEST_DIRNAME/../../client" -o core core.c "$BATS_TEST_DIRNAME/../../client/dsvc_feed.c"
	run -0 --separate-stderr timeout "$patience" dsvc-feed --local -n 3 --batch 6 --results rows -t ndjson -e 'range 10 | map {r: {x: x}, s: "ab", t: tensor([x, x])}' -- ./core
	[[ $output == "$(seq 0 10 90 | sed 's/$/.0/')" ]]
	run -1 timeout "$patience" dsvc-feed --local --batch 2 --results rows -e 'range 10 | map {s: "ab"}' -- ./core
	[[ $output == *'core 0'*': no column'* ]]
	run -64 env -u DSVC_FEED ./core
	[[ $output == 'DSVC_FEED names no feed' ]]
}

@test "install puts the module and the C client where they are found, and uninstall removes them" {
	cd "$BATS_TEST_DIRNAME/../.."
	local to=$BATS_TEST_TMPDIR/to
	DESTDIR=$to PREFIX=/usr bash tools/install.sh install dsvc-feed
	PYTHONPATH=$to/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 run -0 python3 -c 'import dsvc; print(dsvc.__file__)'
	[[ $output == "$to"/usr/* && -e $to/usr/include/dsvc_feed.h && -e $to/usr/lib/libdsvcfeed.a ]]
	# What its file for pkg-config says is all that the example needs.
	local includedir=$to/usr/include libdir=$to/usr/lib
	said() { sed -n "s/^$1: //p" "$libdir/pkgconfig/dsvc-feed.pc"; }
	eval "cc -o '$BATS_TEST_TMPDIR/core' $(said Cflags) examples/core.c $(said Libs)"
	run -0 --separate-stderr feed --batch 2 --as memory --results rows -e 'range 3' -- "$BATS_TEST_TMPDIR/core"
	[[ $output == $'0.0\n1.0\n4.0' ]]
	DESTDIR=$to PREFIX=/usr bash tools/install.sh uninstall dsvc-feed
	[[ ! -e $to/usr/lib && ! -e $to/usr/include ]]
}

@test "dsvc-status tells of each feed where it is, and which core is behind" {
	service
	cd "$BATS_TEST_TMPDIR"
	mkfifo go
	# core 1 stands still in step 3, and core 0 goes on to where it may
	spawn feed dsvc-feed -n 2 --batch 4 --as ndjson --results step -J train -e 'range 400' -- \
		sh -c 'n=0; while read -r b; do [ "$DSVC_CORE$n" != 13 ] || read -r go <go; echo 1; n=$((n + 1)); done'
	tells() { dsvc-status | grep -qF "feed  step $1"; }
	exec 9<>go
	until_true 10s tells '3  2 cores  core 1 is last'
	[[ $(dsvc-status --json | jq -c '.readers[0] | [.cores, .step, .last]') == '[2,3,2]' ]]
	echo >&9
	reap feed
	((status == 0))
}

@test "the memory of steps is taken at the start, and has a limit" {
	cd "$BATS_TEST_TMPDIR"
	local wide='range 40 | map {s: pad(x, x * 1000)}'
	run -65 feed --batch 4 --slot-max 100k -e "$wide" -- wc -c
	[[ $output == *'a step of 4 rows has more than 102400 bytes'*'help: --slot-max allows more'* ]]
	run -0 feed --batch 4 --slot-max 256k -e "$wide" -- wc -c
	# A file that may not have so many bytes is what a lack of memory is, too: no core has begun.
	run -74 bash -c 'trap "" XFSZ; ulimit -f 100; dsvc-feed --local --as ndjson --batch 100000 -e "range 300000" -- sh -c "cat >begun"'
	[[ $output == *'cannot take '*' bytes of memory for 4 steps: File too large'*'help: a smaller --batch, or a smaller --prefetch'* ]]
	[[ ! -s begun ]]
}

@test "--stats tells what was done, and who waited for whom" {
	run -0 --separate-stderr feed --stats --batch 4 -e 'range 10' -- cat
	[[ $stderr =~ ^'dsvc-feed: 3 steps, 10 rows in '[0-9.]+' s ('[0-9]+' rows/s); cores waited for data '[0-9]+' % of the time, data for cores '[0-9]+' %'$ ]]
}

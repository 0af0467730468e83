#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The client in C: the example, compiled as projects compile it, and the ends that a consumer may meet.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
	cp "$BATS_TEST_DIRNAME"/../../client/dsvc_feed.[ch] "$BATS_TEST_DIRNAME"/../../examples/core.c .
}
strict=(-Wall -Wextra -Werror -I .)
feed() { timeout "$patience" dsvc-feed --local "$@"; }
squares=$'0.0\n1.0\n4.0\n9.0\n16.0\n25.0\n36.0'

# A consumer of these lines, between open and close.
consumer() {
	{
		printf '#include <stdio.h>\n#include <string.h>\n#include "dsvc_feed.h"\nint main(void)\n{\n\tstruct dsvc_batch b, c, d;\n'
		printf '\tstruct dsvc_error e;\n\tstruct dsvc_feed *f = dsvc_feed_open(NULL, &e);\n\t(void)b, (void)c, (void)d;\n'
		printf '\tif (!f) { fprintf(stderr, "%%s\\n", e.text); return e.code; }\n'
		cat
		printf '\treturn dsvc_feed_close(&f);\n}\n'
	} >own.c
	cc -std=c99 "${strict[@]}" -o own own.c dsvc_feed.c
}

@test "the example is C99, and C++ with the client's file too" {
	cc -std=c99 -pedantic "${strict[@]}" -o core core.c dsvc_feed.c
	run -0 --separate-stderr feed -n 2 --batch 4 --results rows -e 'range 7 | map {x: x}' -- ./core
	[[ $output == "$squares" ]]
	type -P c++ >/dev/null || return 0
	c++ -x c++ "${strict[@]}" -o core++ core.c dsvc_feed.c
	run -0 --separate-stderr feed -n 2 --batch 4 --results rows -e 'range 7' -- ./core++
	[[ $output == "$squares" ]]
	run -1 --separate-stderr feed --batch 4 --results rows -e 'range 7 | map {y: x}' -- ./core
	[[ $stderr == *'core 0 (rank 0, pid '*'): there is no column x of whole numbers'* ]]
}

@test "whoever keeps more batches than there are is told, and does not hang" {
	consumer <<-'END'
		dsvc_feed_next(f, &b), dsvc_feed_next(f, &c);
		if (dsvc_feed_next(f, &d) != -1) return 8;
		dsvc_feed_fail(f, dsvc_feed_error(f, NULL));
	END
	run -64 feed --batch 1 --grace 10 -e 'range 100' -- ./own
	# At the end there is nothing to wait for.
	consumer <<-'END'
		dsvc_feed_next(f, &b), dsvc_feed_next(f, &c);
		if (dsvc_feed_next(f, &d) != 0) return 8;
		dsvc_feed_done(f, &b), dsvc_feed_done(f, &c);
	END
	run -0 feed --batch 1 -e 'range 2' -- ./own
}

@test "a feed that is killed ends its consumers, and one that stops gives them the same steps" {
	consumer <<-'END'
		while (dsvc_feed_next(f, &b) == 1) {
			if (!b.step)
				puts("begun"), fflush(stdout);
			dsvc_feed_done(f, &b);
		}
		int code;
		const char *why = dsvc_feed_error(f, &code);
		printf("%d %s\n", code, why), fflush(stdout);
	END
	start feed dsvc-feed --local --batch 1 --listen "$BATS_TEST_TMPDIR/sock" -e 'range 1000000000000'
	DSVC_FEED=$BATS_TEST_TMPDIR/sock spawn core ./own
	begun() { grep -q begun core.out; }
	until_true 10s begun
	stop feed KILL || true
	reap core
	((status == 75))
	[[ $(cat core.out) == $'begun\n75 the feed has gone' ]]
	consumer <<-'END'
		unsigned long n = 0;
		while (dsvc_feed_next(f, &b) == 1) {
			if (++n == 5 && dsvc_feed_rank(f) == 1)
				dsvc_feed_stop(f, "enough");
			dsvc_feed_done(f, &b);
		}
		printf("%lu\n", n);
	END
	run -0 --separate-stderr feed -n 3 --batch 3 -e 'range 1000000000000' -- ./own
	((${lines[0]} >= 5 && ${lines[0]} == ${lines[1]} && ${lines[1]} == ${lines[2]}))
}

@test "a feed that cannot be joined gives the code and the text of why" {
	consumer <<<''
	run -64 ./own
	[[ $output == 'DSVC_FEED names no feed' ]]
	DSVC_FEED=$PWD/none run -69 ./own
	[[ $output == "no dsvc-feed at $PWD/none: No such file or directory" ]]
	start feed dsvc-feed --local -n 2 --batch 2 --listen "$BATS_TEST_TMPDIR/sock" -e 'range 10'
	DSVC_CORE=2 DSVC_FEED=$BATS_TEST_TMPDIR/sock run -69 ./own
	[[ $output == 'the feed has no such core, or it has joined'*'help: dsvc-feed -n N'* ]]
	stop feed
	# A feed that has said why, and gone, before the core could say anything.
	run -77 python3 -c 'import socket, subprocess, sys
a, b = socket.socketpair()
message = b"\x95\x15\x4d\xa4away\xa0\xce\xff\xff\xff\xff"
a.sendall(len(message).to_bytes(4, "little") + message)
a.close()
sys.exit(subprocess.run(["./own"], env={"DSVC_FEED": "fd:%d" % b.fileno()}, pass_fds=[b.fileno()]).returncode)'
	[[ $output == away ]]
	# A feed that ends before the core has joined.
	run -75 python3 -c 'import socket, subprocess, sys
a, b = socket.socketpair()
a.close()
sys.exit(subprocess.run(["./own"], env={"DSVC_FEED": "fd:%d" % b.fileno()}, pass_fds=[b.fileno()]).returncode)'
	[[ $output == 'the feed has gone' ]]
}

@test "what a batch says of itself, and rows of any length" {
	consumer <<-'END'
		while (dsvc_feed_next(f, &b) == 1) {
			size_t rows, len, sum = 0;
			const unsigned short *h = dsvc_feed_column(&b, "h", DSVC_F16, &rows), *w = dsvc_feed_column(&b, "w", DSVC_BF16, NULL);
			const unsigned char *m = dsvc_feed_column(&b, "m", DSVC_BOOL, NULL);
			const long *l = dsvc_feed_bytes(&b, "l", 0, &len);
			if (!h || !w || !m || !l || dsvc_feed_bytes(&b, "l", rows, &len) || dsvc_feed_column(&b, "none", DSVC_F16, NULL))
				return 8;
			for (size_t i = 0; i < len / 8; i++)
				sum += (size_t)l[i];
			printf("%d/%d %lu %u %lu/%lu %d %d %x %x %zu", dsvc_feed_rank(f), dsvc_feed_world(f), (unsigned long)b.step, b.epoch,
			       (unsigned long)b.valid, (unsigned long)b.rows, b.last_of_loop, m[b.rows - 1], h[0], w[0], sum);
			for (size_t i = 0; i < rows; i++)
				if (dsvc_feed_bytes(&b, "s", i, &len))
					printf(" %zu", len);
			puts("");
			dsvc_feed_done(f, &b);
		}
		/* Memory that larger rows have replaced has gone with its last step. */
		char line[4096];
		int maps = 0;
		FILE *mine = fopen("/proc/self/maps", "r");
		while (fgets(line, sizeof line, mine))
			maps += !!strstr(line, "memfd:dsvc-feed");
		fclose(mine);
		if (maps != 1)
			return 9;
	END
	run -0 --separate-stderr feed -n 2 --batch 4 --tail pad --mask m --loop 2 -e \
		'range 14 | map {h: cast(tensor([x]), "f16"), w: cast(tensor([x]), "bf16"), s: pad("", x * 1000), l: range(x * 1000)}' -- ./own
	[[ $(sort <<<"$output") == "$(
		echo '0/2 0 1 2/2 0 1 0 0 0 0 1000'
		echo '0/2 1 1 2/2 1 1 4400 4080 7998000 4000 5000'
		echo '0/2 2 1 2/2 0 1 4800 4100 31996000 8000 9000'
		echo '0/2 3 1 2/2 1 1 4a00 4140 71994000 12000 13000'
		echo '1/2 0 1 2/2 0 1 4000 4000 1999000 2000 3000'
		echo '1/2 1 1 2/2 1 1 4600 40c0 17997000 6000 7000'
		echo '1/2 2 1 2/2 0 1 4900 4120 49995000 10000 11000'
		echo '1/2 3 1 0/2 1 0 0 0 0 0 0'
	)" ]]
}

# A program that is started in the background ignores Ctrl-C, unless env says otherwise.
# The consumer has a socket and sleeps: it waits for the other core.
core_waits() {
	[[ $(readlink "/proc/${pid[core]}"/fd/*) == *socket:* && $(cut -d' ' -f3 "/proc/${pid[core]}/stat") == S ]]
}

@test "Ctrl-C in a consumer that waits to be welcomed ends the feed too, and nothing is left" {
	cc -std=c99 "${strict[@]}" -o core core.c dsvc_feed.c
	start feed dsvc-feed --local -n 2 --batch 4 --results rows --listen "$BATS_TEST_TMPDIR/sock" -e 'range 8'
	DSVC_FEED=$BATS_TEST_TMPDIR/sock spawn core env --default-signal=INT ./core
	until_true 10s core_waits
	stop core INT || true
	((status == 130))
	reap feed || true
	((status == 75))
	grep -q 'core 0 (rank 0, pid [0-9]*) has gone' feed.err
	[[ ! -s feed.out && ! -e sock ]]
}

@test "Ctrl-C in the terminal of a feed and its consumers ends all at one step" {
	cc -std=c99 "${strict[@]}" -o core core.c dsvc_feed.c
	spawn feed env --default-signal=INT setsid dsvc-feed --local -n 2 --batch 4 --results rows -e 'range 1000000000000' -- ./core
	begun() { [[ -s feed.out ]]; }
	until_true 10s begun
	kill -INT -- "-${pid[feed]}"
	reap feed || true
	((status == 130))
	local n
	n=$(wc -l <feed.out)
	((n && n % 4 == 0))
	dsvc-run "range $n | map (x + 0.0) * (x + 0.0)" | cmp - feed.out
}

@test "which core of its host a consumer is follows from what started it" {
	consumer <<<'	while (dsvc_feed_next(f, &b) == 1) dsvc_feed_done(f, &b);
	printf("%d\n", dsvc_feed_rank(f));'
	local i said
	for said in DSVC_CORE LOCAL_RANK SLURM_LOCALID; do
		start feed dsvc-feed --local -n 2 --batch 2 --listen "$BATS_TEST_TMPDIR/sock" -e 'range 4'
		for i in 1 0; do
			DSVC_FEED=$BATS_TEST_TMPDIR/sock spawn core$i env -u LOCAL_RANK -u SLURM_LOCALID $said=$i ./own
		done
		for i in 0 1; do
			reap core$i
			((status == 0)) && [[ $(<core$i.out) == "$i" ]]
		done
		reap feed
		((status == 0))
	done
	DSVC_FEED=/$(printf 'x%.0s' {1..200}) run -64 ./own
	[[ $output == "the path of the feed's socket is too long: /xxx"* ]]
}

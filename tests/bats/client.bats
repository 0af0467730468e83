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
		printf '#include <stdio.h>\n#include "dsvc_feed.h"\nint main(void)\n{\n\tstruct dsvc_batch b, c, d;\n'
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
	# A feed that ends before the core has joined.
	run -75 python3 -c 'import socket, subprocess, sys
a, b = socket.socketpair()
a.close()
sys.exit(subprocess.run(["./own"], env={"DSVC_FEED": "fd:%d" % b.fileno()}, pass_fds=[b.fileno()]).returncode)'
	[[ $output == 'the feed has gone' ]]
}

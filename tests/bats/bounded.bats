#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Nothing grows without end: readers that stop, many jobs, many readers.

# shellcheck disable=SC2016
load lib/dsvc

memory() { # FIELD NAME: KiB
	awk -v f="$1:" '$1 == f { print $2 }' "/proc/${pid[$2]}/status"
}

@test "a reader that stops reading costs the worker and the dispatcher no more" {
	measured || return 0
	service 1
	local before now
	before=$(memory VmRSS dispatch)
	mkfifo "$BATS_TEST_TMPDIR/out"
	spawn read bash -c "exec dsvc-read -e 'range 1_000_000_000_000 | map [x, \"0123456789012345678901234567890123456789\"]' >'$BATS_TEST_TMPDIR/out'"
	exec 9<"$BATS_TEST_TMPDIR/out"
	IFS= read -r -t "$patience" -u 9 _
	# Nobody drains the pipe any more: soon the worker stands still.
	until_true 20s stands_still work1
	(($(memory VmHWM work1) < 64 * 1024))
	(($(memory VmHWM read) < 64 * 1024))
	now=$(memory VmRSS dispatch)
	((now - before < 4096))
	# And so when the reader itself is stopped.
	kill -STOP "${pid[read]}"
	until_true 20s stands_still work1
	(($(memory VmHWM work1) < 64 * 1024))
	kill -CONT "${pid[read]}"
	IFS= read -r -t "$patience" -u 9 _
	exec 9<&-
	reap read
}

# No processor time in a fifth of a second.
stands_still() {
	local a b
	a=$(awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/${pid[$1]}/stat")
	timeout 0.2 tail -f /dev/null 3>&- || :
	b=$(awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/${pid[$1]}/stat")
	((b - a <= 1))
}

jobs() { # N
	local i
	for ((i = 0; i < $1; i++)); do dsvc-read -n 1 -t none -e "range $((1000 + i)) | map x*x" || return; done
}

state_bytes() { cat "$BATS_TEST_TMPDIR"/state/* | wc -c; }

@test "jobs one after another leave neither memory nor state behind" {
	measured || return 0
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state" --job-gc 100ms
	start work dsvc-work
	local n=${BOUNDED_JOBS:-300} before file worker
	jobs $((n / 3))
	before=$(memory VmRSS dispatch)
	worker=$(memory VmRSS work)
	file=$(state_bytes)
	jobs $((n * 2 / 3))
	(($(memory VmRSS dispatch) - before < 2048))
	(($(memory VmRSS work) - worker < 8192))
	# the log of SQLite's is cut back at its own pace, 4 MiB long
	(($(state_bytes) - file < 6 * 1024 * 1024))
	gone() { (($(dsvc-status --json | jq '.jobs | length') == 0)); }
	until_true 5s gone
}

# Nobody reads on before each has one: the first to come would have it all.
@test "100 readers of one job: each is given elements, all together all of them once" {
	local n=${BOUNDED_READERS:-100} i all fd spec fds=() cats=() first=() dir=$BATS_TEST_TMPDIR
	all=$((n * 20000))
	spec="range $all | map {i: x, pad: \"$(printf %0100d 0)\"}"
	start dispatch dsvc-dispatch
	# What readers that stand still hold must leave room for what the others get.
	start one dsvc-work --memory "$((n * 2))M" -j 1
	start two dsvc-work --memory "$((n * 2))M" -j 1
	for ((i = 0; i < n; i++)); do
		mkfifo "$dir/pipe$i"
		spawn "read$i" bash -c 'exec dsvc-read -J shared --wait-workers 2 --window 1 -e "$2" >"$1"' - "$dir/pipe$i" "$spec"
		exec {fd}<"$dir/pipe$i"
		fds+=("$fd")
	done
	for ((i = 0; i < n; i++)); do
		IFS= read -r -t "$patience" -u "${fds[i]}" "first[$i]"
		[[ ${first[i]} ]]
	done
	printf '%s\n' "${first[@]}" >"$dir/firsts"
	for ((i = 0; i < n; i++)); do
		awk -F '[:,]' '{ n++; s += $2 } END { printf "%.0f %.0f\n", n, s }' <&"${fds[i]}" >"$dir/sum$i" 3>&- &
		cats+=($!)
	done
	for ((i = 0; i < n; i++)); do
		reap "read$i" 60
		((status == 0))
		wait "${cats[i]}"
	done
	awk -F '[:,]' '{ n++; s += $2 } END { printf "%.0f %.0f\n", n, s }' "$dir/firsts" >"$dir/sum"
	run -0 awk '{ n += $1; s += $2 } END { printf "%.0f %.0f\n", n, s }' "$dir"/sum*
	[[ $output == "$all $((all * (all - 1) / 2))" ]]
	run -0 dsvc-status --audit shared
	[[ $output == *balanced* ]]
}

@test "with -j8 few elements of much input do not pin what they were read from" {
	measured || return 0
	cd "$BATS_TEST_TMPDIR"
	yes 'some words here and there 0123456789 abcdefgh, and no match' | head -n 200 >part || :
	echo 'a needle in it' >>part
	for ((n = 0; n < 200; n++)); do cat part; done >once
	for ((n = 0; n < 50; n++)); do cat once; done >big
	run -0 --separate-stderr /usr/bin/env python3 - "$B/bin/dsvc-run" <<'END'
import resource, subprocess, sys
out = subprocess.run([sys.argv[1], '-j8', 'lines big | filter x ~ /needle/ | count'],
                     check=True, capture_output=True, text=True).stdout
print(out.strip(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
	read -r count memory <<<"$output"
	((count == 10000))
	((memory < 50 * 1024))
}

@test "out of memory is an error of its own, with the operator and what to do" {
	measured || return 0
	local op
	for op in 'sort -x' 'batch 100_000_000'; do
		run -74 --separate-stderr bash -c "ulimit -v 400000; exec dsvc-run -t none 'range 100_000_000 | $op'"
		[[ $stderr == "dsvc-run: out of memory in operator ${op%% *} (wanted "[0-9]*" bytes more)"$'\n  help: '* ]]
	done
}

# Processor time in milliseconds, and at least 10, so that a ratio means something.
cpu() { # COMMAND...
	local TIMEFORMAT=%U ms
	ms=$({ time "$@" >/dev/null 2>&1; } 2>&1)
	ms=$((10#${ms/./}))
	echo $((ms < 10 ? 10 : ms))
}

# Eight times as many may take sixteen times as long, but not sixty-four times.
@test "many files in one group, and many fields in one record, take time in proportion" {
	local few many
	python3 - "$BATS_TEST_TMPDIR" <<-'END'
		import io, sys, tarfile
		for n in (5000, 40000):
		    with tarfile.open(f"{sys.argv[1]}/{n}.tar", "w") as t:
		        for i in range(n):
		            f = tarfile.TarInfo(f"a.k{i}")
		            t.addfile(f, io.BytesIO())
		for n in (3000, 24000):
		    with open(f"{sys.argv[1]}/{n}.dsvc", "w") as f:
		        f.write("range 1 | map {" + ", ".join(f"k{i}: 1" for i in range(n)) + "} | map len(x)\n")
	END
	run -0 dsvc-run "tar $BATS_TEST_TMPDIR/40000.tar | map len(x)"
	[ "$output" = 40001 ]
	few=$(cpu dsvc-run "tar $BATS_TEST_TMPDIR/5000.tar | map len(x)")
	many=$(cpu dsvc-run "tar $BATS_TEST_TMPDIR/40000.tar | map len(x)")
	echo "files: $few ms and $many ms"
	((many < 24 * few))
	run -0 dsvc-run -f "$BATS_TEST_TMPDIR/24000.dsvc"
	[ "$output" = 24000 ]
	few=$(cpu dsvc-run -f "$BATS_TEST_TMPDIR/3000.dsvc")
	many=$(cpu dsvc-run -f "$BATS_TEST_TMPDIR/24000.dsvc")
	echo "fields: $few ms and $many ms"
	((many < 24 * few))
}

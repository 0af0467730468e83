# SPDX-License-Identifier: MIT
# Readers that a test holds up, to do something in the middle of their reading.

# 300 000 elements of 100 bytes: more than all buffers between a worker with
# --memory 1M and a reader with --window 2 can hold.
many='range 300000 | map {i: x, pad: "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"}'

# Reads through a pipe that the test holds up: `first` has come and the rest waits.
read_slowly() { # NAME ARG...
	local name=$1
	shift
	mkfifo "$BATS_TEST_TMPDIR/$name.pipe"
	spawn "$name" bash -c 'out=$1; shift; exec dsvc-read "$@" >"$out"' - "$BATS_TEST_TMPDIR/$name.pipe" --window 2 "$@"
	exec {pipe}<"$BATS_TEST_TMPDIR/$name.pipe"
	IFS= read -r -t "$patience" -u "$pipe" first
}

read_rest() { # FILE
	{
		echo "$first"
		cat <&"$pipe"
	} >"$1"
	exec {pipe}<&-
}

exactly_once() { # FILE... of {"i":N,...} lines, 0 to 299999
	sed 's/^{"i":\([0-9]*\),.*/\1/' "$@" | sort -n | cmp - <(seq 0 299999)
}

work() { # NAME [ARG...]
	local name=$1
	shift
	start "$name" dsvc-work --memory 1M -j 1 "$@"
}

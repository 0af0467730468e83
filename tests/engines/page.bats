#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bats file_tags=alone
#
# The page of dsvc-export in a real browser without a screen (Debian's chromium-headless-shell, or another Chromium).

load ../bats/lib/dsvc

setup() {
	dsvc_setup
	check=$BATS_TEST_DIRNAME/lib/page.py
	python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import browser; sys.exit(not browser.program())' "${check%/*}" ||
		skip 'there is no Chromium'
}

serve() {
	start export dsvc-export -q -l 127.0.0.1:0
	url=$ready
}

# Two workers, one of whose names is a script, and two jobs that are read, slowly and for ever.
two_jobs() {
	service 1
	start other dsvc-work -q --name '<script>document.title="owned"</script>'
	spawn one dsvc-read -q -J '<img src=x onerror=alert(1)>' -t none -e 'range 1_000_000_000 | sleep 1ms'
	spawn two dsvc-read -q -J two -t none --sharding data --shards 40 -e 'range 1_000_000_000 | sleep 1ms'
	serve
}

@test "light, dark and 400 px wide: names are text, it can be heard, and nothing comes from elsewhere" {
	two_jobs
	within 60s python3 "$check" look "$url"
}

@test "streams are chosen by the keyboard" {
	two_jobs
	within 60s python3 "$check" keys "$url"
}

@test "ten thousand streams: a frame takes less than 16 ms" {
	service 1
	local i
	for i in {1..10}; do
		spawn "read$i" dsvc-read -q -J "job$i" -t none --sharding data --shards 1000 -e 'range 1_000_000_000 | sleep 10ms'
	done
	serve
	within 90s python3 "$check" many "$url" >&3
}

@test "a dispatcher that goes and comes back is told of" {
	start dispatch dsvc-dispatch -q
	serve
	mkfifo "$BATS_TEST_TMPDIR/said"
	python3 "$check" goes "$url" >"$BATS_TEST_TMPDIR/said" 3>&- &
	local browser=$! fd
	exec {fd}<"$BATS_TEST_TMPDIR/said"
	[ "$(take_lines 1 "$fd")" = live ]
	stop dispatch KILL
	[ "$(take_lines 1 "$fd")" = lost ]
	start again dsvc-dispatch -q
	within 60s cat <&"$fd"
	wait "$browser"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154

load lib/dsvc

# Sets status to the HTTP code, type to its Content-Type and output to its body; headers are KEY:VALUE.
get() { # PATH [METHOD [HEADER...]]
	local all
	all=$(within 20s python3 tests/bats/lib/get.py "$url" "$@") || return
	status=${all%%$'\n'*} all=${all#*$'\n'}
	type=${all%%$'\n'*} output=${all#*$'\n'}
	[[ $all == *$'\n'* ]] || output=
}

serve() { # OPTION...
	start export dsvc-export -l 127.0.0.1:0 "$@"
	url=$ready
}

ready_now() { get /readyz && ((status == 200)); }
not_ready() { get /readyz && ((status == 503)); }
# A worker's next beat may come between the two.
same_metrics() { get /metrics && [ "$output" = "$(dsvc-status --metrics)" ]; }

@test "help and version need nothing; wrong addresses and one that is taken are refused" {
	run -0 dsvc-export --version
	run -0 dsvc-export -h
	run -64 dsvc-export operand
	for l in '' 9464 127.0.0.1 127.0.0.1:x 127.0.0.1:70000 '::1:9' 'http://127.0.0.1:9'; do
		run -64 dsvc-export --listen "$l"
		[[ $output == *"--listen"*"$l"* ]]
	done
	run -69 dsvc-export --listen 192.0.2.1:0
	serve
	run -69 dsvc-export --listen "${url:7:-1}"
	[[ $output == *'another program listens there'* ]]
	stop export
	((status == 0))
	[[ $(<"$BATS_TEST_TMPDIR/export.err") == *"dsvc-export: ready on $url"* ]]
}

@test "each page says what its program says" {
	service 2
	dsvc-read -J 'a "job"' -t none -e 'range 1000'
	serve
	get /
	[[ $status == 200 && $type == 'text/html; charset=utf-8' && $output == '<!DOCTYPE html>'*'</html>' ]]
	get /healthz
	[[ $status == 200 && $output == ok ]]
	get /readyz
	[[ $status == 200 && $output == ok ]]
	get /metrics
	[[ $status == 200 && $type == 'text/plain; version=0.0.4; charset=utf-8' ]]
	until_true 20s same_metrics
	[[ $output == *'dsvc_elements_acknowledged_total{dsvc_job="a \"job\""} 1000'* ]]
	get /v1/status
	[[ $status == 200 && $type == application/json ]]
	[ "$(jq -c '[.workers[].name, .jobs[].name]' <<<"$output")" = "$(dsvc-status --json | jq -c '[.workers[].name, .jobs[].name]')" ]
	get /v1/scale
	[ "$(jq -c '[.workers, .slots, .workers_wanted, .slots_wanted, .slots_usable]' <<<"$output")" = "[2,$(dsvc-status --json | jq .slots),0,0,0]" ]
}

@test "the files of the page are those of the source, and of no other name; a browser loads nothing from elsewhere" {
	serve
	local f kind
	for f in cmd/dsvc-export/page/*; do
		get "/${f##*/}"
		case $f in
		*.html) kind='text/html; charset=utf-8' ;;
		*.css) kind='text/css; charset=utf-8' ;;
		*.js) kind='text/javascript; charset=utf-8' ;;
		*) kind=image/svg+xml ;;
		esac
		[[ $status == 200 && $type == "$kind" && $output == "$(<"$f")" ]]
		run ! grep -iE "(https?:)?//[a-z0-9]|innerHTML|outerHTML|document\.write|eval\(|style=| on[a-z]+=" \
			<(sed 's|http://www.w3.org/2000/svg||; s|^[[:space:]]*//.*||' "$f")
	done
	for f in page.js/ page../page.js ../page.js PAGE.JS page; do
		get "/$f"
		((status == 404))
	done
	within 20s python3 -c 'import sys, urllib.request
h = urllib.request.urlopen(sys.argv[1]).headers
assert h["Content-Security-Policy"].startswith("default-src '\''none'\''; script-src '\''self'\''; "), h
assert h["X-Content-Type-Options"] == "nosniff" and h["Referrer-Policy"] == "no-referrer"' "$url"
}

@test "a pass that is read shows in /v1/scale as in dsvc-status --wanted" {
	service 1
	spawn read dsvc-read -q -J busy -t none -e 'range 1_000_000_000 | sleep 1ms'
	serve
	wants() { get /v1/scale && (($(jq .slots_wanted <<<"$output") > 0)); }
	until_true 20s wants
	[ "$(jq '.slots_busy_ratio >= 0 and .reader_wait_ratio >= 0 and .slots_usable > 0' <<<"$output")" = true ]
	listed() { get /v1/scale && [ "$(jq '.splits_left >= 0 and .splits_left != null' <<<"$output")" = true ]; }
	until_true 20s listed
	(($(dsvc-status --wanted) > 0))
	stop read
}

@test "a pass that waits for its first worker asks for a slot in all that is said of it" {
	start dispatch dsvc-dispatch
	spawn read dsvc-read -q -J early -t none -e 'range 10'
	serve
	wants() { get /v1/scale && (($(jq .slots_wanted <<<"$output") > 0)); }
	until_true 20s wants
	[ "$(jq -c '[.workers, .slots, .slots_wanted, .slots_usable, .splits_left]' <<<"$output")" = '[0,0,1,1,null]' ]
	get /metrics
	[[ $output == *'dsvc_slots_usable{dsvc_job="early"} 1'* && $output == *'dsvc_jobs{state="listing"} 1'* ]]
	stop read
}

@test "clients that know OpenMetrics get it: families without _total, and an end" {
	service 1
	dsvc-read -J one -t none -e 'range 10'
	serve --metrics workers
	get /metrics GET 'Accept:application/openmetrics-text; version=1.0.0, */*;q=0.1'
	[[ $type == 'application/openmetrics-text; version=1.0.0; charset=utf-8' ]]
	[[ $output == *$'\n# TYPE dsvc_elements_lost counter\ndsvc_elements_lost_total{dsvc_job="one"} 0\n'* ]]
	[[ $output == *'dsvc_worker_slots{worker='* && $output == *$'\n# EOF' ]]
	! grep -E '^# .*_total' <<<"$output"
}

@test "only GET and HEAD are answered, only pages that are, and only by names of this machine" {
	serve
	get /nope
	[[ $status == 404 && $output == *$'\n/\n/healthz\n/metrics\n'* ]]
	get /healthz/
	((status == 404))
	get /healthz HEAD
	[[ $status == 200 && -z $output ]]
	for m in POST PUT DELETE OPTIONS; do
		get /healthz $m Content-Length:0
		((status == 405))
	done
	for h in example.org example.org:80 localhost.example.org '[2001:db8::1]' '[' ']' ':' 127.0.0.1.example.org; do
		get /healthz GET "Host:$h"
		((status == 421)) || { echo "$h: $status"; false; }
	done
	for h in localhost 'localhost:1' 127.0.0.1 '[::1]:80'; do
		get /healthz GET "Host:$h"
		((status == 200))
	done
	stop export
	serve -l '*:0'
	[[ $url == http://localhost:* ]]
	get /healthz GET Host:example.org
	((status == 200))
}

@test "a dispatcher that is not there, hangs, is killed or comes back is told of; the process itself is well" {
	serve --connect-timeout 100ms
	not_ready
	[[ $output == "no dispatcher at $endpoint"* ]]
	get /metrics
	[[ $status == 200 && $output == *$'\ndsvc_up 0' ]]
	get /v1/scale
	((status == 503))
	[[ $(jq -r .error <<<"$output") == "no dispatcher at $endpoint"* ]]
	start dispatch dsvc-dispatch
	until_true 20s ready_now
	kill -STOP "${pid[dispatch]}"
	until_true 20s not_ready
	get /readyz &
	local slow=$!
	get /healthz
	((status == 200))
	wait "$slow"
	kill -CONT "${pid[dispatch]}"
	until_true 20s ready_now
	stop dispatch KILL
	until_true 20s not_ready
	start again dsvc-dispatch
	until_true 20s ready_now
}

@test "it ends with standard input, and where its key is refused" {
	run -0 within 20s bash -c 'echo text | dsvc-export -q -l 127.0.0.1:0 --until-stdin-eof'
	run -124 dsvc-export -q -l 127.0.0.1:0 --timeout 100ms
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*'
	local at=$ready
	run -77 --separate-stderr within 20s env XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/other" dsvc-export -q -l 127.0.0.1:0 -d "$at"
	[[ ${stderr_lines[0]} == dsvc-export:*key* ]]
	dsvc-invite read >"$BATS_TEST_TMPDIR/invitation"
	dsvc-join -q "$BATS_TEST_TMPDIR/invitation"
	serve -d "$at"
	until_true 20s ready_now
}

@test "many that ask at once are all answered, over connections that stay and some that say nothing" {
	service 1
	serve
	within 60s python3 tests/bats/lib/ask_often.py "$url"
}

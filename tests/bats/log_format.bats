#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# --log-format json: what servers say is an object a line.

load lib/dsvc

# Each line of a program's standard error is an object as the manual has it.
objects() { # NAME
	jq -es --arg p "dsvc-$1" 'length > 0 and all(.program == $p and .pid > 1
		and (.time | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[.][0-9]{3}Z$"))
		and (.level | IN("error", "warn", "info", "debug")) and (.text | type) == "string")' \
		"$BATS_TEST_TMPDIR/$1.err"
}

@test "dispatcher, worker and exporter say in JSON what they say as text" {
	export DSVC_LOG_FORMAT=json
	start dispatch dsvc-dispatch -v
	start work dsvc-work -v --name 'a "name"'
	start export dsvc-export -l 127.0.0.1:0
	dsvc-read -t none -e 'range 10'
	stop work
	stop export
	stop dispatch
	objects dispatch
	objects work
	objects export
	[ "$(jq -r 'select(.text | startswith("ready on")) | [.program, .level] | join(" ")' "$BATS_TEST_TMPDIR"/{dispatch,work,export}.err)" = \
		$'dsvc-dispatch info\ndsvc-work info\ndsvc-export info' ]
}

@test "an error that ends a server is an object with its help and exit code; one in the command line is text" {
	run -69 --separate-stderr dsvc-work --log-format json --connect-timeout 100ms
	[ "$(jq -c '[.level, .code]' <<<"${stderr_lines[-1]}")" = '["error",69]' ]
	[[ $(jq -r .text <<<"${stderr_lines[-1]}") == "no dispatcher at $endpoint"* ]]
	[[ -n $(jq -r '.help // ""' <<<"${stderr_lines[-1]}") ]]
	run -69 --separate-stderr dsvc-work --connect-timeout 100ms
	[[ ${stderr_lines[0]} == "dsvc-work: no dispatcher at $endpoint"* ]]
	run -64 --separate-stderr dsvc-export --log-format xml
	[[ ${stderr_lines[0]} == "dsvc-export: --log-format: 'xml' is not one of text, json"* ]]
}

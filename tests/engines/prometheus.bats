#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# engines/prometheus: the rules by their own tests, and a Prometheus that reads dsvc-export.

load ../bats/lib/dsvc

rules=$BATS_TEST_DIRNAME/../../engines/prometheus

# Debian's package starts a server when it is installed: the programs alone are taken out of it.
setup_file() {
	type -P promtool prometheus >/dev/null && return
	cd "$BATS_FILE_TMPDIR" && chmod 755 . || return
	apt-get -qq download prometheus >/dev/null 2>&1 && dpkg -x prometheus_*.deb . || :
}

setup() {
	dsvc_setup
	PATH=$PATH:$BATS_FILE_TMPDIR/usr/bin
	type -P promtool prometheus >/dev/null || skip 'there is no prometheus, and it cannot be had'
}

# A service with everything that has metrics.
durable() {
	start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"
	start work1 dsvc-work
}

@test "the rules are right, and say what their tests say" {
	run -0 promtool check rules "$rules/rules.yml"
	run -0 promtool test rules "$rules/rules_test.yml"
	run -0 promtool check config "$rules/prometheus.yml"
	# each alert has a test
	for alert in $(sed -n 's/.*- alert: //p' "$rules/rules.yml"); do
		grep -q "alertname: $alert\$" "$rules/rules_test.yml"
		grep -A3 "alertname: $alert\$" "$rules/rules_test.yml" | grep -q exp_labels
	done
}

@test "the dashboard has every metric that there is, in panels that do not overlap and queries that are right" {
	local dash=$rules/dashboard.json all
	jq -e '[.panels[] | .id] | length == (unique | length)' "$dash"
	jq -e '[.panels[].gridPos | . as $p | range($p.x; $p.x + $p.w) as $x | range($p.y; $p.y + $p.h) as $y | [$x, $y]]
		| length == (unique | length) and all(.[0] < 24)' "$dash"
	jq '{groups: [{name: "dashboard", rules: [.panels[].targets[].expr | {record: "x", expr: (gsub("\\$__rate_interval"; "1m"))}]}]}' \
		"$dash" >"$BATS_TEST_TMPDIR/queries.yml"
	run -0 promtool check rules --lint=none "$BATS_TEST_TMPDIR/queries.yml"
	durable
	dsvc-read -J one -t none -e 'range 10'
	for all in $(dsvc-status --metrics=workers | sed -n 's/^# TYPE \([^ ]*\) .*/\1/p'); do
		[[ $all == dsvc_build_info || $all == dsvc_durable ]] || grep -qE "$all(_bucket)?[^a-z_]" "$dash" || { echo "no panel has $all"; false; }
	done
}

@test "metrics are what promtool wants, and every one that the rules and the dashboard name is there" {
	durable
	dsvc-read -J one -t none -e 'range 10'
	dsvc-status --metrics=workers >"$BATS_TEST_TMPDIR/metrics"
	promtool check metrics <"$BATS_TEST_TMPDIR/metrics"
	for name in $(grep -ohE 'dsvc_[a-z_]+' "$rules/rules.yml" "$rules/dashboard.json" | grep -v '^dsvc_job$' | sort -u); do
		[[ $name != *_seconds_@(bucket|sum|count) ]] || name=${name%_*}
		grep -q "^# TYPE $name " "$BATS_TEST_TMPDIR/metrics" || { echo "there is no $name"; false; }
	done
}

@test "a Prometheus reads dsvc-export, and sees the dispatcher go" {
	service 1
	start export dsvc-export -l 127.0.0.1:0
	sed "s/127.0.0.1:9464/${ready:7:-1}/; s/scrape_interval: 15s/scrape_interval: 200ms/" "$rules/prometheus.yml" \
		>"$BATS_TEST_TMPDIR/prometheus.yml"
	cp "$rules/rules.yml" "$BATS_TEST_TMPDIR"
	spawn prometheus prometheus --config.file="$BATS_TEST_TMPDIR/prometheus.yml" --web.listen-address=127.0.0.1:0 \
		--storage.tsdb.path="$BATS_TEST_TMPDIR/data"
	local log=$BATS_TEST_TMPDIR/prometheus.err
	until_true 20s grep -q 'msg="Listening on"' "$log"
	local at
	at=http://$(sed -n 's/.*msg="Listening on" address=\(.*\)/\1/p' "$log")
	sees() { # QUERY VALUE
		[[ $(promtool query instant "$at" "$1") == *"=> $2 @"* ]]
	}
	until_true 20s sees dsvc_up 1
	until_true 20s sees 'dsvc_workers{state="live"}' 1
	until_true 20s sees 'up{job="dsvc"}' 1
	stop dispatch KILL
	until_true 20s sees dsvc_up 0
	# It answers still; on a loaded machine not each time within the interval.
	until_true 20s sees 'up{job="dsvc"}' 1
}

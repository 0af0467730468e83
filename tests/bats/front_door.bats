#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `dsvc VERB`, and a service in the background: dsvc up, dsvc stop.

load lib/dsvc

setup() {
	dsvc_setup
	export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
}

# What the service of a test has is in its folders alone, so a failed test leaves nothing.
teardown() {
	dsvc-stop -q --now
	dsvc_teardown
}

processes() { pgrep -f "^[^ ]*/dsvc-(dispatch|work) .*$sockets" || :; }
is_gone() {
	[[ ! -e $sockets/dsvc ]]
	[[ ! $(processes) ]]
}

@test "a verb is the program of that name, with its arguments and exit code" {
	run -0 dsvc run 'range 3'
	[[ $output == $'0\n1\n2' ]]
	run -65 dsvc run 'range 3 | mop x'
	run -0 bash -c 'dsvc --list | sort -c; dsvc --list'
	local verb
	for verb in dispatch exec-test feed read register run status up stop; do
		[[ $'\n'$output$'\n' == *$'\n'$verb$'\n'* ]]
	done
	for verb in $output; do
		[[ $(dsvc "$verb" --version | head -n 1) == "dsvc-$verb "* ]]
	done
}

@test "a program of one's own on PATH is a verb" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho "mine: $*"; exit 7\n' >"$BATS_TEST_TMPDIR/bin/dsvc-mine"
	chmod +x "$BATS_TEST_TMPDIR/bin/dsvc-mine"
	touch "$BATS_TEST_TMPDIR/bin/dsvc-cannot"
	PATH=$PATH:$BATS_TEST_TMPDIR/bin run -7 dsvc mine -x 'a b' --help
	[[ $output == 'mine: -x a b --help' ]]
	PATH=$PATH:$BATS_TEST_TMPDIR/bin run -0 dsvc --list
	[[ $output == *mine* && $output != *cannot* ]]
}

@test "a verb that does not exist is refused, with what was meant" {
	run -64 dsvc red x
	[[ $output == *'no verb `red`'*'`read`'* ]]
	run -64 dsvc quite-another
	[[ $output == *'dsvc --list'* ]]
	run -64 dsvc ../bin/dsvc-run
	run -64 dsvc ''
	run -64 dsvc --lst
}

@test "help: all verbs, one, an operator, a function, a word" {
	local verb all
	all=$(dsvc)
	for verb in $(dsvc --list); do
		[[ $all == *"  $verb "* ]]
	done
	# What it says of each is what the manual says.
	[[ $all == *"$(sed -n 's/^\.Nd //p' man/dsvc-status.1)"* ]]
	[[ $(dsvc help) == "$all" ]]
	MANPATH=/nowhere run -0 dsvc help up
	[[ $output == *dsvc-up* ]]
	run -0 dsvc help take
	[[ $output == 'take: '* ]]
	run -0 dsvc help sqrt
	run -64 dsvc help nothing-of-it
	run -0 dsvc help -k SHUFFL
	[[ $output == *shuffle* ]]
	# A call of one operator only, and a word of a description.
	run -0 dsvc help quantile
	[[ $output == 'quantile(EXPR, Q): '*group_by* ]]
	run -0 dsvc help count
	[[ $output == 'count: '*'count([EXPR]): '* ]]
	run -0 dsvc help -k quantile
	[[ $output == *'quantile(EXPR, Q) '*'stats '*'group_by '* ]]
	run -0 dsvc help -k time
	((${#lines[@]} > 5))
	run ! grep -E '.{81}|	' <<<"$output"
	run -1 dsvc help -k qqqqq
	[[ ! $output ]]
	run -64 dsvc help -k
	run -64 dsvc help take skip
}

@test "up starts a service that is ready when it returns, and stop leaves nothing of it" {
	run -0 dsvc up --workers 2 -j 1
	[[ $output == *"2 workers with 2 slots"*"dsvc stop"* ]]
	[[ $(dsvc read -t count -e 'range 1000') == 1000 ]]
	run -0 dsvc up
	[[ $output == *"running already"*"2 workers"* ]]
	run -0 dsvc up --workers 3 -j 1
	[[ $output == *"3 workers with 3 slots"* ]]
	run -0 dsvc stop
	[[ $output == *"a dispatcher, 3 workers and 0 readers"* ]]
	is_gone
	run -0 dsvc stop
	[[ $output == *"nothing is running"* ]]
	run -69 dsvc read -e 'range 3'
	[[ $output == *'`dsvc up`'* ]]
	run -69 dsvc register 'range 3'
	[[ $output == *'`dsvc up`'* ]]
	run -69 dsvc read -d "ipc://$sockets/other" -e 'range 3'
	[[ $output != *'`dsvc up`'* ]]
}

@test "several calls at once start one service" {
	local i
	for i in 1 2 3 4; do
		spawn "up$i" dsvc-up
	done
	for i in 1 2 3 4; do
		reap "up$i" 60
		((status == 0))
	done
	[[ $(processes | wc -l) == 2 ]]
	run -0 dsvc stop
	is_gone
}

@test "stop ends what was started by hand, also what stands still, and what is not answering" {
	service 2
	spawn read dsvc-read -o "$BATS_TEST_TMPDIR/o" -J stand -e 'counter | sleep 10ms'
	until_true 30s bash -c "dsvc-status --json | jq -e '.readers | length == 1'"
	kill -STOP "${pid[work2]}"
	run -0 dsvc stop --grace 2s
	[[ $output == *"a dispatcher, 2 workers and 1 reader"* ]]
	reap read
	((status == 75 || status == 143))
	is_gone
	reap work1
	reap work2
	reap dispatch
	((status == 0))
}

@test "stop --now kills, and takes the sockets away" {
	service 1
	run -0 dsvc stop --now
	is_gone
	reap dispatch
	((status == 137))
	run -64 dsvc stop --now --drain
	run -64 dsvc stop all
}

@test "stop removes what a killed service has left" {
	service 1
	stop work1 KILL
	stop dispatch KILL
	[[ -e $sockets/dsvc/dispatch ]]
	run -0 dsvc stop
	is_gone
}

@test "stop --wait lets readers read to the end" {
	service 1
	spawn read dsvc-read -o "$BATS_TEST_TMPDIR/o" -e 'range 300 | sleep 5ms'
	until_true 30s bash -c "dsvc-status --json | jq -e '.readers | length == 1'"
	run -0 dsvc stop --wait
	reap read
	((status == 0))
	[[ $(wc -l <"$BATS_TEST_TMPDIR/o") == 300 ]]
	is_gone
}

@test "up --state keeps the state, and drained workers have delivered" {
	run -0 dsvc up --state
	[[ $output == *"with a state"* ]]
	[[ -d $XDG_STATE_HOME/dsvc/state ]]
	dsvc register --id mine 'range 7'
	run -0 dsvc stop --drain
	is_gone
	run -0 dsvc up --state
	[[ $(dsvc read -t count mine) == 7 ]]
	dsvc stop
	run -0 dsvc up
	run -75 dsvc up --state
	[[ $output == *'`dsvc stop`'* ]]
	run -0 dsvc stop
}

@test "a program that does not come up is told with its words, and nothing is left running" {
	DSVC_MEMORY=nonsense run -64 dsvc up
	[[ $output == *nonsense*"work-1.log"* ]]
	until_true 10s is_gone
	run -64 dsvc up --workers 0
	run -64 dsvc up now
	HOME='' XDG_STATE_HOME='' run -78 dsvc up
	is_gone
}

@test "one service, whether the session's folder is told or found" {
	# Another /run for this test alone.
	run -69 unshare -rm bash -c 'mount -t tmpfs none /run && mkdir -p -m 700 /run/user/0 &&
		unset XDG_RUNTIME_DIR && dsvc read -e "range 3"'
	[[ $output == *"ipc:///run/user/0/dsvc/dispatch"* ]]
	# One that others can enter is not taken.
	run -69 unshare -rm bash -c 'mount -t tmpfs none /run && mkdir -p -m 755 /run/user/0 &&
		unset XDG_RUNTIME_DIR && TMPDIR=/tmp/none dsvc read -e "range 3"'
	[[ $output == *"ipc:///tmp/none/dsvc-0/dispatch"* ]]
}

@test "a context stands for an address, by option, by variable, and when in use" {
	start one dsvc-dispatch -b "$(free_ipc one)"
	start two dsvc-dispatch -b "$(free_ipc two)"
	dsvc-register -d "$(free_ipc one)" --id first 'range 1'
	dsvc-register -d "$(free_ipc two)" --id second 'range 2'
	dsvc context set a "$(free_ipc one)"
	dsvc context set b "$(free_ipc two)"
	ids() { dsvc-status --json "$@" | jq -r '.datasets[].id'; }
	[[ $(ids -c a) == first && $(ids -c b) == second ]]
	[[ $(DSVC_CONTEXT=b ids) == second ]]
	[[ $(DSVC_CONTEXT=b ids -c a) == first ]]
	[[ $(DSVC_DISPATCHER=$(free_ipc one) DSVC_CONTEXT=b ids) == first ]]
	[[ $(DSVC_DISPATCHER=$(free_ipc one) ids -c b) == second ]]
	run -69 dsvc-status
	dsvc context use b
	[[ $(ids) == second ]]
	[[ $(ids -d "$(free_ipc one)") == first ]]
	[[ $(DSVC_CONTEXT='' ids) == second ]]
	run -0 dsvc context
	[[ $output == $'  a '*$'\n''* b '* ]]
	[[ $(dsvc context --names) == $'a\nb' ]]
	[[ $(dsvc config | head -n 1) == dispatcher*"$(free_ipc two)"*'the context b' ]]
	dsvc context use -
	run -69 dsvc-status
	dsvc context use b
	dsvc context remove b a
	run -69 dsvc-status
	run -0 dsvc context list
	[[ ! $output ]]
	run -0 find "$XDG_CONFIG_HOME/dsvc" -type f
	[[ ! $output ]]
}

@test "every program that speaks to a dispatcher takes a context" {
	local program
	for program in "$B"/bin/dsvc-*; do
		[[ $("$program" --help) == *'--dispatcher'* ]] || continue
		[[ $program != *-invite ]] || continue # it is about one's own
		[[ $("$program" --help) == *'--context'* ]]
	done
	run -66 dsvc-run -c nowhere 'range 1 | distribute'
	run -66 dsvc-save -c nowhere -e 'range 1' "$BATS_TEST_TMPDIR/d"
	run -66 dsvc-register -c nowhere 'range 1'
	run -66 dsvc-feed -c nowhere --batch 1 -e 'range 1' -- true
	run -66 dsvc-forget -c nowhere job
	run -66 dsvc-read -c nowhere -e 'range 1'
	run -66 dsvc-work -c nowhere
	run -66 dsvc-status -c nowhere
	run -64 dsvc-read -c a -d b:5 -e 'range 1'
}

@test "contexts: bad names, bad addresses, files that others can write" {
	local bad
	for bad in '' ../x a/b .x "$(printf 'x%.0s' {1..65})" 'a b'; do
		run -64 dsvc context set "$bad" tcp://h:5
	done
	run -64 dsvc context set a @file
	run -64 dsvc context set a tcp://h
	run -64 dsvc context set a
	run -64 dsvc context use
	run -64 dsvc context choose a
	run -66 dsvc context use a
	run -66 dsvc context remove a
	dsvc context set a tcp://h:5
	[[ $(stat -c %a "$XDG_CONFIG_HOME/dsvc/context/a") == 600 ]]
	chmod 666 "$XDG_CONFIG_HOME/dsvc/context/a"
	run -78 dsvc-status -c a
}

@test "config shows each setting with its origin, and variables that nothing heeds" {
	DSVC_SLOTS=4 DSVC_WORK_MEMORY=64M DSVC_SLOTZ=5 run -0 dsvc config
	[[ $output == *"DSVC_SLOTS "*"4 "*"heeded by up, work"* ]]
	[[ $output == *"DSVC_SLOTZ "*"heeded by no verb"* ]]
	[[ $output == *"DSVC_WORK_MEMORY "*"heeded by work"* ]]
	run -0 bash -c "DSVC_DISPATCHER=h:7 dsvc config --json | jq -r '.dispatcher | .value, .from'"
	[[ $output == $'tcp://h:7\nDSVC_DISPATCHER' ]]
	run -64 dsvc config all
}

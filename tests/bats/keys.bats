#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Keys, invitations and roles: two users, `a` with the dispatcher and `b`, each with folders of
# their own, on one machine.

load lib/dsvc

setup() {
	dsvc_setup
	mkdir -m 700 "$sockets/b"
}
teardown() { dsvc_teardown; }

# A command of the other user.
b() { XDG_RUNTIME_DIR=$sockets/b XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/b "$@"; }
allowed=allowed

dispatcher() { # ARG...
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*' "$@"
	at=$ready
	allowed=$XDG_CONFIG_HOME/dsvc/allowed
}

join() { # ROLES
	dsvc-invite "$1" --name ada >"$BATS_TEST_TMPDIR/invitation"
	b dsvc-join -q "$BATS_TEST_TMPDIR/invitation"
}

@test "two commands make a service of two machines" {
	dispatcher
	dsvc-invite work >"$BATS_TEST_TMPDIR/invitation"
	b start work dsvc-work --join "$BATS_TEST_TMPDIR/invitation" --name there
	grep -q "^dsvc-work: joined $at as [^ ]* (key [a-z2-7]\{6\}…), may: work$" "$BATS_TEST_TMPDIR/work.err"
	run -0 --separate-stderr dsvc-read -q --order source -e 'range 3'
	[[ $output == $'0\n1\n2' ]]
	[[ $(stat -c %a "$BATS_TEST_TMPDIR/b/dsvc/key" "$BATS_TEST_TMPDIR/b/dsvc/services" "$allowed") == $'600\n600\n600' ]]
}

@test "who joined need say nothing more" {
	dispatcher
	start work dsvc-work
	join user
	run -0 --separate-stderr b dsvc-read -q --order source -e 'range 3'
	[[ $output == $'0\n1\n2' ]]
	run -0 b dsvc-register -q -e 'range 4'
	run -0 b dsvc-read -q -t count "$output"
	[[ $output == 4 ]]
}

@test "an invitation is good once, and not when it has ended" {
	dispatcher
	join read
	run -77 --separate-stderr b dsvc-join "$BATS_TEST_TMPDIR/invitation"
	[ "${stderr_lines[0]}" = 'dsvc-join: the invitation was used' ]
	[ "${stderr_lines[1]}" = '  help: ask for another one' ]
	XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/c run -77 --separate-stderr dsvc-join "$BATS_TEST_TMPDIR/invitation"
	[ "${stderr_lines[0]}" = 'dsvc-join: the invitation was used' ]
	dsvc-invite read --from 10.0.0.0/8 >"$BATS_TEST_TMPDIR/elsewhere"
	run -77 b dsvc-join "$BATS_TEST_TMPDIR/elsewhere"
	[[ $output == *'for another address'* ]]
	dsvc-invite read --for 1s --from 10.0.0.0/8 >"$BATS_TEST_TMPDIR/late"
	until_true 5s late
	# a key that is known may get another role, from where the invitation says
	dsvc-invite work --from 127.0.0.0/8 >"$BATS_TEST_TMPDIR/more"
	run -0 b dsvc-join "$BATS_TEST_TMPDIR/more"
	[[ $(dsvc-allow) == 'read,work '* ]]
}
late() {
	XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/c$RANDOM dsvc-join "$BATS_TEST_TMPDIR/late" 2>"$BATS_TEST_TMPDIR/late.err" && return 2
	grep -q 'the invitation ended at ' "$BATS_TEST_TMPDIR/late.err"
}

@test "a line that is cut, or no invitation, is 65, and an argument is never one" {
	dispatcher
	dsvc-invite read >"$BATS_TEST_TMPDIR/invitation"
	run -65 b dsvc-join <<<'hello'
	[[ $output == *'this is not an invitation'* ]]
	head -c 150 "$BATS_TEST_TMPDIR/invitation" >"$BATS_TEST_TMPDIR/cut"
	run -65 b dsvc-join "$BATS_TEST_TMPDIR/cut"
	run -64 b dsvc-join "$(<"$BATS_TEST_TMPDIR/invitation")"
	[[ $output == *'a secret'* ]]
	run -66 b dsvc-join "$BATS_TEST_TMPDIR/nothing"
}

@test "strangers get nothing, and are told whom to ask" {
	dispatcher
	b dsvc-keygen >"$BATS_TEST_TMPDIR/key"
	run -77 --separate-stderr b dsvc-read -d "$at" -e 'range 3'
	[ "${stderr_lines[0]}" = "dsvc-read: $at wants a key" ]
	local key
	key=$(dsvc-keygen --show)
	(umask 077; echo "$at $key" >"$BATS_TEST_TMPDIR/b/dsvc/services")
	run -77 --separate-stderr b dsvc-read -e 'range 3'
	[ "${stderr_lines[0]}" = "dsvc-read: $at does not know this key $(<"$BATS_TEST_TMPDIR/key")" ]
	[ "${stderr_lines[1]}" = '  help: ask for an invitation: dsvc-invite read,register, on 127.0.0.1' ]
	run -77 b dsvc-work -d "$at"
	run -77 b dsvc-status
}

@test "a service with another key than before is not believed" {
	dispatcher
	join read
	stop dispatch
	rm "$XDG_CONFIG_HOME/dsvc/key"
	start again dsvc-dispatch -b "$at"
	run -77 --separate-stderr within 10s b dsvc-status
	[[ ${stderr_lines[0]} == "dsvc-status: the service at $at has not the key "*…' that it had before' ]]
	dsvc-invite work >"$BATS_TEST_TMPDIR/invitation"
	run -77 --separate-stderr b dsvc-work --join "$BATS_TEST_TMPDIR/invitation"
	[[ ${stderr_lines[0]} =~ "the service at $at has the key "[a-z2-7]+…", not "[a-z2-7]+…" as before"$ ]]
	[ "${stderr_lines[1]}" = '  help: if it was set up anew: dsvc-join' ]
	run -0 b dsvc-join "$BATS_TEST_TMPDIR/invitation"
	run -0 b dsvc-status --json
}

@test "an address whose key is known is never spoken to without it" {
	dispatcher
	join read
	stop dispatch
	start again dsvc-dispatch --insecure -b "$at"
	run -77 --separate-stderr b dsvc-status --insecure
	# Either end may be the first to hang up.
	[[ ${stderr_lines[0]} == "dsvc-status: $at speaks without keys, and not with the key "*' as before' ||
		${stderr_lines[0]} == "dsvc-status: the service at $at has not the key "* ]]
}

@test "a role may say what is its own and nothing else" {
	dispatcher
	start work dsvc-work
	local id
	id=$(dsvc-register -q -e 'range 3')
	join read
	run -0 --separate-stderr b dsvc-read -q -t count "$id"
	[[ $output == 3 ]]
	run -77 b dsvc-read -e 'range 5'
	[[ $output == *'this key may: read; a pipeline needs the role register'* ]]
	run -77 b dsvc-register -e 'range 5'
	[[ $output == *'this key may: read; REGISTER is not for it'* ]]
	run -77 b dsvc-work
	[[ $output == *'this key may: read; a worker needs the role work'* ]]
	run -77 b dsvc-forget --dataset "$id"
	run -77 b dsvc-invite -d "$at" admin
	dsvc-allow --add "$(b dsvc-keygen --show)" admin ada
	until_true 5s b dsvc-invite -q -d "$at" read
	run -0 b dsvc-forget --dataset "$id"
	dsvc-allow --add "$(b dsvc-keygen --show)" work ada
	until_true 5s may_not_read
}
may_not_read() {
	b dsvc-read -q "-e" 'range 1' 2>"$BATS_TEST_TMPDIR/err" && return 1
	grep -q 'this key may: work; a reader needs the role read' "$BATS_TEST_TMPDIR/err"
}

@test "who is no admin sees no jobs of others" {
	dispatcher
	start work dsvc-work
	run -0 dsvc-read -q -J mine -e 'range 3'
	join user
	run -0 b dsvc-read -q -J theirs -e 'range 4'
	run -0 b dsvc-status --json
	[[ $(jq -c '[.jobs[].name, .datasets]' <<<"$output") == '["theirs",[]]' ]]
	[[ $(dsvc-status --json | jq -c '[.jobs[].name]|sort') == '["mine","theirs"]' ]]
}

@test "options of a key: jobs by name, addresses, and a last day" {
	dispatcher
	start work dsvc-work
	join user
	local key
	key=$(b dsvc-keygen --show)
	dsvc-allow --add "$key" 'user,jobs=train-*' ada
	until_true 5s refused_job
	run -0 b dsvc-read -q -t count -J train-1 -e 'range 3'
	dsvc-allow --add "$key" user,from=10.0.0.0/8 ada
	until_true 5s refused_key
	dsvc-allow --add "$key" user ada
	until_true 5s b dsvc-status -q
	dsvc-allow --add "$key" user,until=2020-01-01 ada
	until_true 5s refused_key
}
refused_job() { ! b dsvc-read -q -e 'range 3' 2>"$BATS_TEST_TMPDIR/err" && grep -q 'but only read jobs' "$BATS_TEST_TMPDIR/err"; }
refused_key() { ! b dsvc-status 2>"$BATS_TEST_TMPDIR/err" && grep -q 'does not know this key' "$BATS_TEST_TMPDIR/err"; }

@test "only what a key with the option exec gives runs programs, as far as workers allow it" {
	dispatcher
	start work dsvc-work --allow-exec cat
	join user
	local key id
	key=$(b dsvc-keygen --show)
	run -77 --separate-stderr b dsvc-read -q -e 'range 3 | exec -- cat'
	[[ ${stderr_lines[0]} == *'the key that gave the pipeline may not have programs run (operator 2 `exec -- cat`)'* ]]
	[[ ${stderr_lines[1]} == *'help: '*'dsvc-allow --add KEY ROLES,exec NAME'* ]]
	id=$(b dsvc-register -q -e 'range 3 | exec -- cat')
	dsvc-allow --add "$key" user,exec ada
	until_true 5s runs_programs
	run -0 b dsvc-read -q -t count "$id"
	[ "$output" = 3 ]
	run -77 b dsvc-read -q -e 'range 3 | exec -- tac'
	dsvc-allow --add "$key" read ada
	until_true 5s runs_none
	run -0 dsvc-read -q -t count -e 'range 3 | exec -- cat'
	run -0 b dsvc-read -q -t count "$id"
	run -64 dsvc-invite exec
	dsvc-invite read,exec >"$BATS_TEST_TMPDIR/more"
	run -0 --separate-stderr b dsvc-join "$BATS_TEST_TMPDIR/more"
	[[ $output$stderr == *'may: read,exec'* ]]
}
runs_programs() { b dsvc-read -q -t count -e 'range 3 | exec -- cat'; }
runs_none() { ! b dsvc-read -q "$id" 2>"$BATS_TEST_TMPDIR/err" && grep -q 'may not have programs run' "$BATS_TEST_TMPDIR/err"; }

@test "a key struck out in the middle of a pass is gone within a second, and others get its elements" {
	dispatcher
	start work dsvc-work
	join user
	mkfifo "$BATS_TEST_TMPDIR/out"
	exec 6<>"$BATS_TEST_TMPDIR/out"
	b spawn away dsvc-read -J job -o "$BATS_TEST_TMPDIR/out" -e 'range 3_000_000'
	read -r -t "$patience" -u 6 _
	dsvc-read -q -J job -t count -e 'range 3_000_000' >"$BATS_TEST_TMPDIR/rest" 3>&- 6>&- &
	local other=$!
	echo "$other" >>"$BATS_TEST_TMPDIR/pids"
	until_true 10s two_readers
	dsvc-allow --remove ada
	until_true 2s one_reader
	within 20s tail --pid="$other" -f /dev/null
	# What it had written and said so is not read again: a pipe may take a mebibyte.
	(($(<"$BATS_TEST_TMPDIR/rest") > 2000000))
	cat <&6 >/dev/null 3>&- &
	echo "$!" >>"$BATS_TEST_TMPDIR/pids"
	exec 6>&-
	reap away 10
	((status == 77))
	grep -q "^dsvc-read: $at does not know this key" "$BATS_TEST_TMPDIR/away.err"
	dsvc-status --audit job
}
readers() { dsvc-status --json | jq '.readers | length'; }
two_readers() { [[ $(readers) == 2 ]]; }
one_reader() { (($(readers) < 2)); }

@test "a worker that is struck out ends with 77, and others go on" {
	dispatcher
	dsvc-invite work --name far >"$BATS_TEST_TMPDIR/invitation"
	b start far dsvc-work --join "$BATS_TEST_TMPDIR/invitation"
	start near dsvc-work
	mkfifo "$BATS_TEST_TMPDIR/out"
	exec 6<>"$BATS_TEST_TMPDIR/out"
	spawn read dsvc-read -o "$BATS_TEST_TMPDIR/out" -e 'range 300000'
	read -r -t "$patience" -u 6 _
	dsvc-allow --remove far
	reap far 5
	((status == 77))
	run -0 within 20s head -n 299999 <&6
	[[ $(sort -un <<<"$output" | wc -l) == 299999 ]]
	reap read
	((status == 0))
}

@test "a key struck out while the dispatcher is down is out after its restart, and its elements go to others" {
	dispatcher --state "$BATS_TEST_TMPDIR/state"
	local known=(--state "$BATS_TEST_TMPDIR/state") other
	start work dsvc-work
	dsvc-invite work --name far >"$BATS_TEST_TMPDIR/invitation"
	XDG_RUNTIME_DIR=$sockets/b XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/far start far dsvc-work --join "$BATS_TEST_TMPDIR/invitation"
	join user
	mkfifo "$BATS_TEST_TMPDIR/out"
	exec 6<>"$BATS_TEST_TMPDIR/out"
	b spawn away dsvc-read -J job -o "$BATS_TEST_TMPDIR/out" -e 'range 3_000_000'
	read -r -t "$patience" -u 6 _
	stop dispatch KILL
	dsvc-allow "${known[@]}" --remove ada
	dsvc-allow "${known[@]}" --remove far
	start again dsvc-dispatch -b "$at" "${known[@]}"
	# Neither is waited for.
	[[ $(dsvc-status --json | jq -c '[(.readers | length), (.workers | length) < 2]') == '[0,true]' ]]
	dsvc-read -q -J job -t count -e 'range 3_000_000' >"$BATS_TEST_TMPDIR/rest" 3>&- 6>&- &
	other=$!
	echo "$other" >>"$BATS_TEST_TMPDIR/pids"
	reap far 10
	((status == 77))
	within 20s tail --pid="$other" -f /dev/null
	(($(<"$BATS_TEST_TMPDIR/rest") > 2000000))
	cat <&6 >/dev/null 3>&- &
	echo "$!" >>"$BATS_TEST_TMPDIR/pids"
	exec 6>&-
	reap away 10
	((status == 77))
	dsvc-status --audit job
}

@test "no secret stands in ps, environments, logs or the state" {
	dispatcher --state "$BATS_TEST_TMPDIR/state"
	allowed=$BATS_TEST_TMPDIR/state/allowed
	dsvc-invite work --uses 2 >"$BATS_TEST_TMPDIR/invitation"
	local secret
	secret=$(sed 's/.*\.\([a-z2-7]*\) .*/\1/' "$BATS_TEST_TMPDIR/invitation")
	[[ ${#secret} == 26 ]]
	b start work dsvc-work -v --join - <"$BATS_TEST_TMPDIR/invitation" || :
	b start work dsvc-work -v --join "$BATS_TEST_TMPDIR/invitation"
	run ! grep -rqa "$secret" "$BATS_TEST_TMPDIR/state" "$BATS_TEST_TMPDIR"/*.err "$BATS_TEST_TMPDIR/b"
	run ! grep -qa "$secret" "/proc/${pid[work]}/cmdline" "/proc/${pid[work]}/environ" "/proc/${pid[dispatch]}/cmdline"
	run ! grep -rqaF "$(sed -n 's/.*secret-key = "\(.*\)"/\1/p' "$BATS_TEST_TMPDIR/b/dsvc/key")" "$BATS_TEST_TMPDIR/state" "$BATS_TEST_TMPDIR"/*.err
	[[ $(stat -c %a "$BATS_TEST_TMPDIR/state/invitations") == 600 ]]
}

@test "an invitation outlives the dispatcher that keeps a state" {
	dispatcher --state "$BATS_TEST_TMPDIR/state"
	dsvc-invite user >"$BATS_TEST_TMPDIR/invitation"
	stop dispatch KILL
	start again dsvc-dispatch -b "$at" --state "$BATS_TEST_TMPDIR/state"
	run -0 b dsvc-join "$BATS_TEST_TMPDIR/invitation"
	run -0 dsvc-allow --state "$BATS_TEST_TMPDIR/state"
	[[ $output == 'read,register '* ]]
}

@test "files that others can read are refused with 78" {
	dispatcher
	join user
	chmod 644 "$BATS_TEST_TMPDIR/b/dsvc/key"
	run -78 --separate-stderr b dsvc-status
	[ "${stderr_lines[0]}" = "dsvc-status: $BATS_TEST_TMPDIR/b/dsvc/key can be read by others (0644)" ]
	[ "${stderr_lines[1]}" = "  help: chmod 600 $BATS_TEST_TMPDIR/b/dsvc/key" ]
	chmod 600 "$BATS_TEST_TMPDIR/b/dsvc/key"
	run -0 b dsvc-status --json
	chmod 644 "$allowed"
	until_true 5s refused_key
	grep -q 'nobody is let in over TCP' "$BATS_TEST_TMPDIR/dispatch.err"
	stop dispatch
	run -78 dsvc-dispatch -b "$at"
}

@test "three connections that guess ids do not come past the keys" {
	dispatcher
	start work dsvc-work
	run -1 python3 "$BATS_TEST_DIRNAME/lib/peer.py" rid "$at" 1804289383
	run -0 --separate-stderr dsvc-read -q -t count -e 'range 3'
	[[ $output == 3 ]]
}

@test "handshakes with keys that are wrong in any way break neither dispatcher nor worker" {
	dispatcher
	dsvc-invite work >"$BATS_TEST_TMPDIR/invitation"
	b start work dsvc-work --join "$BATS_TEST_TMPDIR/invitation"
	local there
	for there in "$at" "$ready"; do
		run -0 within 60s python3 "$BATS_TEST_DIRNAME/lib/peer.py" curve "$there" 7 200
	done
	run -0 --separate-stderr dsvc-read -q -t count -e 'range 3'
	[[ $output == 3 ]]
	kill -0 "${pid[dispatch]}"
	kill -0 "${pid[work]}"
}

@test "dsvc-keygen makes a key once" {
	run -66 dsvc-keygen --show
	run -0 dsvc-keygen
	local key=$output
	[[ $key =~ ^[a-z2-7]{52}$ ]]
	run -78 dsvc-keygen
	run -0 dsvc-keygen --show
	[ "$output" = "$key" ]
	run -0 dsvc-keygen -o "$BATS_TEST_TMPDIR/robot" --name robot
	[ "$output" != "$key" ]
	grep -q 'name = "robot"' "$BATS_TEST_TMPDIR/robot"
	[[ $(stat -c %a "$BATS_TEST_TMPDIR/robot") == 600 ]]
	run -64 dsvc-keygen --name 'two words'
}

@test "dsvc-allow refuses what is none" {
	run -64 dsvc-allow --add short read
	run -64 dsvc-allow --add "$(dsvc-keygen)" frob
	[[ $output == *'unknown role'* ]]
	run -66 dsvc-allow --remove nobody
	run -64 dsvc-allow surplus
	(umask 077; echo nonsense >"$XDG_CONFIG_HOME/dsvc/allowed")
	run -78 dsvc-allow
	[[ $output == *'line 1'* ]]
}

@test "a key has 64 shards for each slot, over tcp and not on the private socket" {
	dispatcher
	start work dsvc-work -j 1
	join user
	run -75 --separate-stderr b dsvc-read --order stable --shards 65 -e 'range 100'
	[ "${stderr_lines[0]}" = 'dsvc-read: too many shards: 65, where the workers have 1 slot' ]
	[[ ${stderr_lines[1]} == '  help: '*'64 shards a slot'* ]]
	run -0 b dsvc-read -q -t count --order stable --shards 64 -e 'range 100'
	run -0 dsvc-read -q -t count --order stable --shards 65 -e 'range 100'
}

@test "a program that has a key leaves no core file" {
	cd "$BATS_TEST_TMPDIR"
	run -0 --separate-stderr python3 "$BATS_TEST_DIRNAME/lib/core.py" dsvc-dispatch -q -b "$(free_ipc clear)"
	[[ $output == yes ]] || return 0 # nor does one without a key, on this machine
	run -0 --separate-stderr python3 "$BATS_TEST_DIRNAME/lib/core.py" dsvc-dispatch -q -b 'tcp://127.0.0.1:*'
	[[ $output == no ]]
	dispatcher
	dsvc-invite work >invitation
	run -0 --separate-stderr b python3 "$BATS_TEST_DIRNAME/lib/core.py" dsvc-work -q --join invitation
	[[ $output == no ]]
}

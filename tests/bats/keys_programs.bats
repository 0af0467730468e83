#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Each program that speaks to a dispatcher over TCP, with keys, without, and with --insecure.
# A new one must get a row in words_of.

load lib/dsvc

setup() {
	dsvc_setup
	mkdir -m 700 "$sockets/b"
}
teardown() { dsvc_teardown; }

b() { XDG_RUNTIME_DIR=$sockets/b XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/b "$@"; }

# Programs that take -d and may find nobody there, by their own help.
speakers() {
	local program help
	for program in "$B"/bin/dsvc*; do
		[[ $program != */dsvc-export ]] || continue # it goes on: dsvc-export.bats
		help=$("$program" --help)
		if [[ $help == *--dispatcher* && $help == *$'\n   69  '* ]]; then
			echo "${program##*/}"
		fi
	done
}

# Sets ${words[@]} to arguments with which a program has something to do, and ends.
words_of() { # PROGRAM
	case $1 in
	dsvc-read) words=(-q -e 'range 3') ;;
	dsvc-run) words=('range 3 | distribute') ;;
	dsvc-register) words=(-q --id numbers -e 'range 3') ;;
	dsvc-forget) words=(-q --dataset numbers) ;;
	dsvc-feed) words=(-q -e 'range 3' --as ndjson -- cat) ;;
	dsvc-save) words=(-q --overwrite -e 'range 3' "$BATS_TEST_TMPDIR/saved") ;;
	dsvc-status | dsvc-events | dsvc-why | dsvc-stop) words=(-q) ;;
	dsvc-top) words=(-q -n 1) ;;
	dsvc-tap) words=(-q -n 1 busy) ;;
	dsvc-invite) words=(-q read) ;;
	dsvc-work) words=(-q --drain-timeout 0 --until-stdin-eof) ;;
	*) echo "no row for $1" >&2; return 1 ;;
	esac
}

# Runs each with a key or option in front of its words; forget comes after register, and stop at the end.
each() { # STATUS WORD...
	local program words code=$1
	shift
	for program in $(speakers | sed '/forget/d; /stop/d') dsvc-forget dsvc-stop; do
		words_of "$program"
		run --separate-stderr within 20s b "$program" "$@" "${words[@]}" </dev/null
		if ((status != code)); then
			echo "$program: $status, not $code: $stderr"
			return 1
		fi
		each_is "$program"
	done
}

# A pass that is under way, for those that look at one.
busy() { # OPTION...
	spawn busy b dsvc-read -q -J busy --sharding dynamic --shards 1 -t none "$@" -e 'range 1_000_000_000 | sleep 1ms'
	until_true 20s b dsvc-tap -q -n 1 "$@" busy
}

@test "those that read or save pipelines take --join, and all that need no key --insecure" {
	local program all lack=()
	for program in $(speakers); do
		all=$("$program" --help)
		[[ $program == dsvc-invite || $all == *--insecure* ]] || lack+=("$program --insecure")
		case $program in
		# These ask about what is there; one invitation is enough for a user.
		dsvc-run | dsvc-status | dsvc-events | dsvc-why | dsvc-tap | dsvc-top | dsvc-forget | dsvc-stop | dsvc-invite) ;;
		*) [[ $all == *--join* ]] || lack+=("$program --join") ;;
		esac
		[[ $all == *'77  '* && $all == *'78  '* ]] || lack+=("$program: exit codes")
	done
	echo "${lack[@]}"
	((${#lack[@]} == 0))
}

@test "without a key none gets anything, and each says whom to ask" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*'
	local at=$ready
	each_is() {
		local why="wants a key"
		[[ $1 != dsvc-work ]] || why="no key is known for $at"
		[[ ${stderr_lines[0]} == "$1: "*"$why"* ]] || { echo "$1: $stderr"; return 1; }
		[[ ${stderr_lines[1]} == '  help: ask for an invitation: dsvc-invite '*', on 127.0.0.1'* ]]
	}
	each 77 -d "$at"
}

@test "an address on another machine is not even called without a key or --insecure" {
	each_is() {
		[ "${stderr_lines[0]}" = "$1: no key is known for tcp://192.0.2.1:9" ]
		[[ ${stderr_lines[1]} == '  help: ask for an invitation: '*', on 192.0.2.1; or say --insecure, if the network is yours alone' ]]
	}
	export DSVC_INSECURE=1 # is not heard
	each 77 -d tcp://192.0.2.1:9
}

@test "with a key each works" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*'
	local at=$ready
	start work dsvc-work -j 4 --allow-write "$BATS_TEST_TMPDIR"
	dsvc-invite user,work,admin >"$BATS_TEST_TMPDIR/invitation"
	b dsvc-join -q "$BATS_TEST_TMPDIR/invitation"
	busy -d "$at"
	each_is() { :; }
	each 0 -d "$at"
}

@test "with --insecure each works, where the dispatcher has it too" {
	start dispatch dsvc-dispatch --insecure -b 'tcp://127.0.0.1:*'
	local at=$ready
	start work dsvc-work -j 4 --insecure -d "$at" --allow-write "$BATS_TEST_TMPDIR"
	busy --insecure -d "$at"
	speakers() { printf '%s\n' dsvc-read dsvc-run dsvc-register dsvc-feed dsvc-save dsvc-status dsvc-events dsvc-why dsvc-tap dsvc-top dsvc-work; }
	each_is() { :; }
	each 0 --insecure -d "$at"
}

@test "an invitation can be given to a feed or a save that begins" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*'
	local at=$ready program
	start work dsvc-work --allow-write "$BATS_TEST_TMPDIR"
	for program in dsvc-feed dsvc-save; do
		dsvc-invite user >"$BATS_TEST_TMPDIR/invitation"
		words_of "$program"
		words=("${words[@]/--overwrite/--if-missing}") # to overwrite is for admins
		run -0 --separate-stderr b env XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/$program" "$program" --join "$BATS_TEST_TMPDIR/invitation" "${words[@]}"
		run -77 b env XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/$program" "$program" --join "$BATS_TEST_TMPDIR/invitation" "${words[@]}"
		[[ $output == *'the invitation was used'* ]]
	done
}

@test "to overwrite a save is for admins, and others leave it as it is" {
	start dispatch dsvc-dispatch -b 'tcp://127.0.0.1:*'
	local saved=$BATS_TEST_TMPDIR/saved before
	start work dsvc-work --allow-write "$BATS_TEST_TMPDIR"
	dsvc-invite user --name ada >"$BATS_TEST_TMPDIR/invitation"
	b dsvc-join -q "$BATS_TEST_TMPDIR/invitation"
	b dsvc-save -q -e 'range 3' "$saved"
	before=$(sha256sum "$saved"/*)
	run -77 --separate-stderr b dsvc-save -q --overwrite -e 'range 4' "$saved"
	[ "${stderr_lines[0]}" = 'dsvc-save: this key may: read,register; FORGET is not for it' ]
	[[ ${stderr_lines[1]} == '  help: ask for an invitation with another role: dsvc-invite, '* ]]
	[ "$(sha256sum "$saved"/*)" = "$before" ]
	dsvc-allow --add "$(b dsvc-keygen --show)" admin ada
	until_true 5s b dsvc-save -q --overwrite -e 'range 4' "$saved"
}

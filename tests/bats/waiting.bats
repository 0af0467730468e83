#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Who comes before the dispatcher waits for it: --connect-timeout, in each program that connects.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

# Programs that take -d, by their own help.
connecting() {
	local program
	for program in "$B"/bin/dsvc-*; do
		[[ $("$program" --help) != *--dispatcher* ]] || echo "${program##*/}"
	done
}

# Sets ${words[@]} to arguments with which a program needs its dispatcher.
words_of() { # PROGRAM
	case $1 in
	dsvc-read) words=(-e 'range 3') ;;
	dsvc-run) words=('range 3 | distribute') ;;
	dsvc-register) words=(--id numbers -e 'range 3') ;;
	dsvc-forget) words=(--dataset none) ;;
	dsvc-feed) words=(-e 'range 3' --as ndjson -- cat) ;;
	dsvc-save) words=(-e 'range 3' "$PWD/saved") ;;
	dsvc-status | dsvc-events | dsvc-why) words=() ;;
	dsvc-top) words=(-n 1) ;;
	dsvc-invite) words=(read) ;;
	dsvc-work) words=(--drain-timeout 0) ;;
	*) return 1 ;;
	esac
}

@test "each program that connects has --connect-timeout, and gives up when it is over" {
	local program n=0 words at=(@none "$(free_ipc none)")
	local says=('no dispatcher has written its address to none' 'no dispatcher at ipc://')
	for program in $(connecting) dsvc-join; do
		[[ $("$program" --help) == *--connect-timeout* ]] || { echo "$program has none"; return 1; }
		words_of "$program" || continue
		n=$((n + 1))
		run -69 --separate-stderr within 20s "$program" -q -d "${at[n % 2]}" --connect-timeout 10ms "${words[@]}"
		[[ ${stderr_lines[0]} == "$program: ${says[n % 2]}"* ]]
	done
	((n >= 12))
}

@test "with --connect-timeout 0 each waits for ever, says so once, and goes on when there is one" {
	local program words all=()
	export DSVC_CONNECT_TIMEOUT=0
	for program in $(connecting); do
		words_of "$program" || continue
		all+=("$program")
		if ((${#all[@]} % 2)); then # for the file, or for what listens
			spawn "$program" "$program" -d @up "${words[@]}"
		else
			spawn "$program" "$program" -d "$(free_ipc here)" "${words[@]}"
		fi
	done
	for program in "${all[@]}"; do
		until_true 5s grep -q "$program: waiting for a dispatcher " "$program.err"
	done
	start dispatch dsvc-dispatch -b "$(free_ipc here)" --ready-file up
	start work dsvc-work -d @up
	for program in "${all[@]}"; do
		if [[ $program == dsvc-work ]]; then
			until_true 5s grep -q 'ready on' "$program.err"
			kill "${pid[$program]}"
		fi
		reap "$program" 20
		((status != 69)) || grep -q 'uses no keys' "$program.err" # dsvc-invite
		(($(grep -c 'waiting for' "$program.err") == 1))
	done
	[[ $(<dsvc-read.out) == $'0\n1\n2' ]]
}

@test "a name that is not known yet counts as a dispatcher that is not there yet" {
	spawn read dsvc-read --insecure -d no-such-host.invalid:5050 --connect-timeout 0 -e 'range 3'
	until_true 5s grep -q 'waiting for a dispatcher at tcp://no-such-host.invalid:5050' read.err
	stop read
	((status == 143))
}

@test "a worker that waits ends in good order: by TERM, and when its standard input does" {
	mkfifo in
	spawn one dsvc-work -d @up --connect-timeout 0
	spawn two bash -c 'exec dsvc-work -d "$0" --connect-timeout 0 --until-stdin-eof <in' "$(free_ipc none)"
	exec 9>in
	until_true 5s grep -q 'waiting for' one.err
	until_true 5s grep -q 'waiting for' two.err
	stop one
	((status == 0))
	exec 9>&-
	reap two
	((status == 0))
}

@test "a worker waits as long for the first dispatcher as --give-up says for a lost one" {
	run -69 within 20s dsvc-work -d "$(free_ipc none)" --give-up 10ms
	spawn work dsvc-work -d "$(free_ipc none)" --give-up 0
	until_true 5s grep -q 'waiting for' work.err
	stop work
	((status == 0))
	run -69 within 20s dsvc-work -d "$(free_ipc none)" --give-up 0 --connect-timeout 10ms
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What a shell offers at <TAB>: bash, driven as it drives the functions.

load lib/dsvc

# The words so far, the last one being completed; words of options with = are
# given as bash splits them.
offered() {
	bash -c '
		compopt() { :; }
		. "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		"_${1//-/_}"
		echo "${COMPREPLY[*]}"' - "$BATS_TEST_DIRNAME/../../completions/dsvc.bash" "$@"
}

@test "options, their values, files and operators" {
	cd "$BATS_TEST_TMPDIR"
	touch spec.dsvc
	[[ $(offered dsvc-run --tim) == --timeout ]]
	[[ $(offered dsvc-run -t cs) == csv ]]
	[[ $(offered dsvc-read --order s) == "stable source" ]]
	[[ $(offered dsvc-read --order = s) == "stable source" ]]
	[[ $(offered dsvc-read --order =) == "any stable source" ]]
	[[ $(offered dsvc-run -f spe) == spec.dsvc ]]
	[[ $(offered dsvc-run range 3 'then' shu) == shuffle ]]
	[[ $(offered dsvc-run lines spe) == spec.dsvc ]]
	[[ $(offered dsvc-run --help-op interl) == interleave ]]
	[[ ! $(offered dsvc-work anything) ]]
}

@test "every program has its options in every shell" {
	local name file
	for file in dsvc.bash _dsvc dsvc.fish; do
		for name in dispatch work register read run status; do
			grep -q "dsvc-$name" "$BATS_TEST_DIRNAME/../../completions/$file"
		done
	done
	[[ $(offered dsvc-dispatch --exit) == --exit-when-idle ]]
	[[ $(offered dsvc-status --au) == --audit ]]
}

@test "a letter means the same option in every program" {
	local program names
	names=$(for program in "$B"/bin/dsvc*; do "$program" --help; done | grep -oE '^  -[A-Za-z0-9], --[a-z-]+' | sort -u)
	# -j is as many at a time, whatever of; -n is a number, of elements or of cores; -f goes on, as in tail.
	names=$(grep -v -e '-j, --slots' -e '-n, --cores' -e '-f, --follow' <<<"$names")
	((${#names} > 200))
	run -0 bash -c 'cut -c3-4 <<<"$0" | uniq -d' "$names"
	[[ $output == '' ]]
}

@test "-h is one screen and --help all of it, and manuals say so" {
	local program all
	for program in "$B"/bin/dsvc*; do
		all=$("$program" --help)
		(($("$program" -h | wc -l) <= 50))
		grep -q '^Show the usual options, on one screen' "man/${program##*/}.1"
		grep -q '^Show all options' "man/${program##*/}.1"
		((${#all} > $("$program" -h | wc -c)))
	done
}

@test "names of jobs are words, whatever they hold" {
	local out
	service
	cd "$BATS_TEST_TMPDIR"
	dsvc-read -t none -J 'a b$(touch pwned)' -e 'range 3'
	dsvc-read -t none -J abc -e 'range 3'
	run -0 dsvc-status --names=jobs
	[ "$(sort <<<"$output")" = $'a b$(touch pwned)\nabc' ]
	[[ $(offered dsvc-why ab) == abc ]]
	[[ $(offered dsvc-why a) == *'a\ b\$\(touch\ pwned\)'* ]]
	[[ $(offered dsvc-read -J ab) == abc ]]
	[[ ! -e pwned ]]
	# Jobs without a name have their number.
	dsvc-forget abc 'a b$(touch pwned)'
	dsvc-read -t none -e 'range 3'
	run -0 dsvc-status --names=jobs
	[[ $output =~ ^[0-9]+$ ]]
	run -0 dsvc-status --names=datasets
	[[ $output =~ ^[0-9a-f]+$ ]]
	run -64 dsvc-status --names --json
	# Without a service there is nothing to offer, and no message.
	stop dispatch
	run -0 offered dsvc-why a
	[[ $output == '' ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dsvc-feed: options that exclude each other, as the manual lists them, and all others, which work with each other.

load lib/dsvc

# Pairs of options in the list of the manual: `--steps --until`, a line each.
listed() {
	sed -n '/^\.Ss Options that exclude each other/,/^\.El/s/^\.It Fl -\(.*\) Ta Fl -\(.*\)$/--\1 --\2/p' "$BATS_TEST_DIRNAME/../../man/dsvc-feed.1" |
		sed 's/ Cm any/=any/g'
}
declare -gA value=([--steps]=1 [--until]=2 [--batch]=2 [--element]=copy [--axis]=x=0 [--order=any]='' [--checkpoint]=pos [--from]=1
	[--host]=0/2 [--as]=ndjson [--listen]=sock [--local]='' [--job]=j [--shards]=2 [--window]=4)

@test "each pair of the manual's list is refused, with both of them" {
	local a b n=0 given options
	cd "$BATS_TEST_TMPDIR" || return
	while read -r a b; do
		options=()
		for given in "$a" "$b"; do options+=("$given"); [[ ! ${value[$given]} ]] || options+=("${value[$given]}"); done
		[[ "$a $b" != *--host* ]] || options+=(--job j)
		run -64 dsvc-feed "${options[@]}" -e 'range 4' -- cat
		for given in "$a" "$b"; do
			[[ $given == --axis || "$a $b" == *--axis* || "$a $b" == '--order=any --host' ]] ||
				[[ $output == *"${given/=/ }${value[$given]:+ ${value[$given]}}"* ]]
		done
		n=$((n + 1))
	done < <(listed)
	((n == 11))
	run -64 dsvc-feed --local --batch 2 --element core -e 'range 4' -- cat
	[[ $output == *'--batch 2 does not go with --element core'* ]] # what it is anyhow, but not for batches taken as rows
}

@test "an option that says more of another one is refused without that" {
	local options
	for options in '-o x' '--to csv' '--save-every 2' '--keep 3' '--seat-wait 1s' '--tail-of stream' '--each-loop' '--axis x=1' '--jobs 2'; do
		# shellcheck disable=SC2086 # words
		run -64 dsvc-feed $options -e 'range 4' -- cat
		[[ $output == "dsvc-feed: "*"${options%% *}"* || $output == *--output* ]]
		[[ $output == *'help:'* ]]
	done
}

@test "standard input goes with no job: others have none of it" {
	run -64 dsvc-feed -J j --as ndjson - -- cat </dev/null
	[[ $output == *'standard input does not go with --job j: '* ]]
	run -64 dsvc-feed -J j --host 0/2 --as ndjson - -- cat </dev/null
	[[ $output == *'standard input does not go with --host 0/2: '* ]]
}

@test "all others work with each other" {
	local some=('--steps 2' '--until 2' '--from 0' '--batch 2' '--element copy' '--tail pad --pad last --mask m' '--order any'
		'--epochs 2 --seed 1' '--loop 2' '--loop 2 --each-loop' '--results step --to ndjson -o out' '--checkpoint pos --save-every 2'
		'--jobs 2 --prefetch 1 --expect {x:[int]}') a b i k pair with list
	cd "$BATS_TEST_TMPDIR" || return
	list=$'\n'$(listed)$'\n'
	local rest=(--keep 3 --checkpoint pos --wait-cores 1m --slow 1m --core-timeout 1m --grace 1s --slot-max 1M --max-errors 3 --errors err
		--stats --timeout 1m --progress never --fail-empty)
	feed() { dsvc-feed --local --as ndjson "$@" -e 'range 4 | map {x: [x, x]}' -- cat >/dev/null 2>said; }
	feed "${rest[@]}"
	for ((i = 0; i < ${#some[@]}; i++)); do
		for ((k = i + 1; k < ${#some[@]}; k++)); do
			a=${some[i]} b=${some[k]}
			rm -f pos out
			pair=${a/order any/order=any} with=${b/order any/order=any}
			pair=${pair%% *} with=${with%% *}
			if [[ $list == *$'\n'"$pair $with"$'\n'* || $list == *$'\n'"$with $pair"$'\n'* ]]; then pair=y; else pair=; fi
			# shellcheck disable=SC2086 # words
			if feed $a $b; then [[ ! $pair ]]; else [[ $? == 64 && $pair ]]; fi || { echo "$a $b"; cat said; return 1; }
		done
	done
}

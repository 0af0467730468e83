#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Operators beside the programs that have answered the same questions for long.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
	export LC_ALL=C
}

# N lines of words, many of them equal.
words() {
	awk -v n="$1" 'BEGIN { srand(7); for (; n; n--) {
		k = int(rand() * 5) + 1; s = ""
		for (; k; k--) s = s (s == "" ? "" : " ") sprintf("w%d", rand() * rand() * 50)
		print s } }'
}

@test "sort sorts as sort(1) does, in memory and in a file" {
	words 50000 >lines
	sort lines >want
	dsvc-run 'lines lines | sort' | cmp - want
	dsvc-run 'lines lines | sort mem=100k' | cmp - want
	sort -r lines >want
	dsvc-run 'lines lines | sort reverse=true mem=100k' | cmp - want
	sort -s -n -k1.2 lines >want
	dsvc-run 'lines lines | sort int(split(x[1:], " ")[0]) mem=100k' | cmp - want
}

@test "dedup, group_by and top say what uniq(1) says" {
	words 20000 | sort >lines
	uniq lines >want
	dsvc-run 'lines lines | dedup' | cmp - want
	uniq -c lines | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print n "\t" $0 }' >want
	dsvc-run 'lines lines | group_by x | map [.value, .key] | format tsv' | cmp - want
	sort -s -rn want | sed -n 1,5p >most
	dsvc-run 'lines lines | group_by x | top 5 .value | map [.value, .key] | format tsv' >got
	cut -f1 most | cmp - <(cut -f1 got)
}

@test "join joins as join(1) does" {
	seq 1 3 300 | awk '{ print $1 "," $1 * $1 }' | sort -t, >squares
	seq 1 2 300 | awk '{ print $1 ",odd" $1 }' | sort -t, >odds
	join -t, odds squares >want
	dsvc-run "lines odds | parse csv columns=['id', 'name'] |
		join (lines squares | parse csv columns=['id', 'square']) on=.id | format csv" | cmp - want
}

@test "sort says which folder is full or missing" {
	run --separate-stderr dsvc-run 'range 1000 | sort mem=1k tmp=/nowhere/at/all'
	[ "$status" -eq 66 ]
	[[ $stderr == *"/nowhere/at/all"*"TMPDIR"* ]]
}

@test "save leaves whole files only, and load gives what was saved" {
	dsvc-run --seed 1 'range 10000 | map {id: x} | save out file_size=10k shards=2' >files
	[ "$(wc -l <files)" -gt 4 ]
	[ -z "$(find out -name '*.part')" ]
	[ "$(dsvc-run 'load out | stats .id' | grep -c '"count":10000,"sum":49995000')" -eq 1 ]
	# the same pass once more writes the same; another one is refused
	dsvc-run --seed 1 'range 10000 | map {id: x} | save out file_size=10k shards=2' | cmp - files
	run --separate-stderr dsvc-run --seed 2 'range 10 | save out'
	[ "$status" -eq 65 ]
	[[ $stderr == *"overwrite=true"* ]]
	dsvc-run --seed 2 'range 10 | save out overwrite=true'
	[ "$(dsvc-run 'load out' | tr '\n' ' ')" == "0 1 2 3 4 5 6 7 8 9 " ]
}

@test "save of nothing can be loaded" {
	dsvc-run 'range 0 | save out'
	[ -z "$(dsvc-run 'load out')" ]
}

@test "a snapshot and a cache are read in place of the input" {
	for op in snapshot cache; do
		seq 5 >in
		dsvc-run "lines in | $op $op" | cmp - in
		seq 7 >in
		dsvc-run "lines in | $op $op" | cmp - <(seq 5)
	done
	run --separate-stderr dsvc-run 'range 3 | snapshot snapshot'
	[ "$status" -eq 65 ]
	[[ $stderr == *"another pipeline"* ]]
}

@test "a snapshot that was broken off is not read" {
	seq 5000 >in
	dsvc-run --seed 3 'lines in | snapshot part | take 10' >first
	dsvc-run --seed 3 'lines in | snapshot part' | cmp - in
}

@test "ignore_errors writes down what failed, with its place" {
	printf '1\nx\n3\n' >in
	[ "$(dsvc-run 'lines in | map int(x) | ignore_errors log=log | count')" -eq 2 ]
	[[ $(cat log) == in:2:*"map int(x)"* ]]
}

@test "rate keeps to its rate" {
	local from=$EPOCHREALTIME to
	dsvc-run 'range 30 | rate 100' >got
	to=$EPOCHREALTIME
	[ "$(wc -l <got)" -eq 30 ]
	[ $((${to/./} - ${from/./})) -ge 280000 ]
}

@test "print shows on standard error what passes" {
	run --separate-stderr dsvc-run 'range 2 | print seen | map x + 5'
	[ "$output" == $'5\n6' ]
	[ "$stderr" == $'seen: 0\nseen: 1' ]
}

@test "through two workers the same comes out, in some order" {
	local spec
	service 2
	seq 0 2 3000 | awk '{ print $1 "," $1 * $1 }' >squares
	for spec in 'range 20000 | map {id: x} | rename id:n | map .n' \
		'range 20000 | map x * 3 | batch 7 | rebatch 3 | unbatch' \
		'range 20000 | group_by_window x % 7 10 (| map x + 1)' \
		'range 20000 | bucket x % 50 bounds=[10, 20] sizes=[8, 4, 2] | unbatch' \
		'range 20000 | cache | repeat 2' \
		"range 3000 | map {id: x} | join (lines $PWD/squares | parse csv columns=['id', 'sq']) on=.id | map [.id, .sq]" \
		'range 20000 | tee (| batch 10) | map 100 // (x % 3) | ignore_errors'; do
		within 20s dsvc-run "$spec" 2>/dev/null | sort >want
		within 20s dsvc-read -e "$spec" 2>/dev/null | sort | cmp - want || { echo "$spec"; false; }
	done
	within 20s dsvc-read -e "range 20000 | save $PWD/by-workers" >files
	dsvc-run "load by-workers | sort" | cmp - <(seq 0 19999 | sort -n)
}

@test "what means something only over the whole is refused ahead of the border" {
	local op
	service 1
	for op in sort 'top 3' stats 'group_by x' 'cardinality 3' 'pad_to 3' dedup; do
		run --separate-stderr dsvc-read -e "range 3 | $op"
		[ "$status" -eq 65 ]
		[[ $stderr == *"per_stream=true"* ]]
	done
	dsvc-read -e 'range 100 | distribute | sort reverse=true | take 1' | grep -x 99
}

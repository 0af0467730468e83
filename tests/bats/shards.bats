#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Jobs that are divided into shards: sharding file, data, file_or_data, hint.

load lib/dsvc

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

files() { # N LINES: line L of file F is F*1000000+L
	local i
	mkdir -p files
	for ((i = 0; i < $1; i++)); do
		seq $((i * 1000000)) $((i * 1000000 + $2 - 1)) >"files/f$(printf %03d "$i").txt"
	done
}

line() { tr '\n' ' '; }

# The same of what those files hold.
lines_of() { # NUMBER...
	local i
	for i; do cat "files/f$(printf %03d "$i").txt"; done | line
}

@test "file: each shard has every N-th file, whole and in order, in each pass" {
	files 5 3
	service 2
	run -0 dsvc-read --sharding file --shards 2 --shard 0 -e "lines '$PWD/files/*' | repeat 2"
	[[ $(line <<<"$output") == "$(lines_of 0 2 4 0 2 4)" ]]
	run -0 dsvc-read --sharding file --shards 2 --shard 1 -e "lines '$PWD/files/*' | repeat 2"
	[[ $(line <<<"$output") == "$(lines_of 1 3 1 3)" ]]
	run -0 dsvc-read --sharding file -J all -e "lines '$PWD/files/*'"
	[[ $(sort <<<"$output") == "$(sort files/*)" ]]
	run -0 dsvc-status --audit all
	[[ $output == *balanced ]]
}

@test "file: what has no files, or too few of them, is refused with the remedies" {
	files 4 3
	service 1
	run -65 dsvc-read --sharding file --shards 5 -e "lines '$PWD/files/*'"
	[[ $output == *"4 files for 5 shards"*"--shards 4"*"--sharding data"* ]]
	run -65 dsvc-read --sharding file_or_data --shards 5 -e "lines '$PWD/files/*'"
	[[ $output == *"4 files for 5 shards"* ]]
	run -65 dsvc-read --sharding file -e 'range 10'
	[[ $output == *"not divided into files"*"--sharding data"* ]]
	run -65 dsvc-read --sharding file -e 'range 0'
	run -65 dsvc-read --sharding file -e "zip (lines '$PWD/files/*') (lines '$PWD/files/*')"
	run -65 dsvc-read --sharding file -e "lines '$PWD/files/*' | take 3"
	[[ $output == *'`take` must see all elements'*'^^^^'* ]]
	run -0 dsvc-read --sharding file --shards 3 -e "lines '$PWD/files/*' | repeat 0"
	[[ ! $output ]]
}

@test "file_or_data: files if there are any, else elements" {
	files 4 3
	service 1
	run -0 dsvc-read --sharding file_or_data --shards 2 --shard 1 -e "lines '$PWD/files/*'"
	[[ $(line <<<"$output") == "$(lines_of 1 3)" ]]
	run -0 dsvc-read --sharding file_or_data --shards 2 --shard 1 -e 'range 6'
	[[ $(line <<<"$output") == "1 3 5 " ]]
}

# What dsvc-run shows for a share is what the reader of that shard gets.
@test "data: a shard is the pipeline with shard N I behind it" {
	files 3 200
	service 2
	local spec
	local -a specs=(
		'range 1000' 'range 10 | filter x > 20' 'range 2' 'elements [5, 6, 7, 8]'
		'range 1000 | map x*x | filter x % 3 == 1' 'range 1000 | batch 7' 'range 1000 | shuffle 50'
		'range 1000 | shuffle all' 'range 100 | map rand()' 'range 100 | map {a: x, b: rand()} | shuffle 10 | take 40'
		"ndjson '$PWD/files/*' | map x % 17" 'range 50 | repeat 3' 'range 50 | shuffle 9 | repeat 3'
		'range 20 | flat_map [x, x*x]' 'range 20 | interleave (range x) cycle=3' 'zip (range 30) (range 40)'
		'concat (range 10) (range 7)' 'range 100 | scan 0 s+x' 'range 100 | sort x % 7' 'range 100 | window 5'
		'range 100 | exec -- sed s/^/a/' 'range 100 | prefetch 4 | enumerate' 'range 60 | shard 2 1'
	)
	for spec in "${specs[@]}"; do
		dsvc-run --seed 7 -t ndjson "$spec | shard 3 1" >want || { echo "run: $spec"; false; }
		dsvc-read --seed 7 -t ndjson --sharding data --shards 3 --shard 1 -e "$spec" >have || { echo "read: $spec"; false; }
		cmp want have || { echo "$spec"; false; }
		dsvc-run --seed 7 -t ndjson "$spec" >want
		dsvc-read --seed 7 -t ndjson --sharding data --shards 3 --order source -e "$spec" >have
		cmp want have || { echo "in order: $spec"; false; }
	done
}

@test "data refuses what comes out otherwise when it is made again" {
	service 1
	run -65 dsvc-read --sharding data -e 'range 3 | map now()'
	[[ $output == *"now()"*"--sharding off"* ]]
	run -65 dsvc-read --sharding data -e 'range 3 | interleave (range 1 | map now())'
}

@test "hint: shard auto auto is the shard's share, wherever it stands" {
	files 3 4
	service 2
	run -0 dsvc-read --sharding hint --shards 3 --shard 1 -e 'range 10 | shard auto auto | map x*10'
	[[ $(line <<<"$output") == "10 40 70 " ]]
	run -0 dsvc-read --sharding hint --shards 2 --order stable -e "lines '$PWD/files/*' | shard auto auto | count"
	[[ $(line <<<"$output") == "6 6 " ]]
	run -0 --separate-stderr dsvc-read --sharding hint --shards 2 --shard 0 -e 'range 3'
	[[ $(line <<<"$output") == "0 1 2 " && $stderr == *"each shard gives everything"* ]]
	run -0 dsvc-read --sharding hint --shards 20 -t count -e 'range 10 | shard auto auto'
	[[ $output == 10 ]]
	local policy
	for policy in off dynamic data file_or_data; do
		run -65 dsvc-read --sharding $policy -e 'range 3 | shard auto auto'
		[[ $output == *'shard auto auto'*'^^^^'*'--sharding hint'* ]]
	done
	run -0 --separate-stderr dsvc-register --id hinted 'range 10 | shard auto auto'
	[[ $stderr == *"--sharding hint" ]]
	run -65 dsvc-read --sharding off hinted
	[[ $output == *'--sharding hint'* ]]
	run -0 dsvc-read --sharding hint --shards 2 --shard 1 hinted
	[[ $(line <<<"$output") == "1 3 5 7 9 " ]]
	dsvc-register --id plain 'range 2'
	run -0 --separate-stderr dsvc-read --sharding hint --shards 2 -t count plain
	[[ $output == 4 && $stderr == *"each shard gives everything"* ]]
	run -0 --separate-stderr dsvc-run -t count 'range 2 | distribute sharding=hint shards=2'
	[[ $output == 4 && $stderr == *"each shard gives everything"* ]]
}

@test "what does not go together is a wrong call" {
	service 1
	run -64 dsvc-read --shard 1 -e 'range 3'
	[[ $output == *'sharding `dynamic` has no shards'* ]]
	run -64 dsvc-read --sharding data --shards 3 --shard 3 -e 'range 3'
	[[ $output == *"no shard 3: the job has 3 shards"*"from 0 to 2"* ]]
	run -64 dsvc-read --sharding data --shards 3 --shard 1,x -e 'range 3'
	[[ $output == *"'1,x' is not a list of shards"* ]]
	run -64 dsvc-read --sharding file --order source -e 'range 3'
	dsvc-read -J job --sharding data --shards 3 -t none -e 'range 3'
	run -64 dsvc-read -J job --sharding data --shards 4 -e 'range 3'
	[[ $output == *"shards=3"*"shards=4"* ]]
}

@test "status says how a job is divided" {
	service 2
	dsvc-read -J halves --sharding data --shards 2 -t none -e 'range 3'
	dsvc-read -J slots --sharding data -t none -e 'range 3'
	run -0 dsvc-status
	[[ $output == *halves*"sharding=data shards=2"* ]]
	run -0 dsvc-status --json
	[[ $(jq -r '.jobs[] | select(.name == "halves") | .shards' <<<"$output") == 2 ]]
	[[ $(jq -r '.jobs[] | select(.name == "slots") | .shards' <<<"$output") == $(jq .slots <<<"$output") ]]
}

status_has() { [[ $(dsvc-status -v) == *"$1"* ]]; }

@test "status tells the shard of each stream, and how many of its files it was given" {
	files 5 1000
	service 2
	spawn read dsvc-read --sharding file --shards 2 -t none -e "lines '$PWD/files/*' | rate 2"
	until_true 10s status_has ' 1/2 '
	until_true 10s status_has ' of 3 '
	until_true 10s status_has ' of 2 '
	stop read || true
}

@test "the audit tells what each shard gave, also when the pass is over" {
	files 5 3
	start dispatch dsvc-dispatch --state "$PWD/state"
	start work dsvc-work
	run -0 dsvc-read -J job --sharding file --shards 2 -e "lines '$PWD/files/*'"
	run -0 dsvc-status --audit job --streams
	[[ $output == *balanced* ]]
	[[ $output == *" shard 0/2  acknowledged 9  files 3  finished"*" shard 1/2  acknowledged 6  files 2  finished"* ]]
	local before=$output
	run -0 dsvc-status --audit job
	[[ $output != *shard* ]]
	kill -KILL "${pid[dispatch]}"
	reap dispatch
	start dispatch dsvc-dispatch --state "$PWD/state"
	run -0 dsvc-status --audit job --streams
	[[ ${output#*balanced} == "${before#*balanced}" ]]
	run -64 dsvc-status --streams
	[[ $output == *"--streams goes with --audit"* ]]
}

@test "explain tells what each stream of each policy gets" {
	files 5 3
	run -0 dsvc-run --explain "lines '$PWD/files/*' | filter x > \"2\" | map len(x)"
	[[ $output == *"  file     exactly once: N streams (--shards, at most 5), number I reads every N-th of the 5 files"* ]]
	[[ $output == *"  data     exactly once"*'each makes all elements as far as `filter`, and behind it only its own'* ]]
	[[ $output == *'  hint     N streams give N whole copies'* ]]
	run -0 dsvc-run --explain 'range 10 | map x'
	[[ $output == *"  file     refused: "*"  data     exactly once"*"read by index, so that nothing is made twice"* ]]
	run -0 dsvc-run --explain 'range 10 | shard auto auto'
	[[ $output == *'  off      refused: `shard auto auto`'*'  hint     N streams (--shards), each gives'* ]]
	run -0 dsvc-run --explain 'range 10 | map now()'
	[[ $output == *"  data     refused: "* ]]
}

@test "distribute takes the same parameters" {
	service 1
	run -0 dsvc-run 'range 10 | distribute sharding=data shards=3 shard=1,2 order=stable | map x*2'
	[[ $(line <<<"$output") == "2 8 14 4 10 16 " ]]
}

@test "readers of one shard each, and workers that are killed" {
	files 12 3000
	service 3
	local i
	for i in 0 1 2 3; do
		spawn "read$i" dsvc-read -J job --sharding file --shards 4 --shard $i -e "lines '$PWD/files/*' | rate 4000"
	done
	for i in 1 2; do
		until_true 10s [ -s "read$i.out" ]
		kill -KILL "${pid[work$i]}"
		start "more$i" dsvc-work
	done
	for i in 0 1 2 3; do
		reap "read$i" 60
		((status == 0))
		[[ $(line <"read$i.out") == "$(lines_of "$i" "$((i + 4))" "$((i + 8))")" ]]
	done
	run -0 dsvc-status --audit job
	[[ $output == *balanced ]]
}

@test "a reader of a shard that was killed goes on from its position" {
	service 2
	local i
	for i in 1 2 3; do
		spawn "part$i" dsvc-read --sharding data --shards 3 --shard 2 --checkpoint pos -o out -e 'range 3_000_000'
		until_true 10s [ -e pos ]
		kill -KILL "${pid[part$i]}"
		reap "part$i"
	done
	run -0 dsvc-read --checkpoint pos -o out -e 'range 3_000_000'
	seq 2 3 2999999 | cmp - out
	run -64 dsvc-read --checkpoint pos --sharding data --shard 1 -o out -e 'range 3_000_000'
	[[ $output == *"in shard 2, not in shard 1"* ]]
}

@test "a file that appears while shards are made is no part of some of them only" {
	files 2 600000
	start dispatch dsvc-dispatch
	start one dsvc-work --memory 1M
	mkfifo pipe
	spawn reader bash -c 'exec dsvc-read -q --sharding data --shards 2 --shard 0 --window 1 -e "$1" >pipe' - "lines '$PWD/files/*'"
	exec 9<pipe
	IFS= read -r -t 10 -u 9 _
	echo more >files/zzz
	kill -KILL "${pid[one]}"
	reap one
	start two dsvc-work
	cat <&9 >rest
	reap reader 20
	((status == 65))
	grep -q 'files have appeared or gone since the job began' reader.err
}

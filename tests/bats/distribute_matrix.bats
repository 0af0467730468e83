#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Every place that `distribute` and `dataset` can have in a pipeline, with every option of
# dsvc-read: the right elements, or a refusal that says why. Never a crash, a hang or
# silence. The list of options is that of --help: one that is not judged here is a failure.

load lib/dsvc

# Pipelines; each but `empty` gives some order of what `elements` says.
declare -gA places=(
	[end]='range 6 | distribute'
	[middle]='range 6 | distribute | map x'
	[zip]='zip (range 6 | distribute order=source) (range 6) | map x[0]'
	[concat]='concat (range 3 | distribute) (range 3 6)'
	[interleave]='elements [1] | interleave (range 6 | distribute)'
	[sample]='sample (range 6 | distribute) (range 0)'
	[let]='let a = range 6 | distribute
a | filter x != null'
	[prefetch]='range 6 | distribute | prefetch | batch 4 | unbatch'
	[repeat]='range 3 | distribute | repeat 2'
	[twice]='concat (range 3 | distribute) (range 3 6 | distribute)'
	[dataset]='dataset six'
	[mapped]='dataset six | map x'
)
# Those that run on workers as a whole, and the number of places that take elements from
# the service where it is not one.
whole=' end dataset '
declare -gA sources=([twice]=2)

elements() { # PLACE
	case $1 in
	repeat) printf '%s\n' 0 0 1 1 2 2 ;;
	*) seq 0 5 ;;
	esac
}

# What an option does: `carried` ones belong to the one distribute, `whole` ones to a
# pipeline that runs on workers as a whole, `own` ones to dsvc-read itself. `programs` are about programs on the
# workers, as the last operator there: they are judged with one in each of the places.
declare -gA kinds=(
	[job]=carried [epoch]=carried [sharding]=carried [order]=carried [shards]=carried [shard]=carried
	[seed]=carried [window]=carried [transfer]=carried [compression]=carried [consumer]=carried
	[tail]=carried [tail-of]=carried [seat-wait]=carried [target]=carried [where]=carried
	[share]=carried [group]=carried [from]=carried [share-window]=carried [on-missed]=whole
	[checkpoint]=whole [checkpoint-rounds]=whole [ack-fd]=whole [max-errors]=whole [errors]=whole
	[epochs]=own [count]=own [output]=own [to]=own [null]=own [delim]=own [unsparsify]=own [no-header]=own [nonfinite]=own [invalid-utf8]=own [tmp-max]=own [trace]=own [trace-max]=own [timeout]=own [dispatcher]=own [context]=own
	[connect-timeout]=own [wait-workers]=own [give-up]=own [progress]=own [stats]=own [fail-empty]=own [quiet]=own [join]=form [insecure]=own
	[verbose]=own [include-dir]=own [type]=own
	[joblog]=programs [halt]=programs [tag]=programs
	[expression]=form [file]=form [set]=form
)

arguments() { # OPTION: one argument a line
	case $1 in
	job) printf '%s\n' -J "job-$2" ;;
	epoch) printf '%s\n' --epoch 2 ;;
	sharding) printf '%s\n' --sharding off ;;
	order) printf '%s\n' --order source ;;
	target) printf '%s\n' --target local ;;
	share | group) printf '%s\n' -J "$1-$2" --share lossless --group g ;;
	from) printf '%s\n' -J "$1-$2" --share lossless --group g --from start ;;
	share-window) printf '%s\n' -J "$1-$2" --share window --group g --share-window 1M ;;
	on-missed) printf '%s\n' -J "$1-$2" --share lossless --group g --on-missed fail ;;
	where) printf '%s\n' --where '!gpu' ;;
	shards) printf '%s\n' --shards 2 ;;
	consumer) printf '%s\n' -J "$1-$2" --consumer 0/1 ;;
	tail) printf '%s\n' -J "$1-$2" --consumer 0/1 --tail pad ;;
	tail-of) printf '%s\n' -J "$1-$2" --consumer 0/1 --tail-of stream ;;
	seat-wait) printf '%s\n' -J "$1-$2" --consumer 0/1 --seat-wait 3s ;;
	compression) printf '%s\n' --compression snappy ;;
	transfer) printf '%s\n' --transfer copy ;;
	shard) printf '%s\n' --sharding data --shards 2 --shard 0,1 ;;
	seed | window) printf '%s\n' "--$1" 7 ;;
	checkpoint) printf '%s\n' --checkpoint "pos-$2" ;;
	checkpoint-rounds) printf '%s\n' -J "$1-$2" --consumer 0-1/2 --checkpoint "pos-$1-$2" --checkpoint-rounds 2 ;;
	ack-fd) printf '%s\n' --ack-fd 0 ;;
	max-errors) printf '%s\n' --max-errors 0 ;;
	errors) printf '%s\n' --errors errors ;;
	epochs) printf '%s\n' --epochs 2 ;;
	count) printf '%s\n' -n 4 ;;
	output) printf '%s\n' -o out ;;
	to) printf '%s\n' -t json ;;
	null) echo -0 ;;
	nonfinite) printf '%s\n' --nonfinite string ;;
	tmp-max) printf '%s\n' --tmp-max 1G ;;
	trace) printf '%s\n' --trace trace.json ;;
	trace-max) printf '%s\n' --trace trace.json --trace-max 1M ;;
	invalid-utf8) printf '%s\n' --invalid-utf8 replace ;;
	delim) printf '%s\n' -t csv --delim ';' ;;
	unsparsify | no-header) printf '%s\n' -t csv "--$1" ;;
	connect-timeout) printf '%s\n' --connect-timeout 5s ;;
	timeout) printf '%s\n' --timeout 60 ;;
	dispatcher) printf '%s\n' -d "$endpoint" ;;
	context)
		dsvc-context set here "$endpoint"
		printf '%s\n' -c here
		;;
	wait-workers) printf '%s\n' --wait-workers 1/5s ;;
	give-up) printf '%s\n' --give-up 5s ;;
	progress) printf '%s\n' --progress never ;;
	type) printf '%s\n' --type int? ;;
	joblog) printf '%s\n' --joblog log ;;
	halt) printf '%s\n' --halt soon,fail=1 ;;
	include-dir) printf '%s\n' -I . ;;
	*) echo "--$1" ;;
	esac
}

# The pipeline with a program right before `distribute`, which changes nothing.
programs() { # PLACE [PROTO]
	echo "${places[$1]//| distribute/| exec proto=${2:-ndjson} -- cat | distribute}"
}

# The code that the option is to end with at this place.
code() { # OPTION PLACE
	case $1:$2 in
	share:zip | group:zip | from:zip | share-window:zip | consumer:zip | tail:zip | tail-of:zip | seat-wait:zip) echo 64; return ;; # it has the order of the source
	esac
	case ${kinds[$1]} in
	carried) [[ $1:$2 == order:zip || ${sources[$2]-1} == 1 ]] && echo 0 || echo 64 ;;
	programs) [[ $2 == end ]] && echo 0 || echo 64 ;;
	whole) [[ $whole == *" $2 "* ]] && echo 0 || echo 64 ;;
	*) echo 0 ;;
	esac
}

# The elements that come, in order of their numbers, of what is in the file `out`.
expect() { # OPTION PLACE
	case $1 in
	count) wc -l <out ;;
	epochs) elements "$2" | sort -n | sed p ;;
	*) elements "$2" | sort -n ;;
	esac
}

given() { # OPTION
	case $1 in
	count) wc -l <out ;;
	to) tr -d '[], ' <out | sed '/^$/d' | sort -n ;;
	null) tr '\0' '\n' <out | sort -n ;;
	tag) awk '$1 == $2 { print $1 }' out | sort -n ;;
	*) sort -n <out ;;
	esac
}

wrong() {
	echo "$*: code $rc"
	head -n 5 err out
	bad=1
}

# One call; out and err have what came.
try() { # ARGUMENT...
	rc=0
	((++tried))
	rm -f out err
	timeout -s KILL "$patience" dsvc-read "$@" <acks >stdout 2>err || rc=$?
	[[ -e out ]] || mv stdout out
}

judge() { # WANTED-CODE OPTION PLACE
	if ((rc != $1)); then
		wrong "--$2 at $3, not $1"
	elif ((rc)); then
		[[ -s err && ! -s out ]] || wrong "--$2 at $3 is refused in silence"
	elif [[ $2 == count ]]; then
		[[ $(wc -l <out) == 4 ]] || wrong "--$2 at $3"
	elif [[ $2 == order && ${sources[$3]-1} == 1 && $3 != repeat ]]; then
		cmp -s out <(elements "$3") || wrong "--$2 at $3: not that order"
	elif ! cmp -s <(given "$2") <(expect "$2" "$3"); then
		wrong "--$2 at $3: other elements"
	fi
}

setup_places() {
	service 1
	cd "$BATS_TEST_TMPDIR" || return
	dsvc-register --id six 'range 6'
	echo 6 >acks
	bad=0 tried=0
}

@test "no option of dsvc-read is left out" {
	run -0 dsvc-read --help
	local word seen=0
	while read -r word; do
		((++seen))
		[[ $word == help || $word == version || ${kinds[$word]-} ]] || {
			echo "--$word is not judged for pipelines with distribute"
			return 1
		}
	done < <(grep -o '^ \{2,6\}\(-., \)\?--[a-z0-9-]*' <<<"$output" | sed 's/.*--//')
	((seen > 25))
}

@test "each place of distribute, with each option" {
	setup_places
	local place option spec
	for place in "${!places[@]}"; do
		for option in "${!kinds[@]}"; do
			[[ ${kinds[$option]} != form ]] || continue
			mapfile -t words < <(arguments "$option" "$place")
			spec=${places[$place]}
			[[ ${kinds[$option]} != programs ]] || spec=$(programs "$place" "$([[ $option != tag ]] || echo line)")
			try "${words[@]}" -e "$spec"
			judge "$(code "$option" "$place")" "$option" "$place"
		done
	done
	((!bad && tried > 250))
}

@test "programs at each place of distribute are logged by dsvc-run, and may end it" {
	setup_places
	local place halt
	for place in "${!places[@]}"; do
		# There is no program in the dataset.
		[[ $place == *dataset* || $place == mapped ]] && rc=64 || rc=0
		for halt in '' '--halt soon,fail=1' '--halt never'; do
			rm -f log
			# shellcheck disable=SC2086
			run "-$rc" timeout -s KILL "$patience" dsvc-run -q $halt --joblog log -o out "$(programs "$place")"
			((!rc)) || continue
			judge 0 joblog "$place"
			case $place in
			concat) n=3 ;;
			*) n=6 ;;
			esac
			[[ $(tail -n +2 log | cut -f 7,8 | sort | uniq -c | xargs) == "$n 0 0" ]] || wrong "$place: no $n rows"
			[[ $(tail -n +2 log | cut -f 1 | sort -n) == "$(seq $n)" ]] || wrong "$place: not numbered"
		done
	done
	((!bad))
}

@test "each place of distribute, as text, file and words" {
	setup_places
	local place n
	for place in "${!places[@]}"; do
		try -e "${places[$place]}"
		judge 0 expression "$place"
		echo "${places[$place]}" >spec
		try -f spec
		judge 0 file "$place"
		try -f <(cat spec)
		judge 0 file "$place"
		n=6
		grep -q 'range 6\|six' spec || n=3
		try -s n=$n -f <(sed "s/range $n/range @n/; s/six/six | take @n/" spec)
		judge 0 set "$place"
		[[ $place == let ]] && continue
		read -ra words < <(sed 's/[()]/ & /g; s/|/ then /g' spec)
		try "${words[@]}"
		judge 0 expression "$place"
	done
	((!bad))
}

@test "what distribute says itself is stronger than nothing, and weaker than no option" {
	setup_places
	local option value other
	while read -r option value other; do
		try "--$option" "$value" -e "range 6 | distribute $option=$value | map x"
		judge 0 "$option" middle
		try "--$option" "$other" -e "range 6 | distribute $option=$value | map x"
		judge 64 "$option" middle
		grep -q -- "--$option is $other.*$option=$value" err || wrong "--$option shows not both"
		try "--$option" "$other" -e "dataset six $option=$value"
		judge 64 "$option" dataset
	done <<-END
		job one two
		epoch 1 2
		sharding off dynamic
		order source stable
		shards 3 4
		seed 7 8
		window 9 10
	END
	((!bad))
}

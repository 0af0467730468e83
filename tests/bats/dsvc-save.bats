#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Datasets saved to files by the workers, whoever is killed meanwhile.
# shellcheck disable=SC2154

load lib/dsvc

setup() { dsvc_setup; cd "$BATS_TEST_TMPDIR" || return; }

kept() { start dispatch dsvc-dispatch --state "$BATS_TEST_TMPDIR/state"; }
files() { [[ $(find "$1" -name 'data-*' 2>/dev/null | wc -l) -ge $2 ]]; }
whole() { # DIR N: all of range N, once
	dsvc-run "load $1 | sort" | cmp - <(seq 0 $(($2 - 1)))
}

@test "help and version need nothing, and a folder and a dataset must be named" {
	run -0 dsvc-save --version
	run -0 dsvc-save -h
	[[ $output == *--if-missing* ]]
	run -64 dsvc-save
	[[ $output == *'no folder is named'*'dsvc-save DIR ID'* ]]
	run -64 dsvc-save out
	run -64 dsvc-save -e 'range 3' out more
	run -64 dsvc-save -e 'range 3' -f spec out
	[[ ! -e out ]]
	run -69 dsvc-save out id
}

@test "a registered dataset is saved once, and then it is there" {
	service 2
	id=$(dsvc-register 'range 30000 | map {id: x}')
	within 30s dsvc-save -v out "$id" 2>said
	[[ $(<said) == *' 30000 elements, '*" bytes in $PWD/out"* ]]
	[[ $(dsvc-run 'load out | stats .id') == '{"count":30000,"sum":449985000,'* ]]
	[[ ! -e out/.dsvc-position && ! $(find out -name '*.part') ]]
	run -65 dsvc-save out "$id"
	[[ $output == *"$PWD/out is saved already"*'--overwrite'*'--if-missing'* ]]
	run -0 dsvc-save --if-missing out "$id"
	[[ ! $output ]]
	within 30s dsvc-save --overwrite --shards 5 --chunk 10k -e 'range 20000' out
	whole out 20000
	[[ $(find out -name 'data-*-000-00000.*' | wc -l) == 5 ]]
	[[ ! $(find out -name 'data-*' -size +11k) ]]
	files out 6
	run -66 dsvc-save other nobody
	[[ $output == *nobody* ]]
	# values of parameters, from a file
	printf 'param n: int\nrange $n\n' >spec
	within 30s dsvc-save -f spec of-file 100
	whole of-file 100
	within 30s dsvc-save -f spec -s n=70 'of "set" {a}'
	[[ $(cat 'of "set" {a}'/data-* | dsvc-run -t count 'stdin as=msgpack') == 70 ]]
	# a set without elements is a whole one, too
	within 30s dsvc-save -e 'range 0' empty
	within 30s dsvc-save --overwrite -e 'range 0 | repeat 3' empty
	[[ $(dsvc-run -t count 'load empty') == 0 ]]
}

@test "what cannot be saved is said before anything is written" {
	service 1
	run -65 dsvc-save -e counter out
	[[ $output == *'has no end'* ]]
	run -65 dsvc-save -e 'range 3 | distribute' out
	run -65 dsvc-save -e 'stdin' out
	run -65 dsvc-save -e 'range 3 | mpa x' out
	[[ $output == *'^'*'`map`'* ]]
	run -65 dsvc-save -e 'range 10 | sort' out
	[[ ! -e out/.dsvc-save ]]
}

@test "what is no folder to write to is said, and with the right code" {
	service 1
	run -64 dsvc-save -e 'range 3' /dev/full
	[[ $output == *'/dev/full is not a folder'*'dsvc-read -o FILE'* ]]
	touch file
	run -64 dsvc-save -e 'range 3' file
	run -74 dsvc-save -e 'range 3' file/below
	[[ $output == *'cannot make the folder file/below: Not a directory'* ]]
	run -74 dsvc-save -e 'range 3' no/such
	run -74 dsvc-save -e 'range 3' /proc
	[[ $output == *'cannot write in /proc: '*'name a folder in which'* ]]
	run -74 dsvc-run 'range 3 | save /dev/full'
	[[ $output == *'cannot save to /dev/full: it is not a folder'* ]]
	run -74 dsvc-run 'range 3 | save no/such'
	run -74 dsvc-read -e "range 3 | save $PWD/file"
	[[ $output == *'file: it is not a folder'* ]]
	[[ ! $(dsvc-status --json | jq -r '.jobs[].name' | grep save) ]]
}

@test "a save that fails says so, now and when it is asked again" {
	service 1
	run -65 dsvc-save -e 'range 100000 | map 1 / (x - 50000)' out
	[[ $output == *'division by zero'* ]]
	run -65 dsvc-save -e 'range 100000 | map 1 / (x - 50000)' out
	[[ $output == *"the save to $PWD/out has failed: "*'division by zero'*'--overwrite'* ]]
	run -65 dsvc-run 'load out'
	[[ $output == *'division by zero'* ]]
	within 30s dsvc-save --overwrite -e 'range 1000' out
	whole out 1000
	# a folder that another pass has written to
	dsvc-run -t none 'range 5 | save mine'
	rm mine/SNAPSHOT
	run -65 dsvc-save -e 'range 5' mine
	[[ $output == *'another pass saved'* ]]
}

@test "detached, it goes on, and the same command waits for its end" {
	service 2
	within 20s dsvc-save --detach --chunk 20k -e 'range 60000 | rate 5k' out
	[[ ! -e out/SNAPSHOT ]]
	run -66 dsvc-run 'load out'
	spawn read dsvc-run 'load out wait=true'
	run -0 dsvc-status
	[[ $output == *"save $PWD/out"* ]]
	within 60s dsvc-save --chunk 20k -e 'range 60000 | rate 5k' out
	whole out 60000
	reap read 20
	sort -n read.out | cmp - <(seq 0 59999)
}

@test "dsvc-save is killed, again and again, and nothing is lost or saved twice" {
	service 2
	local i
	for i in 1 2 3; do
		spawn save dsvc-save --if-missing --chunk 20k -e 'range 300000 | rate 30k' out
		until_true 20s files out $((i * 4))
		stop save KILL || true
	done
	spawn save dsvc-save -v --if-missing --chunk 20k -e 'range 300000 | rate 30k' out
	reap save 60
	((status == 0))
	# (on a slow machine it may have been saved before)
	[[ $(<save.err) != *elements* || $(<save.err) == *' 300000 elements, '* ]]
	whole out 300000
	# interrupted, it says that the save goes on
	spawn save dsvc-save --chunk 20k -e 'range 100000 | rate 10k' int
	until_true 20s test -e int/.dsvc-position
	stop save TERM || true
	((status == 143))
	[[ $(<save.err) == *'goes on'* ]]
	within 60s dsvc-save --chunk 20k -e 'range 100000 | rate 10k' int
	whole int 100000
}

@test "workers and the dispatcher are killed, and nothing is lost or saved twice" {
	kept
	start one dsvc-work -j 2
	start two dsvc-work -j 2
	spawn save dsvc-save --chunk 20k -e 'range 900000 | map x | rate 60k' out
	until_true 20s files out 4
	stop one KILL || true
	start three dsvc-work -j 2
	until_true 20s files out 12
	stop dispatch KILL || true
	kept
	until_true 20s files out 20
	stop save KILL || true
	stop two KILL || true
	start four dsvc-work -j 2
	within 90s dsvc-save --if-missing --chunk 20k -e 'range 900000 | map x | rate 60k' out
	whole out 900000
	[[ ! $(find out -name '*.part') ]]
}

@test "a worker that was taken for dead does not spoil what others have saved" {
	start dispatch dsvc-dispatch --loss 1s
	start one dsvc-work -j 1
	spawn save dsvc-save --chunk 20k -e 'range 300000 | rate 200k' out
	until_true 20s files out 2
	kill -STOP "${pid[one]}"
	start two dsvc-work -j 1
	reap save 60
	((status == 0))
	cp -r out before
	kill -CONT "${pid[one]}"
	stop one || true
	whole out 300000
	[[ ! -e out/SNAPSHOT.failed ]]
	(cd before && sha256sum data-* SNAPSHOT) >sums
	(cd out && sha256sum -c --quiet ../sums)
}

@test "a second save to the folder while one runs" {
	service 1
	spawn save dsvc-save --chunk 20k -e 'range 300000 | rate 20k' out
	until_true 20s files out 1
	run -75 dsvc-save --overwrite -e 'range 7' out
	[[ $output == *"$PWD/out"*reader* ]]
	stop save KILL || true
	# other words for the same folder are another save
	run dsvc-save --chunk 30k -e 'range 7' out
	((status == 64 || status == 65))
	until_true 10s dsvc-save --overwrite -e 'range 7' out
	whole out 7
}

@test "compressed files are loaded as they are, and another codec or pipeline is refused" {
	service 2
	local codec
	for codec in snappy zstd; do
		within 30s dsvc-save --compression $codec --chunk 20k -e 'range 20000 | map {id: x}' $codec
		[[ $(dsvc-run "load $codec | stats .id") == '{"count":20000,"sum":199990000,'* ]]
		[[ $(jq -r '[.elements, .format, .compression, .type, .spec] | join("; ")' $codec/SNAPSHOT) == \
			"20000; msgpack; $codec; {id: int}; range 20000 | map {id: x}" ]]
	done
	[[ $(dsvc-run -t count 'msgpack zstd/data-*.zst') == 20000 ]]
	run -65 dsvc-run 'load zstd compression=none'
	[[ $output == *"zst' is compressed by zstd"* ]]
	run -65 dsvc-run 'load zstd type=[int]'
	[[ $output == *'type=[int], but the elements are {id: int}'* ]]
	run -0 dsvc-run --explain 'load zstd snappy'
	[[ $output == *'element {id: int}'*'40000 elements'* ]]
	run -65 dsvc-save --if-missing -e 'range 20000 | map {id: x + 1}' zstd
	[[ $output == *"$PWD/zstd holds another snapshot: range 20000 | map {id: x}"*'--overwrite'* ]]
	run -0 dsvc-save --if-missing -e 'range 20000 | map {id: x}' zstd
	run -64 dsvc-save --compression lzo -e 'range 3' no
	run -65 dsvc-run 'range 3 | save no format=npy compression=zstd'
}

@test "workers are waited for, and no longer than is said" {
	start dispatch dsvc-dispatch
	run -69 dsvc-save --wait-workers 1/100ms -e 'range 7' out
	[[ $output == *'--wait-workers N/DURATION'* ]]
	# which is as if it had not been asked
	[[ ! -e out ]]
	[[ $(dsvc-status --json | jq '.jobs | length') == 0 ]]
	run -64 dsvc-save --wait-workers many -e 'range 7' out
	[[ $output == *'write 2, or 2/30s'* ]]
	spawn save dsvc-save --wait-workers 1/100s -e 'range 7' there
	start one dsvc-work -j 1
	reap save 60
	((status == 0))
	whole there 7
}

@test "of endless data the first N are saved, by one stream" {
	service 2
	run -65 dsvc-save -e counter out
	[[ $output == *'has no end'*'-n N'* ]]
	run -64 dsvc-save -n 100 --shards 3 -e counter out
	within 30s dsvc-save -n 5000 --chunk 2k -e counter out
	whole out 5000
	[[ $(jq .streams out/SNAPSHOT) == 1 ]]
}

# A program in the mount namespace of the worker.
inside() { nsenter -t "${pid[work]}" -U -m --preserve-credentials "$@"; }
pass() { dsvc-status --json | jq -r ".jobs[0].iterations[0] | $1"; }
stands_still() { [[ $(pass .stands_still) == 'stream '*' on worker '*': No space left on device' ]]; }

@test "a full disk makes a save wait and say so, and it goes on when there is room" {
	mkdir small
	start dispatch dsvc-dispatch
	# shellcheck disable=SC2016
	start work unshare -rm bash -c 'mount -t tmpfs -o size=1M none "$0" && exec "$@"' "$PWD/small" \
		dsvc-work -j 2
	inside dd if=/dev/zero of="$PWD/small/rest" bs=1k count=800 status=none
	spawn save nsenter -t "${pid[work]}" -U -m --preserve-credentials \
		dsvc-save -v --chunk 50k -e 'range 100000' "$PWD/small/out"
	until_true 20s stands_still
	[[ $(dsvc-status) == *'    stands still: stream '* ]]
	until_true 20s grep -q 'no room in' save.err
	[[ $(<work.err) == *'No space left on device; it is tried again'* ]]
	[[ $(dsvc-events) == *'still: cannot write '* ]]
	inside rm "$PWD/small/rest"
	reap save 30
	((status == 0))
	[[ $(<save.err) == *' 100000 elements, '* ]]
	inside "$B/bin/dsvc-run" "load $PWD/small/out | sort" | cmp - <(seq 0 99999)
	# and what it has saved is told
	[[ $(pass '[.chunks > 3, .saved, .bytes > 300000, .stands_still] | join(" ")') == 'true 100000 true ' ]]
	[[ $(dsvc-status) == *'saved '*' chunk'*'  100000 elements  0.'*' MiB'* ]]
	[[ $(dsvc-status --audit all) == *balanced*'saved '*' chunk'*'  100000 elements  0.'*' MiB'* ]]
	# which it need not do
	inside dd if=/dev/zero of="$PWD/small/rest" bs=1k count=800 status=none || true
	run -74 inside dsvc-save --fail -e 'range 100000' "$PWD/small/more"
	[[ $output == *'No space left on device'* ]]
}

# The file that is being written is larger than $1, or all is saved.
grown() { [[ -e out/SNAPSHOT || $(find out -name '*.part' -printf '%s\n' | sort -n | tail -1) -gt $1 ]]; }

@test "workers are killed while they write the same file, and it goes on where they were" {
	start dispatch dsvc-dispatch
	local i size=0 killed=0
	# one split, for a compressed file is not cut
	seq 0 59999 | gzip >lines.gz
	spawn save dsvc-save --shards 1 -e 'lines lines.gz | map int(x) | rate 20k' out
	for i in 1 2 3 4; do
		start work$i dsvc-work -j 1 --restart-interval 20ms
		# (what is written before the file is full is written for a restart point)
		until_true 20s grown "$size"
		[[ -e out/SNAPSHOT ]] || killed=$i
		stop work$i KILL || true
		size=$(find out -name '*.part' -printf '%s\n' | sort -n | tail -1)
	done
	start last dsvc-work -j 1
	reap save 40
	((status == 0 && killed > 0))
	whole out 60000
}

@test "a file ends when its time is over, and the same files come out after a kill" {
	kept
	start one dsvc-work -j 1
	spawn save dsvc-save --chunk-time 30ms -e 'range 30000 | rate 20k' out
	until_true 20s files out 3
	stop one KILL || true
	start two dsvc-work -j 1
	reap save 40
	((status == 0))
	whole out 30000
	[[ ! $(find out -name '*.part') ]]
}

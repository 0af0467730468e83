#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What is kept in folders (save, snapshot, cache), as others read it, and after a kill.
# shellcheck disable=SC2016,SC2154

bats_require_minimum_version 1.5.0
load lib/dsvc

setup() { dsvc_setup; cd "$BATS_TEST_TMPDIR" || return; }

# Kills a run when at least N names are in the folder out.
cut_off() { # N ARG...
	local n=$1
	shift
	spawn run dsvc-run "$@"
	until_true 20s enough "$n"
	stop run KILL || true
}
enough() { [[ $(find out -mindepth 1 2>/dev/null | wc -l) -ge $1 ]]; }

@test "save writes what its formats' own readers read" {
	dsvc-run -t none 'range 100 | map {id: x, half: x * 0.5, t: "a,\"" ++ str(x)} | save csv format=csv file_size=300 shards=2'
	(($(ls csv | wc -l) > 2))
	run -0 python3 -c '
import csv, glob
rows = [r for f in sorted(glob.glob("csv/*.csv")) for r in csv.DictReader(open(f))]
print(len(rows), sum(int(r["id"]) for r in rows), rows[0]["t"], sorted(rows[0]))'
	[[ $output == "100 4950 a,\"0 ['half', 'id', 't']" ]]
	dsvc-run -t none 'range 100 | map {__key__: "k" ++ str(x), txt: str(x), json: {a: x}} | save tar format=tar file_size=30k'
	(($(ls tar | wc -l) > 2))
	[[ $(for f in tar/*.tar; do tar tf "$f" || exit; done | sed -n '1p;2p;$p' | paste -sd' ') == 'k0.txt k0.json k99.json' ]]
	run -0 python3 -c '
import glob, json, tarfile
n = 0
for f in sorted(glob.glob("tar/*.tar")):
    t = tarfile.open(f)
    for m in t:
        if m.name.endswith(".json"): n += json.load(t.extractfile(m))["a"]
print(n)'
	[[ $output == 4950 ]]
	[[ $(dsvc-run 'tar tar/*.tar decode=true | map .json.a' | cksum) == "$(seq 0 99 | cksum)" ]]
	dsvc-run -t none 'range 100 | map [x, x * x] | save npy format=npy file_size=500'
	run -0 python3 -c '
import ast, glob, struct
n = total = 0
for f in sorted(glob.glob("npy/*.npy")):
    d = open(f, "rb").read()
    assert d[:6] == b"\x93NUMPY", f
    k = struct.unpack("<H", d[8:10])[0]
    h = ast.literal_eval(d[10:10 + k].decode())
    v = struct.unpack("<%dq" % (h["shape"][0] * h["shape"][1]), d[10 + k:])
    n += h["shape"][0]; total += sum(v[1::2])
print(n, total)'
	[[ $output == '100 328350' ]]
	dsvc-run -t none 'range 100 | map {id: x} | save tfr format=tfrecord file_size=500'
	run -0 python3 -c '
import glob, struct
table = []
for i in range(256):
    for _ in range(8): i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
    table.append(i)
def mask(b):
    c = 0xffffffff
    for x in b: c = table[(c ^ x) & 255] ^ c >> 8
    c ^= 0xffffffff
    return (c >> 15 | c << 17) + 0xa282ead8 & 0xffffffff
n = 0
for f in sorted(glob.glob("tfr/*.tfrecord")):
    d, at = open(f, "rb").read(), 0
    while at < len(d):
        size, crc = struct.unpack("<QI", d[at:at + 12])
        assert mask(d[at:at + 8]) == crc
        assert mask(d[at + 12:at + 12 + size]) == struct.unpack("<I", d[at + 12 + size:at + 16 + size])[0]
        at += 16 + size; n += 1
print(n)'
	[[ $output == 100 ]]
	run -0 dsvc-run 'tfrecord tfr/*.tfrecord as=example | stats .id'
	[[ $output == '{"count":100,"sum":4950,'* ]]
}

@test "an element that a format has no place for is the element's error" {
	run -65 dsvc-run 'elements [{a: 1}, {b: 2}] | save out format=csv'
	[[ $output == *'it has a field `b`, which the first record has not'* ]]
	dsvc-run -t none 'elements [{a: 1}, {b: 2}, {a: 3}] | save two format=csv on_error=skip'
	[[ $(<two/data-00000-000-00000.csv) == $'a\n1\n3' ]]
	run -65 dsvc-run 'load two'
	[[ $output == *'is for the source `csv`'*'csv two/*.csv'* ]]
}

@test "save killed: what has a name is whole, and the same pass goes through again" {
	cut_off 6 --seed 5 'range 3_000_000 | save out file_size=100k'
	run -66 dsvc-run 'load out'
	[[ $output == *"'out' is not finished: "*" files so far"*"wait=true"*"partial=true"* ]]
	n=$(dsvc-run -t count 'load out partial=true')
	((n > 0 && n < 3000000))
	dsvc-run 'load out partial=true' | cmp - <(seq 0 $((n - 1)))
	run -65 dsvc-run --seed 6 'range 3_000_000 | save out file_size=100k'
	[[ $output == *'holds what another pass saved'* ]]
	dsvc-run -t none --seed 5 'range 3_000_000 | save out file_size=100k'
	dsvc-run 'load out' | cmp - <(seq 0 2999999)
	[[ -e out/SNAPSHOT ]]
	[[ ! $(find out -name '*.part') ]]
}

@test "snapshot killed: it is not taken for whole, and the same pipeline begins it anew" {
	cut_off 6 'range 3_000_000 | snapshot out file_size=100k'
	dsvc-run 'range 3_000_000 | snapshot out file_size=100k' | cmp - <(seq 0 2999999)
	# From the folder now, whatever the input would be.
	mv out/data-00000-000-00000.msgpack "$BATS_TEST_TMPDIR/gone"
	n=$(dsvc-run -t count 'range 3_000_000 | snapshot out file_size=100k')
	((n > 0 && n < 3000000))
	run -65 dsvc-run 'range 7 | snapshot out'
	[[ $output == *'holds the snapshot of another pipeline'* ]]
	run -0 dsvc-run -t count 'range 7 | snapshot out overwrite=true'
	[[ $output == 7 ]]
}

@test "a cache killed leaves nothing, and the next run makes it" {
	mkfifo in
	spawn run bash -c 'exec dsvc-run -t none "stdin | cache out" <in'
	exec 8>in
	seq 0 299999 >&8
	until_true 5s test -d out
	stop run KILL || true
	exec 8>&-
	[[ ! $(find out -mindepth 1) ]]
	seq 0 299999 >lines.txt
	dsvc-run 'lines lines.txt | cache out' | cmp - lines.txt
	[[ $(find out -mindepth 1 | wc -l) == 1 ]]
	: >lines.txt
	[[ $(dsvc-run -t count 'lines lines.txt | cache out') == 300000 ]]
}

@test "workers save in every format, one of them killed on the way" {
	service 2
	local f n
	for f in msgpack csv tar; do
		spawn read dsvc-read -e "range 100_000 | map {__key__: str(x), cls: x} | save $PWD/$f format=$f file_size=200k"
		until_true 20s test -s read.out
		stop "work${killed:-1}" KILL || true
		start "work${killed:-1}" dsvc-work
		reap read 60
		((status == 0))
		[[ ! $(find "$f" -name '*.part') ]]
	done
	[[ $(dsvc-run 'load msgpack | map .cls | sort' | cksum) == "$(seq 0 99999 | cksum)" ]]
	[[ $(dsvc-run 'csv csv/*.csv | map .cls | sort' | cksum) == "$(seq 0 99999 | cksum)" ]]
	[[ $(dsvc-run 'tar tar/*.tar decode=true | map .cls | sort' | cksum) == "$(seq 0 99999 | cksum)" ]]
}

@test "a folder is whole when all streams that write there have ended" {
	service 2
	within 30s dsvc-read -t none --order stable --shards 5 -e "range 20000 | save $PWD/five"
	[[ $(<five/SNAPSHOT) == '{"streams": 5, '* ]]
	dsvc-run 'load five | sort' | cmp - <(seq 0 19999 | sort -n)
	# a stream's mark alone is not the whole
	rm five/SNAPSHOT
	run -66 dsvc-run 'load five'
	# nor is the whole what it was without one of its files
	within 30s dsvc-read -t none --order stable --shards 5 -e "range 20000 | save $PWD/six"
	rm six/data-00003-*
	run -66 dsvc-run 'load six'
	[[ $output == *"4 of its 5 files are there"* ]]
	# by one worker alone, by streams as they come, and by whole copies
	within 30s dsvc-read -t none -e "elements [1, 2] | interleave (range x) | save $PWD/small"
	dsvc-run 'load small' >got
	[[ -s got ]]
	within 30s dsvc-read -t none -e "range 3000000 | map x + 1 | save $PWD/large"
	[[ $(dsvc-run -t count 'load large') == 3000000 ]]
	within 30s dsvc-read -t none --sharding off -e "range 10 | save $PWD/copies"
	[[ -e copies/SNAPSHOT ]]
	# a reader that wants no more breaks it off
	within 30s dsvc-read -t none -n 1 -e "counter | save $PWD/cut file_size=100k"
	run -66 dsvc-run 'load cut'
}

@test "a worker that is killed while it saves leaves a folder that others make whole" {
	start dispatch dsvc-dispatch
	start one dsvc-work -j 2
	mkfifo pipe
	spawn reader bash -c 'exec dsvc-read --order stable --shards 4 --window 1 -e "$1" >pipe' - \
		"range 400000 | rate 400k | tee (| save $PWD/out file_size=50k)"
	exec {pipe}<pipe
	IFS= read -r -t 20 -u "$pipe" _
	kill -KILL "${pid[one]}"
	reap one
	run -66 dsvc-run 'load out'
	start two dsvc-work -j 2
	[[ $(wc -l <&"$pipe") == 399999 ]]
	reap reader 30
	((status == 0))
	dsvc-run 'load out | sort' | cmp - <(seq 0 399999)
}

@test "load wait=true reads what a save completes, as it does, and ends with it" {
	mkfifo in
	mkfifo pipe
	spawn save bash -c 'exec dsvc-run -t none "stdin | map int(x) | save out file_size=1k" <in'
	spawn read bash -c 'exec dsvc-run "load out wait=true" >pipe'
	exec {in}>in {pipe}<pipe
	seq 0 999 >&"$in"
	IFS= read -r -t 20 -u "$pipe" first
	[[ $first == 0 && ! -e out/SNAPSHOT ]]
	seq 1000 1999 >&"$in"
	exec {in}>&-
	cmp - <(seq 1 1999) <&"$pipe"
	reap save
	reap read
	((status == 0))
	# afterwards the same, and from a position in it
	dsvc-run 'load out wait=true' | cmp - <(seq 0 1999)
	service 1
	run -0 dsvc-read --checkpoint at -n 700 -e "load $PWD/out wait=true"
	dsvc-read --checkpoint at -e "load $PWD/out wait=true" >rest
	[[ $(sort -n -u <(printf '%s\n' "$output") rest | cksum) == "$(seq 0 1999 | cksum)" ]]
	[[ $(wc -l <rest) == 1300 ]]
	# a folder that is not there yet is waited for
	spawn late dsvc-run 'load later wait=true'
	dsvc-run -t none 'range 3 | save later'
	reap late
	[[ $(<late.out) == $'0\n1\n2' ]]
}

@test "load wait=true of what several workers save, one of them killed" {
	service 2
	spawn read dsvc-run "load $PWD/out wait=true"
	spawn save dsvc-read -t none --order stable --shards 4 -e "range 400000 | rate 400k | save $PWD/out file_size=50k"
	until_true 20s test -s read.out
	stop work1 KILL || true
	start work1 dsvc-work
	reap save 60
	((status == 0))
	reap read 20
	((status == 0))
	sort -n read.out | cmp - <(seq 0 399999)
	# the order is the same for everybody
	dsvc-run "load $PWD/out wait=true" | cmp - read.out
}

@test "a save that fails says why in the folder, and load tells it" {
	run -65 dsvc-run 'range 10 | map 1 / (x - 5) | save out'
	run -65 dsvc-run 'load out'
	[[ $output == *"the save to 'out' has failed: operator 2"*'division by zero'*'partial=true'* ]]
	run -65 dsvc-run 'load out wait=true'
	[[ $output == *'division by zero'* ]]
	# the next one makes it whole, and one that is refused leaves it so
	dsvc-run -t none --seed 5 'range 10 | save out overwrite=true'
	run -65 dsvc-run --seed 6 'range 11 | save out'
	dsvc-run 'load out' | cmp - <(seq 0 9)
	service 2
	run -65 dsvc-read -t none -e "range 100000 | map 1 / (x - 70000) | save $PWD/far"
	run -65 dsvc-run 'load far'
	[[ $output == *'division by zero'* ]]
	# nothing was written: there is the reason alone
	run -65 dsvc-save --quiet "$PWD/none" -e 'range 3 | map 1 / (x - x)'
	run -65 dsvc-run 'load none'
	[[ $output == *'division by zero'* ]]
	run -65 dsvc-run 'load none wait=true'
	[[ $output == *'division by zero'* ]]
}

@test "a saved file that was damaged, cut or lost is not read" {
	dsvc-run -t none 'range 3000 | save out file_size=2k'
	cp -r out lost
	run -0 dsvc-run -t count 'load "*"'
	[[ $output == 6000 ]]
	cp -r out cut && cp -r out other
	printf '\x07' | dd of=out/data-00000-000-00001.msgpack bs=1 seek=30 conv=notrunc status=none
	run -65 dsvc-run 'load out'
	[[ $output == *"data-00000-000-00001.msgpack' is damaged: its checksum is "* ]]
	run -65 dsvc-run 'load out wait=true'
	run -65 dsvc-run 'load out partial=true'
	truncate -s 100 cut/data-00000-000-00001.msgpack
	run -65 dsvc-run 'load cut'
	[[ $output == *' has 100 bytes, and SNAPSHOT says '* ]]
	rm lost/data-00000-000-00001.msgpack
	run -66 dsvc-run 'load lost'
	rm -r out cut
	run -66 dsvc-run 'load "*"'
	[[ $output == *"'lost' is not complete: "* ]]
	# a large one is not given to its end, whatever it is packed with
	local codec
	for codec in none snappy zstd; do
		dsvc-run -t none "range 300000 | save $codec compression=$codec"
		cp -r $codec long
		printf '\x07' | dd of="$(echo $codec/data-*)" bs=1 seek=150 conv=notrunc status=none
		run -65 dsvc-run -t count "load $codec"
		[[ $output == *"' is damaged: its checksum is "* ]]
		printf '\x07' >>long/data-*
		run -65 dsvc-run -t count 'load long'
		rm -r long
	done
	# what is no part of it is not read
	cp other/data-00000-000-00000.msgpack other/data-00000-000-00009.msgpack
	dsvc-run 'load other' | cmp - <(seq 0 2999)
}

@test "a save begun anew with other files leaves none of the old ones" {
	cut_off 6 --seed 5 'range 3_000_000 | save out file_size=100k'
	run -65 dsvc-run --seed 5 'range 30 | save out file_size=10k'
	[[ $output == *'holds what another pass saved'* ]]
	dsvc-run -t none --seed 5 'range 30 | save out file_size=10k overwrite=true'
	dsvc-run 'load out' | cmp - <(seq 0 29)
	[[ $(find out -name 'data-*' | wc -l) == 1 ]]
	dsvc-run 'load out wait=true' | cmp - <(seq 0 29)
	# the same pipeline over another input, which gives fewer files
	seq 1000 >lines.txt
	dsvc-run -t none --seed 5 'lines lines.txt | save again file_size=1k'
	seq 10 >lines.txt
	dsvc-run -t none --seed 5 'lines lines.txt | save again file_size=1k'
	dsvc-run 'load again' | cmp - <(seq 10)
	[[ $(find again -name 'data-*' | wc -l) == 1 ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Arrow files and streams as a source, beside what pyarrow says is in them.
# shellcheck disable=SC2016,SC2154

load lib/dsvc
load lib/parquet

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

@test "each type, from files and streams, from standard input and compressed" {
	for file in t.arrow t.arrows; do
		pyarrow make types "$file"
		pyarrow rows "$file" >want
		dsvc-run "arrow $file" >got
		diff <(jq -S . want) <(jq -S . got)
		dsvc-run 'arrow -' <"$file" | cmp - got
		gzip -c "$file" >z.gz
		dsvc-run 'arrow z.gz' | cmp - got
		dsvc-run 'arrow -' <z.gz | cmp - got
		dsvc-run "arrow $file times=text decimals=text columns=[\"millis\", \"wide\", \"int8\"] | take 1" >one
		cmp one <(echo '{"millis":"2024-02-29T12:30:00.500","wide":"10000000000000000000000000000000000000000.000","int8":-128}')
	done
	dsvc-run -t arrow 'arrow t.arrow columns=["text", "list", "struct"]' | dsvc-run 'arrow -' |
		cmp - <(dsvc-run 'arrow t.arrows columns=["text", "list", "struct"]')
	run -0 dsvc-run --explain 'arrow t.arrow columns=["int8", "nothing"]'
	[[ $output == *'{int8: int?, nothing: null}'*'3 elements'* ]]
	run -0 dsvc-run --explain 'arrow t.arrows columns=["int8"]'
	[[ $output == *'{int8: int?}'* && $output != *'3 elements'* ]]
}

@test "batches, codecs, no rows, no columns; the columns that nobody looks at are left out" {
	for kind in zstd lz4 groups; do
		pyarrow make "$kind" n.arrow
		pyarrow rows n.arrow >want
		dsvc-run 'arrow n.arrow' | cmp - <(jq -c . want)
		[[ $(dsvc-run 'arrow n.arrow | count') == $(wc -l <want) ]]
	done
	for kind in empty none; do
		for file in e.arrow e.arrows; do
			pyarrow make "$kind" "$file"
			[[ $(dsvc-run -t count "arrow $file") == 0 ]]
		done
	done
	run -0 dsvc-run --explain 'arrow n.arrow | map .id'
	[[ $output == *'reads .id'* ]]
	dsvc-run 'arrow n.arrow columns=["group", "id"] with_name=true | skip 39999' |
		cmp - <(echo '{"file":"n.arrow","record":40000,"group":19,"id":39999}')
	run -65 --separate-stderr dsvc-run 'arrow n.arrow columns=["id", "no"]'
	[[ $stderr == *'n.arrow: it has no column `no`'* ]]
	run -65 --separate-stderr dsvc-run 'arrow n.arrow | map .no'
	[[ $stderr == *'no'* ]]
	pyarrow make types t.arrow
	run -65 --separate-stderr dsvc-run -t none 'arrow n.arrow t.arrow'
	[[ $stderr == *'t.arrow: it has no column `id`'* ]]
}

@test "each type, comparison and constant: the same rows as when the filter is hidden" {
	pyarrow make matrix m.arrow
	pyarrow tests m.arrow >tests
	split -l 400 tests part.
	for p in part.*; do
		echo "concat $(tr '\n' ' ' <"$p")" >spec
		dsvc-run -q -f spec
	done >got
	[[ $(wc -l <got) == "$(wc -l <tests)" ]]
	diff <(awk 'NR % 2' got) <(awk 'NR % 2 == 0' got)
	pyarrow make unfit u.arrow
	run -65 --separate-stderr dsvc-run 'arrow u.arrow'
	[[ $stderr == *'u.arrow:2: '*'record batch 0: the column `m`: a map with more than 4096 keys'* ]]
	run -0 dsvc-run 'arrow u.arrow with_name=true | filter .id != 1 | map [.record, .m]'
	[[ $output == $'[1,{"a":1}]\n[3,{}]' ]]
	[[ $(dsvc-run -q 'arrow u.arrow on_error=skip' 2>err | wc -l) == 2 ]]
}

@test "a file is divided between its batches, each of which is read once, and a pass goes on at any row" {
	pyarrow make large l.arrow
	pyarrow make groups g.arrows
	run -0 dsvc-run --explain 'arrow l.arrow'
	[[ $output == *'cut into byte ranges'* ]]
	dsvc-run -j 3 'arrow l.arrow | map .id' | sort -n | cmp - <(seq 0 399999)
	service 2
	dsvc-read -J all -e 'arrow l.arrow g.arrows | map .id' | sort -n | cmp - <({ seq 0 399999; seq 0 39999; } | sort -n)
	for file in l.arrow g.arrows; do
		dsvc-read -J "at-$file" -n 3000 --checkpoint at --order source -e "arrow $file | map .id" >one
		dsvc-read -J "at-$file" --checkpoint at --order source -e "arrow $file | map .id" >two
		cat one two | cmp - <(seq 0 "$(($(wc -l <two) + 2999))")
		[[ $(wc -l <two) -ge 37000 ]]
		rm at
	done
	[[ $(dsvc-run 'arrow l.arrow | filter .id >= 390000 | distribute | count') == 10000 ]]
}

@test "what is malformed, cut or no Arrow is an error that names the file and the batch, and never more" {
	for file in gone.arrow .; do run -66 dsvc-run "arrow $file"; done
	: >empty
	echo '{"a":1}' >no
	printf 'ARROW1' >short
	for file in empty no short; do
		run -65 --separate-stderr dsvc-run "arrow $file"
		[[ $stderr == *"$file: the schema cannot be read: "* ]]
	done
	pyarrow make zstd z.arrow
	pyarrow make zstd z.arrows
	head -c 20000 z.arrow >cut.arrow
	run -65 --separate-stderr dsvc-run 'arrow cut.arrow'
	[[ $stderr == *'cut.arrow: '* ]]
	head -c 20000 z.arrows >cut.arrows
	run -65 --separate-stderr dsvc-run 'arrow cut.arrows'
	[[ $stderr == *'cut.arrows:1001: '*'record batch 1: '* && $(wc -l <<<"$output") == 1000 ]]
	[[ $(dsvc-run -q -t count 'arrow cut.arrows z.arrow on_error=skip' 2>err) == 6000 ]]
	python3 -c '
b = bytearray(open("z.arrow", "rb").read())
n = len(b) // 3
b[n:n + 2000] = bytes(2000)
open("bad.arrow", "wb").write(b)'
	run -65 --separate-stderr dsvc-run 'arrow bad.arrow'
	[[ $stderr == *'bad.arrow:'*'record batch 1: '* ]]
	dsvc-run -q 'arrow bad.arrow on_error=skip' 2>err | jq .id | cmp - <(seq 0 999; seq 2000 4999)
	# What was not asked for is not looked at.
	dsvc-run -q 'arrow bad.arrow | map .id' | cmp - <(seq 0 4999)
}

@test "files of which any bytes were changed end with rows or an error" {
	pyarrow make types t.arrow
	pyarrow make types t.arrows
	python3 -c '
import random
r = random.Random(5)
for name in ("t.arrow", "t.arrows"):
    b = open(name, "rb").read()
    for i in range(60):
        c = bytearray(b)
        for _ in range(r.choice((1, 1, 3, 30))):
            c[r.randrange(len(c))] = r.choice((0, 1, 127, 128, 255, r.randrange(256)))
        open(f"{i}.{name}", "wb").write(c[:r.randrange(len(c))] if i % 6 == 5 else c)'
	# what the address sanitizer keeps beside each byte is no memory that is used
	local most=9000000
	measured || most=unlimited
	for file in [0-9]*.arrow*; do
		rc=0
		(ulimit -v "$most"; timeout 20 dsvc-run -q -t none "arrow $file" 2>err) || rc=$?
		[[ $rc == 0 || $rc == 65 ]] || { echo "$file: $rc"; cat err; false; }
	done
}

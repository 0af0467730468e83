#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Parquet: what is in a file, its splits, what is skipped, and what is wrong with bad files; beside pyarrow.
# shellcheck disable=SC2016,SC2154

load lib/dsvc
load lib/parquet

setup() {
	dsvc_setup
	cd "$BATS_TEST_TMPDIR" || return
}

# JSON as one program prints it.
same() { cmp <(jq -c . "$1") <(jq -c . "$2"); }

@test "values of every type are those that pyarrow reads" {
	pyarrow make types t.parquet
	pyarrow rows t.parquet >want
	dsvc-run 'parquet t.parquet' >got
	same got want
	run -0 dsvc-run 'parquet t.parquet columns=["millis", "date", "time_us", "span", "wide", "micros"] times=text decimals=text | take 1'
	[[ $output == '{"millis":"2024-02-29T12:30:00.500","date":"1970-01-02","time_us":"01:02:03.250000","span":"PT1.500S","wide":"10000000000000000000000000000000000000000.000","micros":"2024-02-29T12:30:00.500000Z"}' ]]
	run -0 dsvc-run 'parquet t.parquet columns=["millis", "date"] times=int | take 1'
	[[ $output == '{"millis":1709209800500,"date":1}' ]]
	run -0 dsvc-run --explain 'parquet t.parquet columns=["int8", "struct", "lists", "nothing"]'
	[[ $output == *'{int8: int?, struct: {a: int?, b: {c: text?}?}?, lists: [[text?]?]?, nothing: null}'* ]]
}

@test "codecs, pages of both versions, many row groups and none" {
	for kind in none empty groups zstd snappy gzip2 brotli lz4 snappy2; do
		pyarrow make "$kind" "$kind.parquet"
		pyarrow rows "$kind.parquet" >want
		dsvc-run "parquet $kind.parquet" >got
		same got want
	done
	[[ $(dsvc-run -t count 'parquet {zstd,snappy,gzip2}.parquet') == 15000 ]]
	[[ $(dsvc-run 'parquet groups.parquet zstd.parquet | count') == 45000 ]]
	run -0 dsvc-run 'parquet groups.parquet with_name=true | skip 39999 | map [.file, .record, .id]'
	[[ $output == '["groups.parquet",40000,39999]' ]]
}

@test "only the columns are read that are named or looked at" {
	pyarrow make groups g.parquet
	pyarrow rows g.parquet group id >want
	dsvc-run 'parquet g.parquet columns=["group", "id"]' | cmp - <(jq -c . want)
	run -0 dsvc-run --explain 'parquet g.parquet | map .id'
	[[ $output == *'reads .id'* ]]
	run -65 --separate-stderr dsvc-run 'parquet g.parquet columns=["id", "no"]'
	[[ $stderr == *'it has no column `no`'* ]]
	run -65 --separate-stderr dsvc-run 'parquet g.parquet | map .no'
	[[ $stderr == *'.no'* ]]
}

@test "a large file is divided, and nothing is lost when a worker is killed" {
	pyarrow make large l.parquet
	service 2
	dsvc-read -J sum --timeout 100s -e 'parquet l.parquet | map .id' >got &
	reader=$!
	until_true 20s test -s got
	stop work1 KILL || true
	wait "$reader"
	sort -n got | cmp - <(seq 0 399999)
	run -0 dsvc-status --audit sum
	[[ $output == *'0 lost'*'0 repeated'* || $output == *'400000'* ]]
}

@test "a stream goes on in the middle of a row group" {
	pyarrow make groups g.parquet
	service 1
	dsvc-read -n 3000 --checkpoint at --order source -e 'parquet g.parquet | map .id' >one
	dsvc-read --checkpoint at --order source -e 'parquet g.parquet | map .id' >two
	cat one two | sort -n | cmp - <(seq 0 39999)
}

@test "rows by index: shuffle all and shard" {
	pyarrow make groups g.parquet
	dsvc-run --seed 3 'parquet g.parquet | shuffle all | map .id' >got
	sort -n got | cmp - <(seq 0 39999)
	run -1 cmp -s got <(seq 0 39999)
	# With room for one row group, nearly each row decodes another one.
	dsvc-run -q --seed 3 'parquet g.parquet hold=100k | shuffle all | take 1000 | map .id' | cmp - <(head -n 1000 got)
	dsvc-run 'parquet g.parquet g.parquet | shard 3 1 | map .id' | cmp - <({ seq 0 39999; seq 0 39999; } | awk 'NR % 3 == 2')
}

@test "files of one pipeline have the same columns" {
	pyarrow make groups a.parquet
	pyarrow make types b.parquet
	run -65 --separate-stderr dsvc-run -t none 'parquet a.parquet b.parquet'
	[[ $stderr == *'b.parquet'*'no column `id`'*'columns='* ]]
}

@test "bad files are errors with file and row group" {
	printf 'PAR1 no Parquet PAR1' >no
	run -65 --separate-stderr dsvc-run 'parquet no'
	[[ $stderr == *'no: '* ]]
	: >empty
	run -65 --separate-stderr dsvc-run 'parquet empty'
	run -66 --separate-stderr dsvc-run 'parquet gone.parquet'
	run -65 --separate-stderr dsvc-run 'parquet -'
	[[ $stderr == *'standard input'* ]]
	run -66 --separate-stderr dsvc-run 'parquet .'
	pyarrow make zstd z.parquet
	head -c 20000 z.parquet >cut.parquet
	run -65 --separate-stderr dsvc-run 'parquet cut.parquet'
	# The second row group is overwritten.
	python3 -c '
b = bytearray(open("z.parquet", "rb").read())
n = len(b) // 3
b[n:n + 2000] = bytes(2000)
open("bad.parquet", "wb").write(b)'
	run -65 --separate-stderr dsvc-run 'parquet bad.parquet'
	[[ $stderr == *'bad.parquet:'*'row group 1: '* ]]
	# The others are still read.
	run -0 --separate-stderr dsvc-run 'parquet bad.parquet on_error=skip'
	[[ $stderr == *'1 element failed'* ]]
	[[ $(jq .id <<<"$output") == "$(seq 0 999; seq 2000 4999)" ]]
}

@test "whatever bytes are changed, nothing but errors comes of it" {
	pyarrow make types t.parquet
	python3 -c '
import random
b = open("t.parquet", "rb").read()
r = random.Random(5)
for i in range(60):
    c = bytearray(b)
    for _ in range(r.choice([1, 3, 20])):
        c[r.randrange(len(c)) if i % 2 else len(c) - 1 - r.randrange(len(c) // 2)] = r.randrange(256)
    open(f"m{i}.parquet", "wb").write(c)'
	for i in {0..59}; do
		status=0
		timeout 50 dsvc-run "parquet m$i.parquet" >got 2>err || status=$?
		[[ $status == 0 || $status == 65 || $status == 69 ]] || { echo "$i: $status"; cat err; false; }
	done
}

@test "-t arrow writes a stream that pyarrow reads, whose first batch says what the columns are" {
	pyarrow make groups g.parquet
	pyarrow rows g.parquet >want
	dsvc-run -t arrow 'parquet g.parquet' | pyarrow stream | cmp - want
	dsvc-run -t arrow 'elements [{a: 1, b: [null]}, {b: ["x"], a: 1.5}]' | pyarrow stream >got
	[[ $(sed "s, ,,g" got) == $'{"a":1.0,"b":[null]}\n{"a":1.5,"b":["x"]}' ]]
	dsvc-run -t arrow --unsparsify 'elements [{a: 1}, {c: {d: "x"}}]' | pyarrow stream >got
	[[ $(jq -c . got) == $'{"a":1,"c":null}\n{"a":null,"c":{"d":"x"}}' ]]
	run -65 --separate-stderr dsvc-run -t arrow 'elements [{a: 1}, {a: "x"}]'
	[[ $stderr == *'element 2: .a: it is text'* ]]
	run -65 --separate-stderr dsvc-run -t arrow 'range 3000 | map {b: x > 1500 ? 1.5 : x}'
	[[ $stderr == *'element 1502: .b: it is float, and the field was int'*'--unsparsify'* ]]
	run -65 --separate-stderr dsvc-run -t arrow 'elements [{a: 1}, {b: 2}]'
	[[ $stderr == *'a field `b`'* ]]
}

@test "without the plugin it says what is missing" {
	mkdir none
	DSVC_PLUGINS=$PWD/none run -69 --separate-stderr dsvc-run "parquet $BATS_TEST_DIRNAME/../docs/trips.parquet"
	[[ $stderr == *'libdsvc_arrow.so'*'make deps'* ]]
}

@test "-t arrow: an error at the end of the stream is reported, and no file is left" {
	# One record of 14000 empty ones, among which is one of 10000 fields: found out when the batch is made.
	python3 -c '
print("{\"a\":[{" + ",".join("\"f%d\":1" % i for i in range(10000)) + "}" + ",{}" * 14000 + "]}")' >wide.ndjson
	run -65 --separate-stderr dsvc-run -t arrow -o out.arrow 'ndjson wide.ndjson'
	[[ $stderr == *'cannot end the output: '*'14001 records of 10000 fields'* ]]
	[[ ! -e out.arrow ]]
	run -65 --separate-stderr bash -c "dsvc-run -t arrow 'ndjson wide.ndjson' | cat >got; exit \${PIPESTATUS[0]}"
	[[ $stderr == *'14001 records'* && ! -s got ]]
	service 1
	run -65 --separate-stderr dsvc-read -t arrow -o out.arrow -e "ndjson $PWD/wide.ndjson"
	[[ $stderr == *'14001 records'* ]]
	[[ ! -e out.arrow ]]
	run -74 --separate-stderr bash -c "dsvc-run -t arrow 'range 9 | map {v: x}' >/dev/full"
}

@test "-t arrow: into a file, through a service, and of no elements" {
	dsvc-run -t arrow -o a.arrow 'range 5000 | map {id: x, part: x % 3 == 0 ? null : float(x)}'
	pyarrow stream <a.arrow >got
	[[ $(wc -l <got) == 5000 && $(tail -1 got) == '{"id": 4999, "part": 4999.0}' ]]
	dsvc-run -t arrow -o none.arrow 'range 0 | map {id: x}'
	[[ $(pyarrow stream <none.arrow) == '' && -s none.arrow ]]
	dsvc-run -t arrow 'elements []' >empty.arrow
	[[ $(pyarrow stream <empty.arrow) == '' && -s empty.arrow ]]
	service 2
	dsvc-read -t arrow -o read.arrow -e 'range 5000 | map {id: x, t: tensor([x, 1])}'
	pyarrow stream <read.arrow | jq -c .id | sort -n | cmp - <(seq 0 4999)
	dsvc-read -t arrow -e 'range 0 | map {id: x}' >read0.arrow
	[[ $(pyarrow stream <read0.arrow) == '' && -s read0.arrow ]]
	run -65 --separate-stderr dsvc-read -t arrow -o bad.arrow -e 'elements [{a: 1}, {a: "x"}]'
	[[ $stderr == *'.a: it is'* && ! -e bad.arrow ]]
	run -65 --separate-stderr dsvc-run -t arrow 'range 3'
	[[ $stderr == *'rows of Arrow are records'* ]]
	run -64 --separate-stderr dsvc-run -t arrow --no-header 'range 3'
}

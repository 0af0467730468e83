# SPDX-License-Identifier: MIT
# Rows of sorting, joining, grouping and searching, beside GNU sort, ripgrep, wc, mawk, DuckDB and Polars.
# shellcheck shell=bash disable=SC2154,SC2317,SC2329

# Inputs that dsvc makes itself: the same each time.
tables_made() {
	made sort.txt text "lines $text | take 3_000_000"
	made ints.txt text 'range 5_000_000 | map hash(x) % 1_000_000_000_000'
	made words.txt text "lines $text | take 1_000_000 | map x ++ \" \" ++ str(hash(x) % 50000)"
	made sales.csv csv 'range 3_000_000 | map {id: hash(x) % 300000, name: "user" ++ str(hash(-x) % 1000000), amount: hash([x]) % 100000 / 100}'
	made shops.csv csv 'range 300_000 | shuffle all seed=1 | map {id: x, city: "city" ++ str(x % 997), score: hash(x) % 10000 / 7}'
}

# engines ROW WANTED: beside DuckDB and Polars, all with one thread and with two, each as far as it can be installed.
engines() {
	local row=$1 wanted=$2 engine threads jobs sink=/dev/null # theirs write there, too
	[ -n "${tables_python:-}" ] || tables_python=$(bench_python duckdb polars)
	for engine in duckdb polars; do
		"$tables_python" -c "import $engine" 2> "$work/err" || continue
		for threads in 1 2; do
			jobs=$threads
			theirs() { seconds "$tables_python" "$here/tables.py" "$engine" "$threads" "$row" "$data"; }
			row "  $row; $engine, $threads thread(s)" "$wanted" 1 'runs/s' ours theirs
		done
	done
}

row_sort() {
	tables_made
	local mem file spec
	for file in sort.txt ints.txt; do
		spec="lines $data/$file" numeric=
		[ "$file" = sort.txt ] || { spec="$spec | map int(x)"; numeric=-n; }
		for mem in 2G 64M; do
			ours() { seconds "$bin/dsvc-run" "$spec | sort mem=$mem"; }
			theirs() { LC_ALL=C seconds sort $numeric --parallel=2 -S "$mem" "$data/$file"; }
			row "sort $file, $mem; sort --parallel=2" 1.5 "$(size_of "$file" 1e6)" 'MB/s' ours theirs
		done
		ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" "$spec | sort mem=2G"; }
		[ "$file" = sort.txt ] && engines sort 1 || engines ints 1
	done
}

# The same table as Parquet, which dsvc does not write.
sales_parquet() {
	[ -n "${tables_python:-}" ] || tables_python=$(bench_python duckdb polars)
	[ -s "$data/sales.parquet" ] || "$tables_python" -c '
import duckdb, sys
duckdb.sql("copy (select * from read_csv(\x27%s/sales.csv\x27)) to \x27%s/sales.parquet\x27 (format parquet)" % ((sys.argv[1],) * 2))
' "$data" 2> "$work/err"
}

row_tables() {
	tables_made
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" "csv $data/sales.csv | unique .name | count"; }
	engines distinct 1
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" -t csv "csv $data/sales.csv | group_by .name n=count() m=mean(.amount)"; }
	engines group 1
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" -t csv "csv $data/sales.csv | join (csv $data/shops.csv) on=.id"; }
	engines join 1
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" -t csv "csv $data/sales.csv | top 10 .amount"; }
	engines top 1
	# they keep the records in memory, and ours go out as MessagePack
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" -t msgpack "csv $data/sales.csv"; }
	engines typed 1.5
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" -t ndjson "csv $data/sales.csv"; }
	engines ndjson 1.5
	sales_parquet || return 0
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" -t ndjson "parquet $data/sales.parquet | filter .amount > 900 | select name amount"; }
	engines parquet 1
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" -t ndjson "parquet $data/sales.parquet | filter .name == \"user5\""; }
	engines parquet_text 1
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" -t ndjson "parquet $data/sales.parquet"; }
	engines parquet_all 1
}

row_words() {
	tables_made
	ours() { seconds "$bin/dsvc-run" -j "${jobs:-1}" -t csv "lines $data/words.txt | flat_map split(x, \" \") | group_by x n=count()"; }
	engines words 1
	need mawk 'words counted' || return 0
	# shellcheck disable=SC2016
	theirs() { seconds mawk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print w, n[w] }' "$data/words.txt"; }
	row 'words counted; mawk' 3 "$(size_of words.txt 1e6)" 'MB/s' ours theirs
}

row_search() {
	local pattern
	ours() { seconds "$bin/dsvc-run" "lines $text | count"; }
	theirs() { seconds wc -l "$text"; }
	row 'lines | count; wc -l' 1 "$text_mb" 'MB/s' ours theirs
	need rg 'regular expressions' || return 0
	for pattern in ERROR 'status=50[0-4]' 'WARN|ERROR' '^2026-11-05' 'no such line'; do
		ours() { seconds "$bin/dsvc-run" -t count "lines $text | filter x ~ /$pattern/"; }
		theirs() { rg -j1 -c -- "$pattern" "$text" > /dev/null; [ $? -le 1 ]; }
		searched() { seconds theirs; }
		row "filter x ~ /$pattern/; rg -j1 -c" 1 "$text_mb" 'MB/s' ours searched
	done
}

# SPDX-License-Identifier: MIT
"""The rows about tables of `make bench` as a user of DuckDB or Polars writes them.

usage: tables.py duckdb|polars THREADS sort|ints|distinct|group|join|top|words|typed|ndjson|parquet|parquet_text|parquet_all FOLDER
Reads the files that bench/tables.bash makes, and writes to /dev/null; whole processes are timed.
"""
import os
import sys

ENGINE, THREADS, WHAT, FOLDER = sys.argv[1:5]


def at(name):
    return os.path.join(FOLDER, name)


def run_duckdb():
    import duckdb
    lines = "read_csv('%s', header=false, columns={'x': 'VARCHAR'}, delim='\x01', quote='', escape='')"
    numbers = "read_csv('%s', header=false, columns={'x': 'BIGINT'})"
    a, b = "read_csv('%s')" % at("sales.csv"), "read_csv('%s')" % at("shops.csv")
    con = duckdb.connect()
    con.execute("set threads=" + THREADS)
    if WHAT == "typed":
        con.execute("create temp table typed as select * from %s" % a)
        return
    query, form = {
        "sort": ("select x from %s order by x" % lines % at("sort.txt"), "csv"),
        "ints": ("select x from %s order by x" % numbers % at("ints.txt"), "csv"),
        "distinct": ("select count(*) from (select distinct name from %s)" % a, "csv"),
        "group": ("select name, count(*) n, avg(amount) m from %s group by name" % a, "csv"),
        "join": ("select a.*, b.* exclude (id) from %s a join %s b on a.id = b.id" % (a, b), "csv"),
        "top": ("select * from %s order by amount desc limit 10" % a, "csv"),
        "words": ("select w, count(*) n from (select unnest(string_split(x, ' ')) w from %s) group by w"
                  % lines % at("words.txt"), "csv"),
        "ndjson": ("select * from %s" % a, "json"),
        "parquet": ("select name, amount from '%s' where amount > 900" % at("sales.parquet"), "json"),
        "parquet_text": ("select * from '%s' where name = 'user5'" % at("sales.parquet"), "json"),
        "parquet_all": ("select * from '%s'" % at("sales.parquet"), "json"),
    }[WHAT]
    con.execute("copy (%s) to '/dev/null' (format %s)" % (query, form))


def run_polars():
    os.environ["POLARS_MAX_THREADS"] = THREADS
    import polars as pl

    def lines(name, kind):
        return pl.scan_csv(at(name), has_header=False, separator="\x01", quote_char=None, schema={"x": kind})

    sales, shops = pl.scan_csv(at("sales.csv")), pl.scan_csv(at("shops.csv"))
    amount = pl.col("amount").mean()
    if WHAT == "typed":
        sales.collect()
        return
    plan = {
        "sort": lambda: lines("sort.txt", pl.String).sort("x"),
        "ints": lambda: lines("ints.txt", pl.Int64).sort("x"),
        "distinct": lambda: sales.select(pl.col("name").n_unique()),
        "group": lambda: sales.group_by("name").agg(pl.len().alias("n"), amount),
        "join": lambda: sales.join(shops, on="id"),
        "top": lambda: sales.top_k(10, by="amount"),
        "words": lambda: lines("words.txt", pl.String).select(pl.col("x").str.split(" ").explode())
        .group_by("x").agg(pl.len()),
        "ndjson": lambda: sales,
        "parquet": lambda: pl.scan_parquet(at("sales.parquet")).filter(pl.col("amount") > 900).select("name", "amount"),
        "parquet_text": lambda: pl.scan_parquet(at("sales.parquet")).filter(pl.col("name") == "user5"),
        "parquet_all": lambda: pl.scan_parquet(at("sales.parquet")),
    }[WHAT]()
    if WHAT == "ndjson" or WHAT.startswith("parquet"):
        plan.sink_ndjson("/dev/null")
    else:
        plan.sink_csv("/dev/null")


if ENGINE == "duckdb":
    run_duckdb()
else:
    run_polars()

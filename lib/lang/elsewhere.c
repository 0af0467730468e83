/* SPDX-License-Identifier: MIT */
#include "lang/elsewhere.h"

#include <string.h>
#include <strings.h>

struct elsewhere { const char *there, *here; };

static const struct elsewhere elsewhere_words[] = {
	{ "agg", "group_by KEY n=count() ms=mean(.ms)" },
	{ "aggregate", "group_by KEY n=count() ms=mean(.ms)" },
	{ "apply", "let NAME = | ...   and then   ... | NAME" },
	{ "arrange", "sort EXPR" },
	{ "as_numpy_iterator", "-t npy" },
	{ "avg", "stats EXPR, or group_by KEY agg=mean" },
	{ "awk", "exec proto=stream -- awk PROGRAM" },
	{ "buffer", "prefetch N" },
	{ "chunk", "batch N" },
	{ "collect", "group_by KEY agg=list, or batch N" },
	{ "concatenate", "concat (PIPELINE) (PIPELINE)" },
	{ "convert", "exec proto=arg bytes=true -- convert {} jpg:-" },
	{ "count_distinct", "group_by KEY n=count()" },
	{ "count_similar", "group_by KEY n=count()" },
	{ "cut", "select FIELD..., or map split(x, \",\")[0]" },
	{ "decimate", "shard N 0" },
	{ "del", "drop FIELD..." },
	{ "delay", "sleep DURATION" },
	{ "delete", "drop FIELD..." },
	{ "dense_to_ragged_batch", "ragged_batch N" },
	{ "dense_to_sparse_batch", "ragged_batch N as=coo" },
	{ "describe", "stats EXPR" },
	{ "distinct", "unique" },
	{ "each", "map EXPR, or exec proto=arg -- COMMAND {}" },
	{ "exclude", "drop FIELD..., or filter not TEST" },
	{ "ffill", "fill FIELD..." },
	{ "fill_down", "fill FIELD..." },
	{ "find", "files PATTERN" },
	{ "first", "take 1" },
	{ "flatten", "unbatch, or flat_map x" },
	{ "foreach", "map EXPR" },
	{ "from_generator", "cmd -- PROGRAM" },
	{ "from_list", "elements [1, 2, 3]" },
	{ "from_tensor_slices", "elements [1, 2, 3], or npy FILE" },
	{ "from_tensors", "elements [[1, 2, 3]]" },
	{ "generate", "range N, or counter" },
	{ "glob", "files PATTERN" },
	{ "group", "group_by KEY" },
	{ "group_by_reducer", "group_by KEY init=VALUE reduce=EXPR" },
	{ "gunzip", "lines FILE (compressed files are decompressed; they are recognised by their content)" },
	{ "having", "filter TEST, after the group_by" },
	{ "hist", "-t hist" },
	{ "histogram", "-t hist, or group_by floor(x / 10)" },
	{ "jq", "exec proto=ndjson -- jq -c --unbuffered FILTER" },
	{ "json", "ndjson FILE, or map parse_json(x)" },
	{ "last", "tail 1" },
	{ "limit", "take N" },
	{ "list_files", "files PATTERN" },
	{ "lua", "exec proto=ndjson -- lua SCRIPT" },
	{ "make_csv_dataset", "csv FILE" },
	{ "map_and_batch", "map EXPR | batch N" },
	{ "matching_files", "files PATTERN" },
	{ "max", "top 1" },
	{ "mean", "stats EXPR, or group_by KEY agg=mean" },
	{ "median", "group_by KEY m=median(EXPR), or stats EXPR" },
	{ "melt", "unpivot FIELD..." },
	{ "min", "top 1 reverse=true" },
	{ "most_frequent", "group_by KEY | top N .value" },
	{ "mutate", "map merge(x, {NAME: EXPR})" },
	{ "nl", "enumerate 1" },
	{ "nothing", "take 0" },
	{ "offset", "skip N" },
	{ "order_by", "sort EXPR" },
	{ "orderby", "sort EXPR" },
	{ "parallel", "exec proto=arg parallel=N -- COMMAND {}" },
	{ "parallel_interleave", "interleave (PIPELINE) cycle=N" },
	{ "parse_example", "tfrecord FILE as=example" },
	{ "partition_by", "split_files DIR KEY" },
	{ "pipe", "exec -- COMMAND" },
	{ "printf", "template \"{.name} {.ms:%.2f}\"" },
	{ "project", "select FIELD..." },
	{ "put", "map merge(x, {NAME: EXPR})" },
	{ "python", "exec proto=ndjson -- python3 -u SCRIPT" },
	{ "python3", "exec proto=ndjson -- python3 -u SCRIPT" },
	{ "quantile", "group_by KEY q=quantile(EXPR, 0.95), or stats EXPR quantiles=[0.95]" },
	{ "read", "lines FILE, or whole FILE" },
	{ "reject", "filter not TEST" },
	{ "reorder", "select FIELD..." },
	{ "reshape", "pivot NAME VALUE, or unpivot FIELD..." },
	{ "rev", "map reversed(x)" },
	{ "sample_n", "shuffle all | take N" },
	{ "sed", "map replace(x, /RE/, \"BY\"), or exec -- sed -u SCRIPT" },
	{ "seq", "range START STOP" },
	{ "shuf", "shuffle N, or shuffle all" },
	{ "shuffle_and_repeat", "shuffle N | repeat" },
	{ "slice", "skip N | take N" },
	{ "sort_by", "sort EXPR" },
	{ "sparse_batch", "ragged_batch N as=coo" },
	{ "sql", "sqlite FILE QUERY" },
	{ "stats1", "stats EXPR by=KEY, or group_by KEY ms=mean(.ms)" },
	{ "stddev", "stats EXPR, or group_by KEY sd=stddev(EXPR)" },
	{ "step", "window N, or shard N 0 for every N-th element" },
	{ "sum", "reduce 0 s + x, or group_by KEY agg=sum of=EXPR" },
	{ "summarise", "group_by KEY n=count() ms=mean(.ms)" },
	{ "summarize", "group_by KEY n=count() ms=mean(.ms)" },
	{ "summary", "stats EXPR" },
	{ "tac", "reverse" },
	{ "text", "lines FILE" },
	{ "throttle", "rate N" },
	{ "to_csv", "format csv, or dsvc-run -t csv" },
	{ "to_json", "format json, or dsvc-run -t ndjson" },
	{ "tojson", "format json, or dsvc-run -t ndjson" },
	{ "tr", "map replace(x, \"a\", \"b\"), or map upper(x)" },
	{ "transform", "map EXPR" },
	{ "union", "concat (PIPELINE) (PIPELINE)" },
	{ "uniq", "dedup (equal neighbours), or unique" },
	{ "uniq_by", "unique KEY" },
	{ "unique_by", "unique KEY" },
	{ "unsparsify", "dsvc-run --unsparsify -t csv" },
	{ "value_counts", "group_by x | sort .value reverse=true" },
	{ "wc", "count" },
	{ "weighted_flat_map", "sample (PIPELINE) (PIPELINE) weights=[3, 1]" },
	{ "write", "save DIR, or dsvc-run -o FILE" },
	{ "xargs", "exec proto=arg parallel=N -- COMMAND {}" },
};

static const struct elsewhere elsewhere_sql[] = {
	{ ",", "several values are one list, [.a, .b], or one record, {a: .a, b: .b}" },
	{ "and", "write it in small letters: and" },
	{ "as", "records name their values: {NAME: EXPR}" },
	{ "asc", "the least comes first, unless reverse=true" },
	{ "between", "write two tests: x >= 1 and x <= 9" },
	{ "by", "group_by KEY n=count(), sort KEY, top N KEY" },
	{ "desc", "the greatest comes first with reverse=true" },
	{ "in", "write it in small letters, and a list: x in [1, 2]" },
	{ "is", "compare with == and !=: .a == null" },
	{ "like", "match text with ~: .a ~ /^b/" },
	{ "or", "write it in small letters: or" },
};

const char *
elsewhere_behind(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof elsewhere_sql / sizeof *elsewhere_sql; i++)
		if (strlen(elsewhere_sql[i].there) == n && !strncasecmp(elsewhere_sql[i].there, word, n))
			return elsewhere_sql[i].here;
	return NULL;
}

const char *
elsewhere_find(const char *word)
{
	for (size_t i = 0; i < sizeof elsewhere_words / sizeof *elsewhere_words; i++)
		if (!strcmp(elsewhere_words[i].there, word))
			return elsewhere_words[i].here;
	return NULL;
}

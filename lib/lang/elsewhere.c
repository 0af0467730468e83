/* SPDX-License-Identifier: MIT */
#include "lang/elsewhere.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *there, *here;
} elsewhere_words[] = {
	{ "apply", "let NAME = | ...   and then   ... | NAME" },
	{ "as_numpy_iterator", "-t npy" },
	{ "avg", "stats EXPR, or group_by KEY agg=mean" },
	{ "awk", "exec proto=stream -- awk PROGRAM" },
	{ "buffer", "prefetch N" },
	{ "chunk", "batch N" },
	{ "concatenate", "concat (PIPELINE) (PIPELINE)" },
	{ "convert", "exec proto=arg bytes=true -- convert {} jpg:-" },
	{ "cut", "select FIELD..., or map split(x, \",\")[0]" },
	{ "delay", "sleep DURATION" },
	{ "dense_to_ragged_batch", "ragged_batch N" },
	{ "dense_to_sparse_batch", "ragged_batch N as=coo" },
	{ "distinct", "unique" },
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
	{ "min", "top 1 reverse=true" },
	{ "mutate", "map merge(x, {NAME: EXPR})" },
	{ "nl", "enumerate 1" },
	{ "offset", "skip N" },
	{ "order_by", "sort EXPR" },
	{ "parallel", "exec proto=arg parallel=N -- COMMAND {}" },
	{ "parallel_interleave", "interleave (PIPELINE) cycle=N" },
	{ "parse_example", "tfrecord FILE as=example" },
	{ "project", "select FIELD..." },
	{ "python", "exec proto=ndjson -- python3 -u SCRIPT" },
	{ "python3", "exec proto=ndjson -- python3 -u SCRIPT" },
	{ "read", "lines FILE, or whole FILE" },
	{ "reject", "filter not TEST" },
	{ "rev", "map reversed(x)" },
	{ "sed", "map replace(x, /RE/, \"BY\"), or exec -- sed -u SCRIPT" },
	{ "seq", "range START STOP" },
	{ "shuffle_and_repeat", "shuffle N | repeat" },
	{ "sparse_batch", "ragged_batch N as=coo" },
	{ "sql", "sqlite FILE QUERY" },
	{ "sum", "reduce 0 s + x, or group_by KEY agg=sum of=EXPR" },
	{ "tac", "reverse" },
	{ "text", "lines FILE" },
	{ "throttle", "rate N" },
	{ "transform", "map EXPR" },
	{ "uniq", "dedup (equal neighbours), or unique" },
	{ "union", "concat (PIPELINE) (PIPELINE)" },
	{ "wc", "count" },
	{ "weighted_flat_map", "sample (PIPELINE) (PIPELINE) weights=[3, 1]" },
	{ "write", "save DIR, or dsvc-run -o FILE" },
	{ "xargs", "exec proto=arg parallel=N -- COMMAND {}" },
};

const char *
elsewhere_find(const char *word)
{
	for (size_t i = 0; i < sizeof elsewhere_words / sizeof *elsewhere_words; i++)
		if (!strcmp(elsewhere_words[i].there, word))
			return elsewhere_words[i].here;
	return NULL;
}

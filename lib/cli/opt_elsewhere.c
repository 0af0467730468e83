/* SPDX-License-Identifier: MIT */
#include "cli/opt_elsewhere.h"

#include <string.h>

/* row: the option that a program must have for the advice to be about it. */
static const struct {
	const char *there, *row, *here;
} opt_elsewhere_words[] = {
	{ "--arg", "set", "use -s NAME=VALUE" },
	{ "--argjson", "set", "use -s NAME=VALUE" },
	{ "--bar", "progress", "use -p always" },
	{ "--c2j", "to", "use -t ndjson, with the source csv FILE" },
	{ "--c2p", "to", "use -t pretty, with the source csv FILE" },
	{ "--compact-output", "to", "use -t ndjson" },
	{ "--csv", "to", "use -t csv" },
	{ "--eta", "progress", "use -p always" },
	{ "--format", "to", "use -t FORMAT" },
	{ "--icsv", "to", "use the source csv FILE, or stdin csv" },
	{ "--ijson", "to", "use the source ndjson FILE, or json FILE" },
	{ "--itsv", "to", "use the source tsv FILE, or stdin tsv" },
	{ "--json", "to", "use -t ndjson" },
	{ "--keep-order", "joblog", "results keep the order of the elements, unless ordered=false" },
	{ "--max-procs", "joblog", "use exec parallel=N" },
	{ "--name", "id", "use --id NAME" },
	{ "--ocsv", "to", "use -t csv" },
	{ "--ojson", "to", "use -t json" },
	{ "--ojsonl", "to", "use -t ndjson" },
	{ "--omd", "to", "use -t markdown" },
	{ "--opprint", "to", "use -t pretty" },
	{ "--otsv", "to", "use -t tsv" },
	{ "--oxtab", "to", "use -t vertical" },
	{ "--print0", "null", "use -0" },
	{ "--raw-output", "to", "texts are written without quotes; -t ndjson puts quotes around them" },
	{ "--retries", "joblog", "use exec on_error=retry:N" },
	{ "--tsv", "to", "use -t tsv" },
	{ "-P", "joblog", "use exec parallel=N" },
	{ "-k", "joblog", "results keep the order of the elements, unless ordered=false" },
	{ "-r", "joblog", "texts are written without quotes; -t ndjson puts quotes around them" },
};

const char *
opt_elsewhere(const char *word, const struct param *rows)
{
	for (size_t i = 0; i < sizeof opt_elsewhere_words / sizeof *opt_elsewhere_words; i++) {
		if (strcmp(opt_elsewhere_words[i].there, word))
			continue;
		for (const struct param *row = rows; row && row->kind != PARAM_NONE; row++)
			if (row->name && !strcmp(row->name, opt_elsewhere_words[i].row))
				return opt_elsewhere_words[i].here;
	}
	return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "cli/exits.h"

const struct exits_row exits_table[] = {
	{ 0, "OK", "done" },
	{ 1, "FAIL", "a check failed" },
	{ 64, "USAGE", "a wrong option or number, or a missing operand" },
	{ 65, "DATAERR", "a wrong pipeline, or wrong data" },
	{ 66, "NOINPUT", "a file, dataset or job that does not exist" },
	{ 69, "UNAVAILABLE", "no dispatcher or worker answered" },
	{ 70, "SOFTWARE", "internal error (please report)" },
	{ 74, "IOERR", "reading or writing failed, for example because the disk is full, or memory ran out" },
	{ 75, "TEMPFAIL", "contact was lost; running it again may help" },
	{ 76, "PROTOCOL", "the other side has another version" },
	{ 77, "NOPERM", "not allowed" },
	{ 78, "CONFIG", "wrong configuration" },
	{ 124, "TIMEOUT", "--timeout expired" },
	{ 126, "NORUN", "the command of exec or cmd cannot be run" },
	{ 127, "NOCMD", "there is no such command" },
	{ -1, NULL, NULL },
};

int
exits_code(enum status kind)
{
	switch (kind) {
	case ST_OK:
	case ST_END:
		return 0;
	case ST_NO:
		return 1;
	case ST_AGAIN:
	case ST_SKIP:
		return ST_BUG;
	default:
		return (int)kind;
	}
}

bool
exits_of(const struct program *p, size_t i, struct exits_row *out)
{
	size_t n = 0;

	for (const struct exits_row *row = exits_table; row->code >= 0; row++) {
		const struct program_exit *own = NULL;
		for (const struct program_exit *x = p->exits; x && x->code >= 0; x++)
			if (x->code == row->code)
				own = x;
		if (!own && row->code != 0 && row->code != ST_USAGE)
			continue;
		if (n++ == i) {
			*out = *row;
			if (own && own->say)
				out->say = own->say;
			return true;
		}
	}
	return false;
}

/* SPDX-License-Identifier: MIT */
#include "value/json_rules.h"

#include <math.h>
#include <string.h>

#include "value/num.h"

const struct json_rules json_rules_shown = { JSON_NONFINITE_NULL, JSON_INVALID_REPLACE };

void
json_rules_say(struct json_rules *r, const struct json_rules *said)
{
	if (said->nonfinite)
		r->nonfinite = said->nonfinite - 1;
	if (said->invalid_utf8)
		r->invalid_utf8 = said->invalid_utf8 - 1;
}

char *
json_rules_float(const struct json_rules *r, double f, bool *refused, char *out)
{
	if (isfinite(f))
		return out + num_print_float(f, out);
	const char *word = r->nonfinite != JSON_NONFINITE_STRING ? "null"
		: isnan(f) ? "\"NaN\"" : f > 0 ? "\"Infinity\"" : "\"-Infinity\"";
	size_t n = strlen(word);

	*refused |= r->nonfinite == JSON_NONFINITE_ERROR;
	memcpy(out, word, n);
	return out + n;
}

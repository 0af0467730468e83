/* SPDX-License-Identifier: MIT
 *
 * The rule for summer time of all years to come, as POSIX writes it in TZ:
 *	CET-1CEST,M3.5.0,M10.5.0/3      <+0330>-3:30
 */
#ifndef BASE_ZONE_RULE_H
#define BASE_ZONE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZONE_RULE_NAME = 16 };

struct zone_change {
	char kind;           /* 'M' month.week.day, 'J' day without the 29th of February, 'D' day from 0 */
	int month, week, day;
	int32_t seconds;     /* after midnight */
};

struct zone_rule {
	bool given, summer;  /* there is a rule; it has summer time */
	int32_t offsets[2];  /* seconds to add to UTC: usual, in summer */
	char names[2][ZONE_RULE_NAME];
	struct zone_change from, to;
};

/* Reads the text; an empty one is no rule. False: it is malformed. */
bool zone_rule_parse(const char *s, size_t n, struct zone_rule *out);
int32_t zone_rule_offset(const struct zone_rule *r, int64_t t, const char **abbreviation);

#endif

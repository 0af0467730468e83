/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/zone.h"
#include "base/zone_rule.h"

static const char *const places[] = {
	"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Europe/Dublin",
	"America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia", "America/Godthab", "Asia/Tehran",
	"Pacific/Chatham", "Africa/Cairo", "Asia/Gaza", "Etc/GMT+5",
};

static const struct zone *
zone_of(const char *name)
{
	const struct zone *z = NULL;
	struct err e;

	assert_int_equal(zone_find(name, strlen(name), &z, &e), ST_OK);
	return z;
}

static void
offsets_and_names_are_those_of_the_system(void **state)
{
	uint64_t key = 1;

	(void)state;
	for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
		const struct zone *z = zone_of(places[p]);

		setenv("TZ", places[p], 1);
		tzset();
		for (int i = 0; i < 4000; i++) {
			const char *name;
			struct tm tm;

			key = key * 6364136223846793005u + 1442695040888963407u;
			/* from 1900 to 2150 */
			time_t t = (time_t)((key >> 20) % 7889238000u) - 2208988800;

			assert_non_null(localtime_r(&t, &tm));
			assert_int_equal(zone_offset(z, t, &name), tm.tm_gmtoff);
			assert_string_equal(name, tm.tm_zone);
		}
	}
	unsetenv("TZ");
	tzset();
}

static void
clocks_lead_back_to_their_times(void **state)
{
	(void)state;
	for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
		const struct zone *z = zone_of(places[p]);

		for (int64_t t = 1700000000; t < 1740000000; t += 1799) {
			int32_t offset = zone_offset(z, t, NULL);
			int64_t back = zone_time(z, t + offset);

			/* an hour that clocks show twice is the earlier one */
			assert_true(back == t || (back < t && back + zone_offset(z, back, NULL) == t + offset));
		}
	}
	/* 02:30 on 2024-03-31 is skipped in Berlin, 02:30 on 2024-10-27 comes twice */
	assert_int_equal(zone_time(zone_of("Europe/Berlin"), 1711852200), 1711848600);
	assert_int_equal(zone_time(zone_of("Europe/Berlin"), 1729996200), 1729989000);
}

static void
names_are_checked_before_a_file_is_opened(void **state)
{
	static const char *const bad[] = {
		"", "/etc/passwd", "../../../etc/passwd", "Europe/../Berlin", "Europe//Berlin", "Europe/", ".", "Europe/Berlin ",
		"+24:00", "+1", "+123", "+12:3", "+01:60", "-", "Europe", "tzdata.zi", "Nowhere/At_All", "right/UTC",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	const struct zone *z;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(zone_find(bad[i], strlen(bad[i]), &z, &e), ST_DATA);
	assert_int_equal(zone_offset(zone_of("+02:00"), 0, NULL), 7200);
	assert_int_equal(zone_offset(zone_of("-0330"), 0, NULL), -12600);
	assert_int_equal(zone_offset(zone_of("+05"), 0, NULL), 18000);
	assert_int_equal(zone_offset(zone_of("UTC"), 0, NULL), 0);
	assert_int_equal(zone_offset(zone_of("Z"), 0, NULL), 0);
}

static void
rules_are_read_whole_or_not_at_all(void **state)
{
	static const char *const bad[] = {
		"C", "CET", "CET-", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0x", "CET-1CEST,M13.5.0,M10.5.0",
		"CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J9", "CET-1CEST,M0.5.0,M10.5.0", "<+03-3",
		"CET-1CEST,M3.0.0,M10.5.0", "CET-200", "CET-1:60", "CET-1CEST,366,1", "ABCDEFGHIJKLMNOPQ-1",
	};
	struct zone_rule r;
	const char *name;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(zone_rule_parse(bad[i], strlen(bad[i]), &r));
	assert_true(zone_rule_parse("", 0, &r));
	assert_false(r.given);
	assert_true(zone_rule_parse("<+0330>-3:30", 12, &r));
	assert_int_equal(zone_rule_offset(&r, 0, &name), 12600);
	assert_string_equal(name, "+0330");
	/* days by number: summer from the 60th day to the 300th, each without the 29th of February */
	assert_true(zone_rule_parse("AAA0BBB,J60/0,J300/0", 20, &r));
	assert_int_equal(zone_rule_offset(&r, 1709164800, NULL), 0);    /* 2024-02-29 */
	assert_int_equal(zone_rule_offset(&r, 1709251200, NULL), 3600); /* 2024-03-01 */
}

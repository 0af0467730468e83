/* SPDX-License-Identifier: MIT */
#include "base/zone.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/zone_rule.h"

/* The format: RFC 8536. */
enum {
	ZONE_FILE_MAX = 256 * 1024,
	ZONE_HEAD = 44,
	ZONE_COUNTS = 6,
	ZONE_KNOWN_MAX = 2000, /* zones that are kept; the database has about 600 */
	ZONE_DAY = 86400
};
static const char ZONE_FOLDER[] = "/usr/share/zoneinfo/";

struct zone_type {
	int32_t offset;
	uint8_t name; /* where its abbreviation begins in the file's texts */
};

struct zone {
	char name[ZONE_NAME_MAX + 1];
	char *file;              /* its bytes, NUL after the last one; NULL: an offset */
	const uint8_t *times, *kinds;
	const uint8_t *types;
	const char *texts;
	uint32_t n_times, n_types, n_texts;
	struct zone_rule rule;   /* for all time after the last of the times */
	int32_t offset;          /* a zone without a file has this one */
	struct zone *next;
};

static pthread_mutex_t zone_lock = PTHREAD_MUTEX_INITIALIZER;
static struct zone *zones; /* added to in front, never removed */
static unsigned zones_n;
static _Thread_local const struct zone *zone_last;

static uint64_t
zone_number(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

static struct zone_type
zone_type(const struct zone *z, uint32_t i)
{
	const uint8_t *p = z->types + (size_t)i * 6;

	return (struct zone_type){ (int32_t)zone_number(p, 4), p[5] };
}

/* ---- reading ---- */

/* Reads +02:00, -0530, +02. */
static bool
zone_fixed(const char *s, size_t n, int32_t *offset)
{
	char digits[5] = "0000";
	size_t k = 0;

	if (n < 3 || (*s != '+' && *s != '-'))
		return false;
	for (size_t i = 1; i < n; i++) {
		if (s[i] == ':' && i == 3 && n == 6)
			continue;
		if (!isdigit((unsigned char)s[i]) || k == 4)
			return false;
		digits[k++] = s[i];
	}
	int hours = (digits[0] - '0') * 10 + digits[1] - '0', minutes = (digits[2] - '0') * 10 + digits[3] - '0';
	*offset = (*s == '-' ? -60 : 60) * (hours * 60 + minutes);
	return (k == 2 || k == 4) && hours < 24 && minutes < 60;
}

/* A name leads to a file below the folder: words of letters and digits, joined by `/`. */
static bool
zone_is_name(const char *s, size_t n)
{
	bool begins = true;

	if (!n || n > ZONE_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		bool word = isalnum((unsigned char)s[i]);

		if (!word && (begins || !strchr("_+-/", s[i])))
			return false;
		begins = s[i] == '/';
	}
	return !begins;
}

/* Finds the parts of a block of data whose header is at p; times have `size` bytes. Gives its
 * end; NULL: it is not whole. */
static const uint8_t *
zone_block(struct zone *z, const uint8_t *p, const uint8_t *end, unsigned size)
{
	uint64_t counts[ZONE_COUNTS]; /* isut, isstd, leap, time, type, char */

	if (end - p < ZONE_HEAD || memcmp(p, "TZif", 4))
		return NULL;
	for (int i = 0; i < ZONE_COUNTS; i++)
		counts[i] = zone_number(p + 20 + 4 * i, 4);
	p += ZONE_HEAD;
	uint64_t need = counts[3] * (size + 1) + counts[4] * 6 + counts[5] + counts[2] * (size + 4)
		+ counts[1] + counts[0];
	if (need > (uint64_t)(end - p) || !counts[4] || !counts[5] || counts[2])
		return NULL;
	z->times = p;
	z->n_times = (uint32_t)counts[3];
	z->kinds = p + counts[3] * size;
	z->types = z->kinds + counts[3];
	z->n_types = (uint32_t)counts[4];
	z->texts = (const char *)z->types + counts[4] * 6;
	z->n_texts = (uint32_t)counts[5];
	for (uint32_t i = 0; i < z->n_times; i++)
		if (z->kinds[i] >= z->n_types)
			return NULL;
	for (uint32_t i = 0; i < z->n_types; i++)
		if (zone_type(z, i).name >= z->n_texts)
			return NULL;
	if (z->texts[z->n_texts - 1])
		return NULL;
	return p + need;
}

/* Reads the file's bytes: the second block, and the rule behind it. */
static bool
zone_decode(struct zone *z, size_t n)
{
	const uint8_t *p = (const uint8_t *)z->file, *end = p + n;

	if (n < ZONE_HEAD || p[4] < '2' || !(p = zone_block(z, p, end, 4)) || !(p = zone_block(z, p, end, 8)))
		return false;
	const uint8_t *stop = p < end && *p == '\n' ? memchr(p + 1, '\n', (size_t)(end - p - 1)) : NULL;
	return stop && zone_rule_parse((const char *)p + 1, (size_t)(stop - p - 1), &z->rule);
}

static enum status
zone_read(struct zone *z, struct err *e)
{
	char path[sizeof ZONE_FOLDER + ZONE_NAME_MAX];
	size_t n = 0;
	ssize_t got;

	snprintf(path, sizeof path, "%s%s", ZONE_FOLDER, z->name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		bool none = access(ZONE_FOLDER, X_OK) != 0;

		err_set(e, ST_DATA, "there is not a time zone \"%s\"%s", z->name,
			none ? ", as there is not a time zone database" : "");
		err_help(e, none ? "the package tzdata has it; an offset such as +02:00 needs none"
			 : "names are like Europe/Berlin, America/New_York, UTC, or an offset such as +02:00");
		return ST_DATA;
	}
	z->file = mem_alloc(ZONE_FILE_MAX + 1);
	while (n < ZONE_FILE_MAX && (got = read(fd, z->file + n, ZONE_FILE_MAX - n)) > 0)
		n += (size_t)got;
	close(fd);
	z->file[n] = '\0';
	if (!zone_decode(z, n))
		return err_set(e, ST_DATA, "'%s' is not a time zone", path);
	return ST_OK;
}

static enum status
zone_make(const char *name, size_t n, struct zone **out, struct err *e)
{
	bool utc = (n == 3 && !memcmp(name, "UTC", 3)) || (n == 1 && *name == 'Z');
	struct zone *z = mem_zalloc(sizeof *z);
	enum status st = ST_OK;

	memcpy(z->name, name, n < ZONE_NAME_MAX ? n : ZONE_NAME_MAX);
	if (!utc && !zone_fixed(name, n, &z->offset)) {
		if (zone_is_name(name, n)) {
			st = zone_read(z, e);
		} else {
			st = err_set(e, ST_DATA, "\"%s\" is not the name of a time zone", z->name);
			err_help(e, "names are like Europe/Berlin, America/New_York, UTC, or an offset such as +02:00");
		}
	}
	if (st != ST_OK) {
		mem_free(z->file);
		mem_free(z);
		return st;
	}
	*out = z;
	return ST_OK;
}

static bool
zone_is(const struct zone *z, const char *name, size_t n)
{
	return n <= ZONE_NAME_MAX && !memcmp(z->name, name, n) && !z->name[n];
}

enum status
zone_find(const char *name, size_t n, const struct zone **out, struct err *e)
{
	struct zone *z;
	enum status st = ST_OK;

	if (zone_last && zone_is(zone_last, name, n)) {
		*out = zone_last;
		return ST_OK;
	}
	pthread_mutex_lock(&zone_lock);
	for (z = zones; z && !zone_is(z, name, n); z = z->next)
		;
	if (!z && zones_n >= ZONE_KNOWN_MAX)
		st = err_set(e, ST_DATA, "more than %d time zones", ZONE_KNOWN_MAX);
	else if (!z && (st = zone_make(name, n, &z, e)) == ST_OK) {
		z->next = zones;
		zones = z;
		zones_n++;
	}
	pthread_mutex_unlock(&zone_lock);
	if (st == ST_OK)
		*out = zone_last = z;
	return st;
}

/* ---- asking ---- */

int32_t
zone_offset(const struct zone *z, int64_t t, const char **abbreviation)
{
	uint32_t low = 0, high = z->n_times; /* the answer is the last time before t */

	if (!z->file) {
		if (abbreviation)
			*abbreviation = z->name[0] == 'Z' ? "UTC" : z->name;
		return z->offset;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if ((int64_t)zone_number(z->times + (size_t)middle * 8, 8) <= t)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == z->n_times && z->rule.given)
		return zone_rule_offset(&z->rule, t, abbreviation);
	struct zone_type kind = zone_type(z, low ? z->kinds[low - 1] : 0);
	if (abbreviation)
		*abbreviation = z->texts + kind.name;
	return kind.offset;
}

int64_t
zone_time(const struct zone *z, int64_t clock)
{
	/* Offsets hold for longer than a day: these are those before and after any change here. */
	int32_t before = zone_offset(z, clock - ZONE_DAY, NULL), after = zone_offset(z, clock + ZONE_DAY, NULL);

	if (zone_offset(z, clock - before, NULL) == before)
		return clock - before;
	if (zone_offset(z, clock - after, NULL) == after)
		return clock - after;
	return clock - before;
}

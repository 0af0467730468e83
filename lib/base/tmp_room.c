/* SPDX-License-Identifier: MIT */
#include "base/tmp_room.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/statvfs.h>

static int64_t tmp_room_max = -TMP_ROOM_PERCENT;
static _Atomic uint64_t tmp_room_total;

void
tmp_room_limit(int64_t max)
{
	tmp_room_max = max ? max : -TMP_ROOM_PERCENT;
}

bool
tmp_room_fits(int64_t max, uint64_t taken, uint64_t n, uint64_t left)
{
	if (max >= 0)
		return taken <= (uint64_t)max && n <= (uint64_t)max - taken;
	uint64_t all = left + taken;
	uint64_t share = all / 100 * (uint64_t)-max + all % 100 * (uint64_t)-max / 100;

	return taken <= share && n <= share - taken;
}

static const char *
tmp_room_size(uint64_t bytes, char text[24])
{
	static const char units[] = "KMGTP";
	double size = (double)bytes / 1024;
	int unit = 0;

	for (; size >= 1024 && units[unit + 1]; unit++)
		size /= 1024;
	snprintf(text, 24, size < 10 ? "%.1f %ciB" : "%.0f %ciB", size, units[unit]);
	return text;
}

static enum status
tmp_room_full(uint64_t taken, uint64_t left, const char *folder, struct err *e)
{
	char have[24], free[24];

	if (tmp_room_max >= 0)
		err_set(e, ST_IO, "temporary files in %s have taken %s, and need more than --tmp-max allows (%s)", folder,
			tmp_room_size(taken, have), tmp_room_size((uint64_t)tmp_room_max, free));
	else
		err_set(e, ST_IO, "temporary files in %s have taken %s of the %s that are free there, and need more than "
			"%d%% of it", folder, tmp_room_size(taken, have), tmp_room_size(taken + left, free),
			(int)-tmp_room_max);
	err_help(e, "--tmp-max SIZE or N%% (or DSVC_TMP_MAX) allows more; TMPDIR or tmp= names a folder with more room; a "
		 "larger mem= keeps more in memory");
	return ST_IO;
}

enum status
tmp_room_take(struct tmp_room *t, uint64_t n, int fd, const char *folder, struct err *e)
{
	uint64_t before = atomic_fetch_add(&tmp_room_total, n), left = 0;
	struct statvfs v;

	if (tmp_room_max < 0 && n <= t->allowed) {
		t->allowed -= n;
		t->taken += n;
		return ST_OK;
	}
	/* A file system that does not tell has room as far as anyone knows. */
	if (tmp_room_max < 0)
		left = fstatvfs(fd, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : UINT64_MAX / 2;
	uint64_t step = tmp_room_max < 0 && n < TMP_ROOM_STEP ? TMP_ROOM_STEP : n;
	if (!tmp_room_fits(tmp_room_max, before, step, left)) {
		step = n;
		if (!tmp_room_fits(tmp_room_max, before, n, left)) {
			atomic_fetch_sub(&tmp_room_total, n);
			return tmp_room_full(before, left, folder, e);
		}
	}
	t->allowed = step - n;
	t->taken += n;
	return ST_OK;
}

void
tmp_room_give_back(struct tmp_room *t)
{
	atomic_fetch_sub(&tmp_room_total, t->taken);
	*t = (struct tmp_room){ 0 };
}

/* SPDX-License-Identifier: MIT */
#include "joblog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/transfer.h"
#include "value/format/format.h"
#include "value/format/frame.h"

#define JOBLOG_HEAD \
	"Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\tArgument\tKey\tOutput"

enum { JOBLOG_KEY = 16, JOBLOG_SHOWN = 200, JOBLOG_COLUMNS = 12, JOBLOG_LINE = 16 << 20 };

/* How often elements with one key were done, and how often their last run failed. */
struct joblog_count {
	uint32_t good, bad;
};

struct joblog {
	char *path;
	int fd;
	pthread_mutex_t lock;    /* guards all below */
	struct buf waits;        /* rows that wait, without their last column; each ended by a NUL */
	struct buf row;
	struct hash past;        /* key -> struct joblog_count, owned */
	struct joblog_past told;
	bool again;              /* run again what failed */
	uint64_t output, rows;
	struct err err;          /* the first error of writing */
};

static void
joblog_key(uint32_t op, const struct elem *x, uint8_t key[JOBLOG_KEY])
{
	crypto_generichash_state h;
	uint8_t place[4] = { (uint8_t)(op >> 24), (uint8_t)(op >> 16), (uint8_t)(op >> 8), (uint8_t)op };

	crypto_generichash_init(&h, NULL, 0, JOBLOG_KEY);
	crypto_generichash_update(&h, place, sizeof place);
	crypto_generichash_update(&h, x->p, x->len);
	crypto_generichash_final(&h, key, JOBLOG_KEY);
}

/* Splits a row at its tabs; false: it has another number of columns. */
static bool
joblog_columns(char *line, char *column[JOBLOG_COLUMNS])
{
	size_t n = 0;

	for (char *p = line; p && n <= JOBLOG_COLUMNS; n++) {
		char *tab = strchr(p, '\t');

		if (n < JOBLOG_COLUMNS)
			column[n] = p;
		if (tab)
			*tab++ = '\0';
		p = tab;
	}
	return n == JOBLOG_COLUMNS;
}

static enum status
joblog_bad(const struct joblog *log, uint64_t line, struct err *e)
{
	err_set(e, ST_DATA, "%s:%" PRIu64 ": not a row of a --joblog file", log->path, line);
	err_help(e, "--resume reads what dsvc-run --joblog has written; without it the file is begun anew");
	return ST_DATA;
}

/* Remembers the outcome of one run of an element: the last one counts. The same key with another number
 * is another element that is like it. */
static bool
joblog_row(struct hash *runs, char *line, uint64_t *output)
{
	char *c[JOBLOG_COLUMNS];
	uint8_t key[JOBLOG_KEY + 8];
	int64_t number, code, signal, bytes;
	size_t len;

	if (!joblog_columns(line, c) || !str_int(c[0], strlen(c[0]), &number) || !str_int(c[6], strlen(c[6]), &code) ||
	    !str_int(c[7], strlen(c[7]), &signal) || !str_int(c[11], strlen(c[11]), &bytes) || bytes < 0 ||
	    sodium_hex2bin(key, JOBLOG_KEY, c[10], strlen(c[10]), NULL, &len, NULL) || len != JOBLOG_KEY)
		return false;
	memcpy(key + JOBLOG_KEY, &number, 8);
	hash_put(runs, key, sizeof key, code || signal ? (void *)"bad" : (void *)"");
	*output = (uint64_t)bytes;
	return true;
}

/* Counts the outcomes by key. */
static void
joblog_counts(struct joblog *log, const struct hash *runs)
{
	for (size_t i = 0; i < runs->n; i++) {
		const struct hash_item *run = &runs->items[i];
		struct joblog_count *c = hash_get(&log->past, run->key, JOBLOG_KEY);
		bool bad = *(const char *)run->value;

		if (!c)
			hash_put(&log->past, run->key, JOBLOG_KEY, c = mem_zalloc(sizeof *c));
		if (bad)
			c->bad++;
		else
			c->good++;
		log->told.done++;
		log->told.failed += bad;
	}
}

/* Reads the rows of earlier runs. A last line without an end was torn, and is cut off. */
static enum status
joblog_load(struct joblog *log, struct err *e)
{
	FILE *f = fdopen(dup(log->fd), "r");
	struct hash runs = { 0 };
	char *line = NULL;
	size_t cap = 0;
	uint64_t n = 0;
	off_t whole = 0;
	enum status st = f ? ST_OK : err_errno(e, "cannot read %s", log->path);

	while (st == ST_OK) {
		ssize_t len = getline(&line, &cap, f);

		if (len < 0 && ferror(f))
			st = err_errno(e, "cannot read %s", log->path);
		if (len <= 0 || line[len - 1] != '\n')
			break;
		line[len - 1] = '\0';
		n++;
		if (len > JOBLOG_LINE || strlen(line) != (size_t)len - 1 ||
		    (n == 1 ? strcmp(line, JOBLOG_HEAD) != 0 : !joblog_row(&runs, line, &log->told.output)))
			st = joblog_bad(log, n, e);
		whole += len;
	}
	if (st == ST_OK && n == 0 && whole == 0 && lseek(log->fd, 0, SEEK_END) > (off_t)strlen(JOBLOG_HEAD))
		st = joblog_bad(log, 1, e);
	if (st == ST_OK && ftruncate(log->fd, whole))
		st = err_errno(e, "cannot cut %s", log->path);
	joblog_counts(log, &runs);
	log->output = log->told.output;
	hash_clear(&runs);
	free(line);
	if (f)
		fclose(f);
	return st;
}

static bool
joblog_write(struct joblog *log, const void *p, size_t n)
{
	if (!log->err.kind && !transfer_write(log->fd, p, n)) {
		err_errno(&log->err, "cannot write to %s", log->path);
		log->err.kind = ST_IO;
	}
	return !log->err.kind;
}

/* Locks the log for this process alone, not for its children. Closing any descriptor of the file
 * unlocks it. A file that cannot be locked counts as locked. */
static bool
joblog_lock(const struct joblog *log)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(log->fd, F_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

static enum status
joblog_begin(struct joblog *log, enum joblog_resume how, struct err *e)
{
	struct stat s;
	enum status st = ST_OK;

	if (fstat(log->fd, &s))
		return err_errno(e, "cannot look at %s", log->path);
	if (!joblog_lock(log)) {
		err_set(e, ST_TEMP, "another run writes %s", log->path);
		err_help(e, "wait until it has ended, or give each run a log of its own");
		return ST_TEMP;
	}
	if (how != JOBLOG_NEW && !S_ISREG(s.st_mode))
		return err_set(e, ST_USAGE, "--resume: %s is not a regular file", log->path);
	if (how != JOBLOG_NEW)
		st = joblog_load(log, e), joblog_lock(log);
	else if (S_ISREG(s.st_mode) && ftruncate(log->fd, 0))
		st = err_errno(e, "cannot empty %s", log->path);
	if (st == ST_OK && fstat(log->fd, &s) == 0 && (!S_ISREG(s.st_mode) || s.st_size == 0) &&
	    !joblog_write(log, JOBLOG_HEAD "\n", strlen(JOBLOG_HEAD) + 1)) {
		*e = log->err;
		st = e->kind;
	}
	return st;
}

enum status
joblog_open(const char *path, enum joblog_resume how, struct joblog **out, struct err *e)
{
	struct joblog *log = mem_zalloc(sizeof *log);

	log->path = mem_strdup(path);
	log->again = how == JOBLOG_FAILED;
	pthread_mutex_init(&log->lock, NULL);
	log->fd = open(path, (how == JOBLOG_NEW ? O_WRONLY : O_RDWR) | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	enum status st = log->fd < 0 ? err_errno(e, "cannot open %s", path) : joblog_begin(log, how, e);
	if (st == ST_OK) {
		*out = log;
		return ST_OK;
	}
	struct err own;
	log->err.kind = ST_OK;
	joblog_close(&log, &own);
	return st;
}

const struct joblog_past *
joblog_past(const struct joblog *log)
{
	return &log->told;
}

bool
joblog_before(struct joblog *log, uint32_t op, const struct elem *x)
{
	uint8_t key[JOBLOG_KEY];
	bool before = false;

	if (!log->past.n)
		return false;
	joblog_key(op, x, key);
	pthread_mutex_lock(&log->lock);
	struct joblog_count *c = hash_get(&log->past, key, sizeof key);
	if (c && c->good) {
		c->good--;
		before = true;
	} else if (c && c->bad) {
		c->bad--;
		before = !log->again;
	}
	pthread_mutex_unlock(&log->lock);
	return before;
}

/* Puts the element as text into a column: on one line, without tabs, and not too long. */
static void
joblog_argument(const struct elem *x, struct buf *out)
{
	struct buf own = { 0 };
	uint32_t n;
	const uint8_t *p = frame_contents(x, &n);

	if (!p) {
		text_print(x->p, x->len, &own);
		p = own.data;
		n = (uint32_t)own.len;
	}
	size_t shown = n <= JOBLOG_SHOWN ? n : str_utf8_valid((const char *)p, JOBLOG_SHOWN);
	for (size_t i = 0; i < shown; i++) {
		if (p[i] == '\n' || p[i] == '\t')
			buf_str(out, p[i] == '\n' ? "\\n" : "\\t");
		else if (p[i] < ' ' || p[i] == 0x7f)
			buf_printf(out, "\\%03o", p[i]);
		else
			buf_byte(out, p[i]);
	}
	if (shown < n)
		buf_str(out, "...");
	buf_clear(&own);
}

/* Makes the row, without its last column. */
static void
joblog_print(struct buf *out, uint32_t op, const struct op_program_run *r)
{
	int64_t began_ms = (clock_wall_ns() - r->took) / 1000000;
	uint8_t key[JOBLOG_KEY];
	char hex[2 * JOBLOG_KEY + 1];

	buf_printf(out, "%" PRIu64 "\t:\t%" PRId64 ".%03d\t%.3f\t%zu\t%zu\t%d\t%d\t", r->number, began_ms / 1000,
		   (int)(began_ms % 1000), (double)r->took / 1e9, r->sent, r->received, r->code, r->signal);
	buf_put(out, r->command, r->command_len);
	buf_byte(out, '\t');
	joblog_argument(r->elem, out);
	joblog_key(op, r->elem, key);
	sodium_bin2hex(hex, sizeof hex, key, sizeof key);
	buf_printf(out, "\t%s\t", hex);
}

bool
joblog_add(struct joblog *log, uint32_t op, const struct op_program_run *r)
{
	bool ok = true;

	pthread_mutex_lock(&log->lock);
	if (r->answered) {
		joblog_print(&log->waits, op, r);
		buf_byte(&log->waits, '\0');
	} else {
		buf_reset(&log->row);
		joblog_print(&log->row, op, r);
		buf_printf(&log->row, "%" PRIu64 "\n", log->output);
		ok = joblog_write(log, log->row.data, log->row.len);
		log->rows += ok;
	}
	pthread_mutex_unlock(&log->lock);
	return ok;
}

bool
joblog_commit(struct joblog *log, uint64_t output)
{
	bool ok = true;

	pthread_mutex_lock(&log->lock);
	log->output = output;
	buf_reset(&log->row);
	for (size_t at = 0; at < log->waits.len;) {
		const char *row = (const char *)log->waits.data + at;
		size_t n = strlen(row);

		buf_put(&log->row, row, n);
		buf_printf(&log->row, "%" PRIu64 "\n", output);
		at += n + 1;
		log->rows++;
	}
	buf_reset(&log->waits);
	if (log->row.len)
		ok = joblog_write(log, log->row.data, log->row.len);
	pthread_mutex_unlock(&log->lock);
	return ok;
}

uint64_t
joblog_rows(struct joblog *log)
{
	pthread_mutex_lock(&log->lock);
	uint64_t rows = log->rows;
	pthread_mutex_unlock(&log->lock);
	return rows;
}

enum status
joblog_close(struct joblog **lp, struct err *e)
{
	struct joblog *log = *lp;
	enum status st = ST_OK;

	*lp = NULL;
	if (!log)
		return ST_OK;
	if (log->err.kind) {
		*e = log->err;
		st = e->kind;
	}
	if (log->fd >= 0)
		close(log->fd);
	for (size_t i = 0; i < log->past.n; i++)
		mem_free(log->past.items[i].value);
	hash_clear(&log->past);
	buf_clear(&log->waits);
	buf_clear(&log->row);
	pthread_mutex_destroy(&log->lock);
	mem_free(log->path);
	mem_free(log);
	return st;
}

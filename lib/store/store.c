/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/wal.h"

enum { STORE_APPLICATION = 0x64737663 }; /* "dsvc" */

struct waiting {
	struct disp_row row; /* blob: an offset into bytes, for they move */
	size_t at;
	bool delete;
};

struct store {
	sqlite3 *db;
	sqlite3_stmt *put, *get, *delete[4], *below, *begin, *commit, *rollback;
	char *path, *log_path;
	struct stat files[2]; /* the database and its log, as they were opened */
	struct waiting *rows;
	size_t n_rows, cap_rows;
	struct buf bytes;
	struct disp_costs costs; /* without their bytes */
};

/* A checksum of a row that does not depend on the machine or the process. */
static uint64_t
store_sum(const struct disp_row *r, const uint8_t *blob)
{
	uint64_t h = 0xcbf29ce484222325u;
	uint64_t head[4] = { (uint64_t)r->kind, r->key[0], r->key[1], r->key[2] };
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 8; k++)
			h = (h ^ (head[i] >> (8 * k) & 0xff)) * 0x100000001b3u;
	for (size_t i = 0; i < r->n; i++)
		h = (h ^ blob[i]) * 0x100000001b3u;
	return h;
}

static enum status
store_fail(struct store *s, const char *what, struct err *e)
{
	int code = sqlite3_errcode(s->db);
	const char *why = sqlite3_errmsg(s->db);
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		err_set(e, ST_UNAVAIL, "cannot %s %s: another dispatcher uses it", what, s->path);
		err_help(e, "stop that one first, or give this one a state of its own");
		return ST_UNAVAIL;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		err_set(e, ST_DATA, "%s is damaged or was never written by dsvc-dispatch: %s", s->path, why);
		err_help(e, "move it away to start over, or restore a copy from before the damage");
		return ST_DATA;
	case SQLITE_FULL:
		return err_set(e, ST_IO, "cannot %s %s: no space is left", what, s->path);
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
		return err_set(e, ST_PERM, "cannot %s %s: %s", what, s->path, why);
	default:
		return err_set(e, ST_IO, "cannot %s %s: %s", what, s->path, why);
	}
}

static enum status
store_exec(struct store *s, const char *sql, struct err *e)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return ST_OK;
	return store_fail(s, "open", e);
}

/* One number that a pragma or query answers; -1: it failed. */
static int64_t
store_number(struct store *s, const char *sql)
{
	sqlite3_stmt *q;
	int64_t n = -1;
	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		return -1;
	if (sqlite3_step(q) == SQLITE_ROW)
		n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return n;
}

static enum status
store_damaged(const struct store *s, const char *why, struct err *e)
{
	err_set(e, ST_DATA, "%s is damaged: %s", s->path, why);
	err_help(e, "move it away to start over, or restore a copy from before the damage");
	return ST_DATA;
}

static enum status
store_check(struct store *s, struct err *e)
{
	sqlite3_stmt *q;
	enum status st = ST_OK;
	if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL) != SQLITE_OK)
		return store_fail(s, "open", e);
	if (sqlite3_step(q) != SQLITE_ROW) {
		st = store_fail(s, "open", e);
	} else {
		const char *said = (const char *)sqlite3_column_text(q, 0);
		if (!said || strcmp(said, "ok") != 0)
			st = store_damaged(s, said ? said : "it cannot be read", e);
	}
	sqlite3_finalize(q);
	return st;
}

/* Checks that the file belongs to dsvc, and its version. */
static enum status
store_schema(struct store *s, struct err *e)
{
	int64_t app = store_number(s, "PRAGMA application_id");
	int64_t version = store_number(s, "PRAGMA user_version");
	if (app < 0 || version < 0)
		return store_fail(s, "open", e);
	if (app != STORE_APPLICATION)
		return store_damaged(s, "it is a database of another program", e);
	if (version != STORE_VERSION) {
		err_set(e, ST_CONFIG, "%s was written by another version (state %lld, this one knows %d)",
			s->path, (long long)version, STORE_VERSION);
		err_help(e, "run the dispatcher that wrote it, or begin with an empty folder");
		return ST_CONFIG;
	}
	if (store_number(s, "SELECT count(*) FROM sqlite_master WHERE name IN ('rows', 'opened')") != 2)
		return store_damaged(s, "a table is missing", e);
	return store_check(s, e);
}

/* While a dispatcher has it, and after it was killed, the log belongs to the state: a
 * file without it, or with a shorter one, is one from before. How long the log is at least
 * stands in the file itself (0: not in use; 1: in use by an older version, which did not say),
 * so the log is written back once; what is left in it is no transaction any more. */
static enum status
store_mark(struct store *s, const struct wal_look *log, struct err *e)
{
	char sql[128];
	int64_t opened = store_number(s, "SELECT used FROM opened"), size;
	if (opened < 0)
		return store_damaged(s, "a row is missing", e);
	if (opened && log->state == STORE_LOG_NONE)
		return store_damaged(s, "its log, the file with -wal after its name, is missing", e);
	if (log->size < opened)
		return store_damaged(s, "its log, the file with -wal after its name, was cut short", e);
	enum status st = store_log_extend(s->path, &size, e);
	if (st != ST_OK)
		return st;
	snprintf(sql, sizeof sql, "UPDATE opened SET used = %lld; PRAGMA wal_checkpoint(FULL)",
		 (long long)size);
	return store_exec(s, sql, e);
}

/* Which files these are, so that it is seen when their names are no longer theirs. */
static void
store_know(const struct store *s, struct stat is[2])
{
	memset(is, 0, 2 * sizeof *is);
	if (stat(s->path, &is[0]) != 0 || stat(s->log_path, &is[1]) != 0)
		memset(is, 0, 2 * sizeof *is);
}

/* Files that were removed or replaced can be written to, and nobody would ever read it. */
static enum status
store_in_place(struct store *s, struct err *e)
{
	struct stat now[2];
	store_know(s, now);
	for (int i = 0; i < 2; i++)
		if (now[i].st_ino != s->files[i].st_ino || now[i].st_dev != s->files[i].st_dev)
			return err_set(e, ST_IO, "cannot write %s: it was removed or replaced while in use",
				       s->path);
	return ST_OK;
}

static enum status
store_prepare(struct store *s, struct err *e)
{
	const struct { sqlite3_stmt **at; const char *sql; } all[] = {
		{ &s->put, "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?, ?)" },
		{ &s->delete[0], "DELETE FROM rows WHERE kind = ?" },
		{ &s->delete[1], "DELETE FROM rows WHERE kind = ? AND k0 = ?" },
		{ &s->delete[2], "DELETE FROM rows WHERE kind = ? AND k0 = ? AND k1 = ?" },
		{ &s->delete[3], "DELETE FROM rows WHERE kind = ? AND k0 = ? AND k1 = ? AND k2 = ?" },
		{ &s->below, "DELETE FROM rows WHERE kind = ? AND k0 = ? AND k1 = ? AND k2 < ?" },
		{ &s->get, "SELECT kind, k0, k1, k2, sum, value FROM rows WHERE kind = ? AND k0 = ? AND k1 = ? AND k2 = ?" },
		{ &s->begin, "BEGIN IMMEDIATE" },
		{ &s->commit, "COMMIT" },
		{ &s->rollback, "ROLLBACK" },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (sqlite3_prepare_v3(s->db, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT, all[i].at,
				       NULL) != SQLITE_OK)
			return store_fail(s, "open", e);
	return ST_OK;
}

/* The database with its tables and nothing in it, under another name. */
static enum status
store_fill_new(struct store *s, const char *name, struct err *e)
{
	char sql[640];
	snprintf(sql, sizeof sql,
		 "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = FULL;"
		 "BEGIN; CREATE TABLE rows (kind INTEGER NOT NULL, k0 INTEGER NOT NULL,"
		 " k1 INTEGER NOT NULL, k2 INTEGER NOT NULL, sum INTEGER NOT NULL,"
		 " value BLOB NOT NULL, PRIMARY KEY (kind, k0, k1, k2)) WITHOUT ROWID;"
		 "CREATE TABLE opened (used INTEGER NOT NULL); INSERT INTO opened VALUES (0);"
		 "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		 STORE_APPLICATION, STORE_VERSION);
	unlink(name);
	enum status st = ST_OK;
	if (sqlite3_open_v2(name, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
			    SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		st = store_fail(s, "make", e);
	if (st == ST_OK)
		st = store_exec(s, sql, e);
	sqlite3_close(s->db);
	s->db = NULL;
	return st;
}

/* It appears whole: a file that is empty or short is never a beginning, but has lost
 * what was in it. Linked and not renamed, so that of two that begin at once one wins. */
static enum status
store_make(struct store *s, struct err *e)
{
	char *name = mem_printf("%s.%ld", s->path, (long)getpid());
	enum status st = store_fill_new(s, name, e);
	if (st == ST_OK && link(name, s->path) != 0 && errno != EEXIST)
		st = err_errno(e, "cannot make %s", s->path);
	unlink(name);
	mem_free(name);
	return st;
}

/* In the system's words what SQLite would only call an error. */
static enum status
store_reach(struct store *s, const char *dir, struct err *e)
{
	struct stat st;
	if (stat(dir, &st) != 0)
		return err_errno(e, "cannot use the folder %s for the state", dir);
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return err_errno(e, "cannot use the folder %s for the state", dir);
	}
	if (stat(s->path, &st) != 0 && errno == ENOENT) {
		enum status made = store_make(s, e);
		if (made != ST_OK)
			return made;
	}
	int fd = open(s->path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, "cannot open %s", s->path);
	bool empty = fstat(fd, &st) == 0 && st.st_size == 0;
	close(fd);
	if (access(dir, W_OK | X_OK) != 0)
		return err_errno(e, "cannot write to the folder %s", dir);
	return empty ? store_damaged(s, "it is empty", e) : ST_OK;
}

static enum status
store_begin(struct store *s, const char *dir, struct err *e)
{
	enum status st = store_reach(s, dir, e);
	if (st != ST_OK)
		return st;
	struct wal_look log = store_log(s->path);
	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return store_fail(s, "open", e);
	sqlite3_extended_result_codes(s->db, 1);
	/* a refused file stays as it is, including its log */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	/* Exclusive: no shared memory file, and a second dispatcher is refused. */
	st = store_exec(s, "PRAGMA locking_mode = EXCLUSIVE;"
			"PRAGMA journal_mode = WAL;"
			"PRAGMA synchronous = FULL;"
			"PRAGMA journal_size_limit = 8388608;"
			"BEGIN IMMEDIATE; COMMIT", e);
	/* only now: the log of another dispatcher may be half written */
	if (st == ST_OK && log.state == STORE_LOG_DAMAGED)
		st = store_damaged(s, "its log is wrong in the middle", e);
	if (st == ST_OK)
		st = store_schema(s, e);
	if (st == ST_OK)
		st = store_mark(s, &log, e);
	if (st == ST_OK && log.state == STORE_LOG_TORN)
		log_say(LOG_WARN,
			"the last transaction in the log of %s is not whole: it is taken for one that a power cut interrupted, and left out",
			s->path);
	store_know(s, s->files);
	if (st == ST_OK)
		st = store_prepare(s, e);
	if (st == ST_OK)
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return st;
}

enum status
store_open(const char *dir, struct store **out, struct err *e)
{
	*out = NULL;
	if (!*dir)
		return err_set(e, ST_USAGE, "the folder for the state has no name");
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_errno(e, "cannot make the folder %s for the state", dir);
	struct store *s = mem_zalloc(sizeof *s);
	s->path = mem_printf("%s/state.db", dir);
	s->log_path = mem_printf("%s-wal", s->path);
	enum status st = store_begin(s, dir, e);
	if (st != ST_OK)
		store_close(&s);
	*out = s;
	return st;
}

void
store_close(struct store **sp)
{
	struct store *s = *sp;
	if (!s)
		return;
	if (s->put) /* in good order: closing writes the log back */
		sqlite3_exec(s->db, "UPDATE opened SET used = 0", NULL, NULL, NULL);
	sqlite3_finalize(s->put);
	for (int i = 0; i < 4; i++)
		sqlite3_finalize(s->delete[i]);
	sqlite3_finalize(s->below);
	sqlite3_finalize(s->get);
	sqlite3_finalize(s->begin);
	sqlite3_finalize(s->commit);
	sqlite3_finalize(s->rollback);
	sqlite3_close(s->db);
	mem_free(s->rows);
	buf_clear(&s->bytes);
	mem_free(s->path);
	mem_free(s->log_path);
	mem_free(s);
	*sp = NULL;
}

static enum status
store_row(struct store *s, sqlite3_stmt *q,
	  enum status (*row)(void *, const struct disp_row *, struct err *), void *arg, struct err *e)
{
	struct disp_row r = { .kind = (enum disp_row_kind)sqlite3_column_int(q, 0), .n_key = 3 };
	for (int i = 0; i < 3; i++)
		r.key[i] = (uint64_t)sqlite3_column_int64(q, i + 1);
	const uint8_t *blob = sqlite3_column_blob(q, 5);
	static const uint8_t nothing;
	r.blob = blob ? blob : &nothing;
	r.n = (size_t)sqlite3_column_bytes(q, 5);
	if ((uint64_t)sqlite3_column_int64(q, 4) != store_sum(&r, r.blob))
		return store_damaged(s, "the checksum of a row is wrong", e);
	return row(arg, &r, e);
}

enum status
store_load(struct store *s, enum status (*row)(void *, const struct disp_row *, struct err *),
	   void *arg, struct err *e)
{
	sqlite3_stmt *q;
	enum status st = ST_OK;
	int rc;
	if (sqlite3_prepare_v2(s->db, "SELECT kind, k0, k1, k2, sum, value FROM rows "
			       "ORDER BY kind, k0, k1, k2", -1, &q, NULL) != SQLITE_OK)
		return store_fail(s, "read", e);
	while (st == ST_OK && (rc = sqlite3_step(q)) == SQLITE_ROW)
		st = store_row(s, q, row, arg, e);
	if (st == ST_OK && rc != SQLITE_DONE)
		st = store_fail(s, "read", e);
	sqlite3_finalize(q);
	return st;
}

void
store_put(void *arg, const struct disp_row *row)
{
	struct store *s = arg;
	s->rows = mem_grow(s->rows, &s->cap_rows, s->n_rows + 1, sizeof *s->rows);
	s->rows[s->n_rows++] = (struct waiting){ *row, s->bytes.len, row->blob == NULL };
	if (row->blob && row->n)
		buf_put(&s->bytes, row->blob, row->n);
}

static bool
store_write(struct store *s, const struct waiting *w)
{
	const struct disp_row *r = &w->row;
	sqlite3_stmt *q = !w->delete ? s->put : r->below ? s->below : s->delete[r->n_key];
	sqlite3_bind_int(q, 1, (int)r->kind);
	for (unsigned i = 0; i < r->n_key; i++)
		sqlite3_bind_int64(q, (int)i + 2, (int64_t)r->key[i]);
	if (!w->delete) {
		const uint8_t *blob = s->bytes.data ? s->bytes.data + w->at : (const uint8_t *)"";
		sqlite3_bind_int64(q, 5, (int64_t)store_sum(r, blob));
		sqlite3_bind_blob64(q, 6, blob, r->n, SQLITE_STATIC);
	}
	bool ok = sqlite3_step(q) == SQLITE_DONE;
	sqlite3_reset(q);
	return ok;
}

static bool
store_step(sqlite3_stmt *q)
{
	bool ok = sqlite3_step(q) == SQLITE_DONE;
	sqlite3_reset(q);
	return ok;
}

/* After a commit that failed: of rows with one key only the last is kept, for
 * it may take long until there is room. A delete of many is a border, for what is
 * before it must stay before it. */
static void
store_squeeze(struct store *s)
{
	struct hash last = { 0 };
	struct buf bytes = { 0 };
	size_t kept = 0;
	struct waiting *out = mem_array(s->n_rows, sizeof *out);
	for (size_t i = s->n_rows; i-- > 0;) {
		struct waiting *w = &s->rows[i];
		struct { uint64_t kind, key[3]; } k = { w->row.kind, { w->row.key[0], w->row.key[1], w->row.key[2] } };
		if (w->row.n_key < 3 || w->row.below)
			hash_clear(&last);
		else if (hash_put(&last, &k, sizeof k, w))
			continue;
		out[kept++] = *w;
	}
	for (size_t i = 0; i < kept; i++) {
		struct waiting w = out[kept - 1 - i];
		size_t at = bytes.len;
		if (!w.delete && w.row.n)
			buf_put(&bytes, s->bytes.data + w.at, w.row.n);
		w.at = at;
		s->rows[i] = w;
	}
	s->n_rows = kept;
	buf_clear(&s->bytes);
	s->bytes = bytes;
	hash_clear(&last);
	mem_free(out);
}

static void
store_took(struct store *s, int64_t ns)
{
	uint64_t took = ns > 0 ? (uint64_t)ns : 0;

	s->costs.commits++;
	s->costs.commit_ns += took;
	for (size_t i = 0; i < DISP_COMMIT_STEPS; i++)
		s->costs.within[i] += (double)took * 1e-9 <= disp_commit_seconds[i];
}

enum status
store_commit(struct store *s, struct err *e)
{
	if (!s->n_rows)
		return ST_OK;
	int64_t began = clock_mono_ns();
	if (store_in_place(s, e) != ST_OK) {
		store_squeeze(s);
		return ST_IO;
	}
	bool ok = store_step(s->begin);
	for (size_t i = 0; i < s->n_rows && ok; i++)
		ok = store_write(s, &s->rows[i]);
	ok = ok && store_step(s->commit);
	if (!ok) {
		enum status st = store_fail(s, "write", e);
		if (!sqlite3_get_autocommit(s->db))
			store_step(s->rollback);
		store_squeeze(s);
		return st == ST_DATA ? st : (e ? (e->kind = ST_IO) : ST_IO);
	}
	store_took(s, clock_mono_ns() - began);
	s->n_rows = 0;
	buf_reset(&s->bytes);
	if (s->bytes.cap > 16 << 20)
		buf_clear(&s->bytes);
	return ST_OK;
}

static bool
store_concerns(const struct disp_row *r, const struct disp_row *key)
{
	size_t same = r->below ? 2 : r->n_key;
	return r->kind == key->kind && !memcmp(r->key, key->key, same * sizeof r->key[0]) &&
		(!r->below || key->key[2] < r->key[2]);
}

static enum status
store_take(void *arg, const struct disp_row *r, struct err *e)
{
	(void)e;
	buf_put(arg, r->blob, r->n);
	return ST_OK;
}

enum status
store_get(struct store *s, const struct disp_row *key, struct buf *out, struct err *e)
{
	for (size_t i = s->n_rows; i-- > 0;) {
		const struct waiting *w = &s->rows[i];
		if (!store_concerns(&w->row, key))
			continue;
		if (w->delete)
			return err_set(e, ST_NOINPUT, "a row is not there any more");
		buf_put(out, s->bytes.data + w->at, w->row.n);
		return ST_OK;
	}
	sqlite3_bind_int(s->get, 1, (int)key->kind);
	for (int i = 0; i < 3; i++)
		sqlite3_bind_int64(s->get, i + 2, (int64_t)key->key[i]);
	enum status st = ST_NOINPUT;
	switch (sqlite3_step(s->get)) {
	case SQLITE_ROW: st = store_row(s, s->get, store_take, out, e); break;
	case SQLITE_DONE: err_set(e, st, "%s lacks a row", s->path); break;
	default: st = store_fail(s, "read", e); break;
	}
	sqlite3_reset(s->get);
	return st;
}

size_t
store_waiting(const struct store *s)
{
	return s->n_rows;
}

void
store_tidy(struct store *s)
{
	int64_t pages = store_number(s, "PRAGMA page_count");
	if (store_number(s, "PRAGMA freelist_count") > pages / 4)
		sqlite3_exec(s->db, "PRAGMA incremental_vacuum(1000)", NULL, NULL, NULL);
}

bool
store_empty(struct store *s)
{
	return store_number(s, "SELECT count(*) FROM (SELECT 1 FROM rows LIMIT 1)") == 0;
}

int64_t
store_bytes(struct store *s)
{
	return store_number(s, "PRAGMA page_count") * store_number(s, "PRAGMA page_size");
}

void
store_costs(void *arg, struct disp_costs *out)
{
	struct store *s = arg;
	int64_t bytes = store_bytes(s);

	*out = s->costs;
	out->bytes = bytes > 0 ? (uint64_t)bytes : 0;
}

void
store_limit(struct store *s, int64_t bytes)
{
	char sql[64];
	snprintf(sql, sizeof sql, "PRAGMA max_page_count = %lld",
		 (long long)(bytes / store_number(s, "PRAGMA page_size")));
	sqlite3_exec(s->db, sql, NULL, NULL, NULL);
}

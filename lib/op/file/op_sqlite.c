/* SPDX-License-Identifier: MIT
 * sqlite: rows of a database, as records.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "base/gate.h"
#include "base/mem.h"
#include "op/op.h"
#include "op/state.h"
#include "value/mp.h"

enum { SQLITE_BEAT = 10000 }; /* steps of SQLite's machine between two checks for a stop */

struct sqlite {
	char *file, *query;
	sqlite3 *db;
	sqlite3_stmt *stmt;
	struct buf keys;      /* encoded names of the columns, end to end */
	uint32_t *key_len;
	int columns;
	uint64_t given;       /* number of rows given */
	bool ended;
};

static const struct param sqlite_params[] = {
	{ "file", PARAM_WORD, offsetof(struct sqlite, file), .flags = PARAM_PATH,
	  .help = "the database file; it is opened read-only" },
	{ "query", PARAM_WORD, offsetof(struct sqlite, query),
	  .help = "one SELECT; the names of its columns become the names of the fields" },
	{ 0 }
};

static enum status
sqlite_fault(const struct sqlite *s, int rc, struct err *e)
{
	const char *why = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc);

	switch (rc & 0xff) {
	case SQLITE_CANTOPEN: return err_set(e, ST_NOINPUT, "cannot open '%s': %s", s->file, why);
	case SQLITE_PERM:
	case SQLITE_AUTH: return err_set(e, ST_PERM, "cannot read '%s': %s", s->file, why);
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return err_set(e, ST_TEMP, "cannot read '%s': %s", s->file, why);
	case SQLITE_IOERR: return err_set(e, ST_IO, "cannot read '%s': %s", s->file, why);
	default: return err_set(e, ST_DATA, "%s: %s", s->file, why);
	}
}

static void
sqlite_release(struct sqlite *s)
{
	sqlite3_finalize(s->stmt);
	sqlite3_close(s->db);
	s->stmt = NULL;
	s->db = NULL;
	buf_clear(&s->keys);
	mem_free(s->key_len);
	s->key_len = NULL;
}

/* Encodes the names of the columns, as keys of records. */
static enum status
sqlite_columns(struct sqlite *s, struct err *e)
{
	s->columns = sqlite3_column_count(s->stmt);
	s->key_len = mem_array((size_t)s->columns + 1, sizeof *s->key_len);
	for (int i = 0; i < s->columns; i++) {
		const char *name = sqlite3_column_name(s->stmt, i);

		for (int k = 0; k < i; k++) {
			if (strcmp(name, sqlite3_column_name(s->stmt, k)))
				continue;
			err_set(e, ST_DATA, "two columns are called `%.100s`", name);
			err_help(e, "name them: SELECT a.id AS a_id, b.id AS b_id");
			return ST_DATA;
		}
		uint32_t n = (uint32_t)strlen(name);
		uint8_t *p = buf_room(&s->keys, n + MP_HEAD_MAX);
		s->key_len[i] = (uint32_t)(mp_put_text(p, name, n) - p);
		s->keys.len += s->key_len[i];
	}
	return ST_OK;
}

/* SQLite opens files by itself, also such that it thinks of (journals): all through the gate. */
static int
sqlite_gate(const char *path, int flags, int mode)
{
	enum gate side = (flags & O_ACCMODE) == O_RDONLY ? GATE_READ : GATE_WRITE;
	int fd = gate_open(side, path, flags, (mode_t)mode);

	if (fd < 0 && gate_refused(errno))
		errno = EACCES;
	return fd;
}

static void
sqlite_use_gate(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	if (vfs && vfs->iVersion >= 3)
		vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)sqlite_gate);
}

/* Opens the database and prepares the statement. In every case sqlite_release must follow. */
static enum status
sqlite_prepare(struct sqlite *s, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct stat st;
	const char *tail;

	pthread_once(&once, sqlite_use_gate);
	if (gate_stat(s->file, &st))
		return err_errno(e, "cannot read '%s'", s->file);
	int rc = sqlite3_open_v2(s->file, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc != SQLITE_OK)
		return sqlite_fault(s, rc, e);
	/* The file may come from anywhere: its views and triggers may run plain SQL only. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_busy_timeout(s->db, 5000);
	if (!gate_is_open(GATE_WRITE))
		sqlite3_exec(s->db, "PRAGMA temp_store = memory", NULL, NULL, NULL);
	rc = sqlite3_prepare_v3(s->db, s->query, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt, &tail);
	if (rc != SQLITE_OK)
		return sqlite_fault(s, rc, e);
	while (*tail && strchr(" \t\r\n;", *tail))
		tail++;
	if (*tail)
		return err_set(e, ST_DATA, "expected one statement, but more follows: %.60s", tail);
	if (!s->stmt || !sqlite3_column_count(s->stmt) || !sqlite3_stmt_readonly(s->stmt)) {
		err_set(e, ST_DATA, "the statement reads no rows");
		err_help(e, "sqlite FILE \"SELECT ...\"");
		return ST_DATA;
	}
	if (sqlite3_bind_parameter_count(s->stmt))
		return err_set(e, ST_DATA, "the statement has parameters (?, :name), which have no values");
	return sqlite_columns(s, e);
}

static enum status
sqlite_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct sqlite *p = n->params;
	struct sqlite s = { .file = p->file, .query = p->query };
	struct err ignored;

	(void)e;
	*type = type_scalar(TYPE_ANY);
	if (n->n_binds || sqlite_prepare(&s, &ignored) != ST_OK) {
		sqlite_release(&s);
		return ST_OK; /* the check reports it */
	}
	struct type_field *fields = mem_array((size_t)s.columns, sizeof *fields);
	for (int i = 0; i < s.columns; i++)
		fields[i] = (struct type_field){ sqlite3_column_name(s.stmt, i), type_scalar(TYPE_ANY) };
	*type = type_record(t->arena, fields, (size_t)s.columns, false);
	mem_free(fields);
	sqlite_release(&s);
	return ST_OK;
}

static enum status
sqlite_check(const struct op_node *n, struct err *e)
{
	const struct sqlite *p = n->params;
	struct sqlite s = { .file = p->file, .query = p->query };

	if (n->n_binds)
		return ST_OK;
	enum status st = sqlite_prepare(&s, e);
	sqlite_release(&s);
	return st;
}

static int
sqlite_stopped(void *arg)
{
	const struct op_inst *self = arg;

	return op_stopped(self->ctx);
}

static enum status
sqlite_open(struct op_inst *self, struct err *e)
{
	struct sqlite *s = self->state;
	enum status st = sqlite_prepare(s, e);

	if (st != ST_OK)
		return st;
	if (self->ctx->element_max && self->ctx->element_max < INT32_MAX)
		sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, (int)self->ctx->element_max);
	sqlite3_progress_handler(s->db, SQLITE_BEAT, sqlite_stopped, self);
	return ST_OK;
}

static void
sqlite_end(struct op_inst *self)
{
	sqlite_release(self->state);
}

/* Does one step: ST_OK there is a row, ST_END there are no more. */
static enum status
sqlite_row(struct op_inst *self, struct sqlite *s, struct err *e)
{
	if (s->ended)
		return ST_END;
	int rc = sqlite3_step(s->stmt);
	if (rc == SQLITE_ROW)
		return ST_OK;
	if (rc == SQLITE_INTERRUPT && sqlite_stopped(self))
		return ST_AGAIN;
	s->ended = true;
	if (rc == SQLITE_DONE)
		return ST_END;
	sqlite_fault(s, rc, e);
	/* Nothing can be read after an error. */
	enum status st = op_source_fault(self, NULL, 0, e);
	return st == ST_OK ? ST_END : st;
}

/* Upper bound for the bytes that the value of column i takes. */
static size_t
sqlite_size(sqlite3_stmt *q, int i)
{
	int type = sqlite3_column_type(q, i);

	if (type != SQLITE_TEXT && type != SQLITE_BLOB)
		return MP_INT_MAX;
	/* Asking for a text first converts it to UTF-8, which may change its size. */
	if (type == SQLITE_TEXT)
		(void)sqlite3_column_text(q, i);
	return MP_HEAD_MAX + (size_t)sqlite3_column_bytes(q, i);
}

static uint8_t *
sqlite_put(sqlite3_stmt *q, int i, uint8_t *w)
{
	uint32_t n;
	const void *p;

	switch (sqlite3_column_type(q, i)) {
	case SQLITE_INTEGER: return mp_put_int(w, sqlite3_column_int64(q, i));
	case SQLITE_FLOAT: return mp_put_float(w, sqlite3_column_double(q, i));
	case SQLITE_TEXT:
		p = sqlite3_column_text(q, i);
		n = (uint32_t)sqlite3_column_bytes(q, i);
		return mp_put_text(w, p, n);
	case SQLITE_BLOB:
		p = sqlite3_column_blob(q, i);
		n = (uint32_t)sqlite3_column_bytes(q, i);
		w = mp_put_bytes_head(w, n);
		if (n)
			memcpy(w, p, n);
		return w + n;
	default: return mp_put_nil(w);
	}
}

static enum status
sqlite_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct sqlite *s = self->state;
	size_t bytes = 0;

	out->line = s->given + 1; /* number of the row */
	while (out->n < RUN_USUAL && bytes < RUN_BYTES) {
		enum status st = sqlite_row(self, s, e);
		size_t room = MP_HEAD_MAX + s->keys.len;

		if (st != ST_OK)
			return (st == ST_END || st == ST_AGAIN) && out->n ? ST_OK : st;
		for (int i = 0; i < s->columns; i++)
			room += sqlite_size(s->stmt, i);
		uint8_t *start = run_room(out, room), *w = mp_put_record_head(start, (uint32_t)s->columns);
		const uint8_t *key = s->keys.data;
		for (int i = 0; i < s->columns; i++) {
			memcpy(w, key, s->key_len[i]);
			key += s->key_len[i];
			w = sqlite_put(s->stmt, i, w + s->key_len[i]);
		}
		bytes += (size_t)(w - start);
		run_done(out, w, out->n);
		s->given++;
	}
	return ST_OK;
}

static void
sqlite_save(struct op_inst *self, struct buf *out)
{
	const struct sqlite *s = self->state;

	state_put_u64(out, s->given);
}

/* Steps over the rows that were given. They come in the same order again as long as nobody
 * writes to the database, or the query has an ORDER BY that decides. */
static enum status
sqlite_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct sqlite *s = self->state;
	struct state_in in = state_begin(p, n);
	uint64_t given = state_get_u64(&in, INT64_MAX);
	enum status st = state_finish(self, &in, e);

	for (; st == ST_OK && s->given < given; s->given++)
		st = sqlite_row(self, s, e);
	return st == ST_END ? ST_OK : st;
}

const struct op_desc op_sqlite = {
	.name = "sqlite",
	.brief = "reads rows of an SQLite database, as records",
	.doc = "The statement is checked before the run. Integers, floats, text and null keep their types; "
	       "blobs become bytes. The database is opened read-only and read as one split. A position in the "
	       "data is a number of rows, so a run that may be resumed needs an ORDER BY in its query.",
	.kind = OP_SOURCE,
	.params = sqlite_params,
	.state_size = sizeof(struct sqlite),
	.typing = sqlite_typing,
	.check = sqlite_check,
	.open = sqlite_open,
	.next = sqlite_next,
	.close = sqlite_end,
	.save = sqlite_save,
	.restore = sqlite_restore,
	.example = "sqlite fruit.db \"SELECT name, price FROM fruit WHERE price < 2 ORDER BY id\"",
	.output = "{\"name\":\"apple\",\"price\":1.5}\n{\"name\":\"fig\",\"price\":1.0}\n",
};

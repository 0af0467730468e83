/* SPDX-License-Identifier: MIT
 *
 * Datasets: registered by a tool, or by an OPEN for as long as its job is there.
 *
 * What was registered under a name is kept until there are too many. One without is
 * forgotten when it was neither registered again nor asked for nor read for
 * dataset_gc_ns, or earlier when there are too many, those that were used last staying.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_row.h"

static size_t
dataset_bytes(const struct dataset *s)
{
	return strlen(s->spec) + strlen(s->type);
}

struct dataset *
dataset_new(struct disp *d, uint64_t number, struct dataset *from)
{
	struct dataset *s = mem_zalloc(sizeof *s);

	s->dirty.kind = DIRTY_DATASET;
	s->number = number;
	fields_move(row_dataset_fields, s, from);
	hash_put_str(&d->datasets, s->id, s);
	d->dataset_bytes += dataset_bytes(s);
	return s;
}

/* An id that somebody chose, and may have written down; others are hashes. */
static bool
dataset_named(const struct disp *d, const struct dataset *s)
{
	char own[WIRE_NAME_MAX + 1] = "";

	d->o.spec_id(s->spec, strlen(s->spec), own, sizeof own);
	return strcmp(own, s->id) != 0;
}

void
dataset_free(struct disp *d, struct dataset *s)
{
	hash_del_str(&d->datasets, s->id);
	d->dataset_bytes -= dataset_bytes(s);
	ring_drop(&s->dirty.node);
	ring_drop(&s->idle);
	disp_delete(d, ROW_DATASET, 1, s->number, 0, 0);
	fields_clear(row_dataset_fields, s);
	spent_clear(&s->spent);
	mem_free(s);
}

void
dataset_unused(struct disp *d, struct dataset *s)
{
	if (s->jobs)
		return;
	if (!s->registered) {
		dataset_free(d, s);
	} else if (!dataset_named(d, s)) {
		s->idle_since = d->now;
		ring_push(&d->idle_datasets, &s->idle);
	}
}

void
dataset_loaded(struct disp *d)
{
	for (size_t i = d->datasets.n; i-- > 0;)
		dataset_unused(d, d->datasets.items[i].value);
}

void
dataset_tick(struct disp *d)
{
	while (!ring_empty(&d->idle_datasets)) {
		struct dataset *s = LIST_OF(d->idle_datasets.next, struct dataset, idle);

		if (s->idle_since > d->now - d->o.dataset_gc_ns)
			break;
		dataset_free(d, s);
	}
}

int64_t
dataset_deadline(const struct disp *d)
{
	if (ring_empty(&d->idle_datasets))
		return INT64_MAX;
	return LIST_OF(d->idle_datasets.next, struct dataset, idle)->idle_since + d->o.dataset_gc_ns;
}

/* Room for n bytes more, if need be that of those which were not used for longest. */
static bool
dataset_room(struct disp *d, size_t n)
{
	size_t most = d->o.datasets_max ? d->o.datasets_max : DISP_DATASETS;

	while (d->datasets.n >= most || d->dataset_bytes + n > DISP_DATASET_BYTES) {
		if (ring_empty(&d->idle_datasets))
			return false;
		dataset_free(d, LIST_OF(d->idle_datasets.next, struct dataset, idle));
	}
	return true;
}

/* Whoever may have programs run answers for the spec, whoever gave it before. */
static void
dataset_vouch(struct disp *d, struct dataset *s, const struct peer *p)
{
	if (!p->programs || *str_or_empty(s->vouched))
		return;
	mem_free(s->vouched);
	s->vouched = mem_strdup(p->user ? p->user : DATASET_NO_KEY);
	disp_dirty(d, &s->dirty, DIRTY_ROW);
}

bool
dataset_programs(const struct dataset *s)
{
	return *str_or_empty(s->vouched);
}

void
dataset_review(struct disp *d, unsigned (*may)(void *arg, const char *user), void *arg)
{
	for (size_t i = 0; i < d->datasets.n; i++) {
		struct dataset *s = d->datasets.items[i].value;

		if (!dataset_programs(s) || !strcmp(s->vouched, DATASET_NO_KEY) ||
		    may(arg, s->vouched) & (MAY_EXEC | MAY_ADMIN))
			continue;
		*s->vouched = '\0';
		disp_dirty(d, &s->dirty, DIRTY_ROW);
	}
}

/* The dataset with this spec, registered now if it was not. NULL: an error was
 * answered. Takes the texts. */
struct dataset *
dataset_of_spec(struct disp *d, struct peer *p, uint64_t req, char **id, char **spec, char **type, bool *known)
{
	char own[WIRE_NAME_MAX + 1] = "";
	struct dataset *s;

	if (!**spec) {
		disp_error(d, p, req, ST_USAGE, "a dataset without a spec", "");
		return NULL;
	}
	if (!**id)
		d->o.spec_id(*spec, strlen(*spec), own, sizeof own);
	s = hash_get_str(&d->datasets, **id ? *id : own);
	*known = s != NULL;
	if (s && strcmp(s->spec, *spec)) {
		char *text = mem_printf("the name `%s` belongs to `%s`; you gave `%s`",
					s->id, s->spec, *spec);

		disp_error(d, p, req, ST_DATA, text, "choose another id");
		mem_free(text);
		return NULL;
	}
	if (s) {
		dataset_vouch(d, s, p);
		return s;
	}
	if (!dataset_room(d, strlen(*spec) + strlen(*type))) {
		disp_error(d, p, req, ST_TEMP, "the dispatcher has reached its limit of datasets",
			   "all of them have names or are in use; see dsvc-status");
		return NULL;
	}
	struct dataset new = { .id = mem_strdup(**id ? *id : own), .spec = *spec, .type = *type };
	s = dataset_new(d, disp_id(d), &new);
	*spec = *type = NULL;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	dataset_vouch(d, s, p);
	return s;
}

static void
dataset_answer(struct disp *d, struct peer *p, uint64_t req, const struct dataset *s, bool known)
{
	struct msg *out = disp_send(d, p, MSG_DATASET, req);

	out->dataset.id = mem_strdup(s->id);
	out->dataset.spec = mem_strdup(s->spec);
	out->dataset.type = mem_strdup(s->type);
	out->dataset.known = known;
}

/* An id is one word of a command line, in which no program sees an option or a
 * spec. */
static bool
dataset_id_fits(const char *id)
{
	for (const char *c = id; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '|')
			return false;
	return *id != '-' && str_utf8_valid(id, strlen(id)) == strlen(id);
}

void
dataset_register(struct disp *d, struct peer *p, struct msg *m)
{
	if (!dataset_id_fits(str_or_empty(m->reg.id))) {
		disp_error(d, p, m->req, ST_USAGE, "an id is one word: no blanks, no `|`, and no `-` in front",
			   "for example: --id web-errors");
		return;
	}
	char *id = str_take(&m->reg.id), *spec = str_take(&m->reg.spec), *type = str_take(&m->reg.type);
	bool known;
	struct dataset *s = dataset_of_spec(d, p, m->req, &id, &spec, &type, &known);

	if (s) {
		if (!s->registered) {
			s->registered = true;
			disp_dirty(d, &s->dirty, DIRTY_ROW);
		}
		dataset_unused(d, s); /* for now: its time begins */
		dataset_answer(d, p, m->req, s, known);
	}
	mem_free(id);
	mem_free(spec);
	mem_free(type);
}

/* The datasets whose hash begins with `id`: how many, and one of them. Names that
 * were asked for are no hashes, and are given whole. */
static size_t
dataset_begins(struct disp *d, const char *id, struct dataset **one)
{
	size_t n = strlen(id), found = 0;
	char own[WIRE_NAME_MAX + 1];

	if (n < WIRE_PREFIX_MIN || strspn(id, "0123456789abcdef") != n)
		return 0;
	for (size_t i = 0; i < d->datasets.n; i++) {
		struct dataset *s = d->datasets.items[i].value;
		if (strncmp(s->id, id, n))
			continue;
		d->o.spec_id(s->spec, strlen(s->spec), own, sizeof own);
		if (!strcmp(own, s->id)) {
			*one = s;
			found++;
		}
	}
	return found;
}

struct dataset *
dataset_look(struct disp *d, const char *id, size_t *n)
{
	struct dataset *s = hash_get_str(&d->datasets, id);

	*n = s ? 1 : dataset_begins(d, id, &s);
	return *n == 1 ? s : NULL;
}

struct dataset *
dataset_find(struct disp *d, struct peer *p, uint64_t req, const char *id)
{
	size_t n;
	struct dataset *s = dataset_look(d, str_or_empty(id), &n);
	char *text;

	if (s)
		return s;
	if (n)
		text = mem_printf("%zu datasets begin with `%s`", n, id);
	else
		text = mem_printf("no dataset `%s`", str_or_empty(id));
	disp_error(d, p, req, ST_NOINPUT, text, n ? "write more of the id; dsvc-status shows them" :
		   "dsvc-register registers one and prints its id");
	mem_free(text);
	return NULL;
}

void
dataset_get(struct disp *d, struct peer *p, struct msg *m)
{
	struct dataset *s = dataset_find(d, p, m->req, m->get.id);

	if (s) {
		if (s->registered)
			dataset_unused(d, s); /* asked for: its time begins anew */
		dataset_answer(d, p, m->req, s, true);
	}
}

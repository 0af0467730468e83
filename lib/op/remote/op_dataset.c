/* SPDX-License-Identifier: MIT
 * dataset: the elements of a registered dataset, made by the service's workers.
 */
#include "op/remote/remote.h"

#include <string.h>

static const struct param dataset_params[] = {
	{ "id", PARAM_WORD, offsetof(struct remote, dataset), .flags = PARAM_NAME,
	  .help = "id of the dataset, as dsvc-register prints it" },
	JOB_ROWS(struct remote, job),
	REMOTE_AT_ROW,
	{ "type", PARAM_WORD, offsetof(struct remote, type), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL | PARAM_NAME,
	  .help = "type that the elements must have; it may be wider than that of the dataset" },
	{ 0 }
};

/* The type that the service has for the dataset; without a service, elements may be anything. */
static enum status
dataset_type(const struct remote *r, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct op_service *s = t->service;
	struct buf text = { 0 };
	enum status st;

	*type = type_scalar(TYPE_ANY);
	if (!s || !s->type)
		return ST_OK;
	st = s->type(s->arg, r->dataset, r->at, &text, e);
	if (st == ST_OK && text.len) {
		*type = type_parse(t->arena, (const char *)text.data, text.len, e);
		if (!*type)
			st = err_set(e, ST_PROTO, "the service gives dataset %s a type that cannot "
				     "be read", r->dataset);
	}
	buf_clear(&text);
	return st;
}

/* With type=, that is the type from here on; every element of the dataset must have it. */
static enum status
dataset_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct remote *r = remote_of(n);
	remote_address(n);
	enum status st = dataset_type(r, t, type, e);

	if (st != ST_OK || !r->type)
		return st;
	const struct type *has = t->service && t->service->type ? *type : NULL;
	*type = type_parse(t->arena, r->type, strlen(r->type), e);
	if (!*type)
		return err_wrap(e, "type="), e->kind;
	return has ? type_expect(*type, has, "type=", e) : ST_OK;
}

const struct op_desc op_dataset = {
	.name = "dataset",
	.brief = "reads the elements of a registered dataset",
	.doc = "Reads a dataset that was registered with the service, by its id or by the name it was "
	       "registered under. It has the parameters of distribute, and type=: the type of the elements, "
	       "which is checked before anything runs and is known to the operators after it.\n\nWith at= the "
	       "dataset belongs to another service. It may then stand before distribute, where a worker reads "
	       "it as one stream, always in the same order.",
	.kind = OP_SOURCE,
	.scope = OP_ELEMENT,
	.flags = OP_REORDERS | OP_REMOTE,
	.params = dataset_params,
	.state_size = sizeof(struct remote),
	.typing = dataset_typing,
	.open = remote_open,
	.next = remote_next,
	.close = remote_close,
	.save = remote_save,
	.restore = remote_restore,
};

/* SPDX-License-Identifier: MIT
 * distribute: the border. What stands before it runs on the workers of the
 * service; their elements come out here.
 */
#include "op/remote/remote.h"

static const struct param distribute_params[] = {
	JOB_ROWS(struct remote, job),
	REMOTE_AT_ROW,
	{ 0 }
};

static enum status
distribute_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)t, (void)e;
	remote_address(n);
	*type = n->in[0]->type;
	return ST_OK;
}

const struct op_desc op_distribute = {
	.name = "distribute",
	.brief = "runs the operators before it on the workers of the service",
	.doc = "The operators before it run on workers, those after it in the process that reads. With "
	       "sharding=dynamic (or distributed_epoch) the workers divide the source among them, and each "
	       "element is given once; with sharding=off (or parallel_epochs) each worker gives all elements. "
	       "An operator that must see all elements, such as take, has to stand after it, or have "
	       "per_stream=true. If count, group_by, stats, top or unique follows directly, the workers do it "
	       "for their parts of the elements and the reader combines the results, unless the job has a "
	       "name; --explain shows it.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_REORDERS | OP_REMOTE | OP_BORDER,
	.params = distribute_params,
	.state_size = sizeof(struct remote),
	.typing = distribute_typing,
	.open = remote_open,
	.next = remote_next,
	.close = remote_close,
	.save = remote_save,
	.restore = remote_restore,
};

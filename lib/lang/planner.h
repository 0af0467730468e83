/* SPDX-License-Identifier: MIT
 *
 * The planner's parts among themselves: the walk (plan.c), parameters (fill.c,
 * fill_script.c), what may stand ahead of the border (scope.c), fields that are used
 * (project.c). The walk and the parameters call each other, for a parameter may be a
 * pipeline.
 */
#ifndef LANG_PLANNER_H
#define LANG_PLANNER_H

#include "lang/spec.h"
#include "lang/tree.h"

struct planned {
	struct op_node *node;
	const struct tree_stage *stage;
	bool remote; /* runs on workers: there is no node for it here */
};

struct planner {
	struct tree *tree;
	struct plan *plan;
	const struct spec_src *src;
	struct planned *ops;  /* indexed by place - 1 */
	size_t cap_ops;
	unsigned depth;       /* depth of pipelines and lets in one another */
	struct err *e;
};

/* Makes the nodes of a pipeline; gives that of its last operator. Takes `up`, the input of a
 * fragment, also on failure. */
enum status plan_pipe(struct planner *pl, const struct tree_pipe *pipe, struct op_node *up,
		      const struct type *outer, struct op_node **out);
/* Makes the struct that typing callbacks use. */
/* nulls= of the stage, or of the options. */
bool plan_skips_nulls(const struct planner *pl, const struct tree_stage *s);
struct op_typing plan_typing(const struct planner *pl, const struct tree_stage *s,
			     const struct type *outer);
/* Puts the place of the stage (or of a part of it) into an error that has none. */
enum status plan_fail_at(struct planner *pl, const struct tree_stage *s, size_t at, size_t len,
			 enum status st);
/* Likewise the place of an operator that stands in the text. */
enum status plan_fail_on(struct planner *pl, const struct op_node *n, enum status st);

/* Fills n->params from the arguments, n->binds, and for combines n->in. */
enum status fill_params(struct planner *pl, struct op_node *n, const struct tree_stage *s,
			const struct type *outer);

/* Fills the words of a command or script: inserts the values of parameters so that they stay
 * values, and refuses values and elements where that is impossible. */
enum status fill_script(struct planner *pl, struct op_node *n, const struct tree_stage *s);

/* Whether everything from n down may run on workers, with this policy (enum job_sharding). */
enum status scope_check(struct planner *pl, const struct op_node *n, int sharding);
/* The first operator from n down that takes its share from the job; NULL: none. */
const struct op_node *scope_by_share(const struct op_node *n);
/* Whether several streams give the same as one process, from top down (op_in_order). */
enum status scope_order(struct planner *pl, const struct op_node *top, bool seeded);
/* The first operator from n down that has a meaning only over all elements, and would see only
 * a part in each stream; NULL: none. */
const struct op_node *scope_global(const struct op_node *n);
/* Whether it takes its elements from a service that it names itself. */
bool scope_at(const struct op_node *n);
/* Checks what stands before a border, puts its text into remote_spec, and frees it. */
enum status scope_border(struct planner *pl, struct op_node *n);

/* With SPEC_LOGGED or SPEC_HALTED: has the last operator of what runs on workers give records of its programs' runs.
 * *type, that of its elements, is then that of the answers. Unchanged if no programs run there. */
enum status plan_log(struct planner *pl, struct op_node *top, const struct type **type, struct op_logged *logged);
/* With SPEC_TAGGED: has the last operator of the plan put elements in front of answers. */
enum status plan_tag(struct planner *pl, struct op_node *top);

/* Has n done on workers for parts, if it stands behind a border and can be put together here. */
void plan_partial(const struct planner *pl, struct op_node *n, const struct type *outer);

/* Tells the sources below top what is wanted of them: sets `project` and the like. */
void project_plan(struct op_node *top, bool discard, const struct json_rules *json);

#endif

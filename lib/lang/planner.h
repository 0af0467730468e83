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
	bool remote; /* runs on workers: the node is gone */
};

struct planner {
	struct tree *tree;
	struct plan *plan;
	const struct spec_src *src;
	struct planned *ops;  /* by place - 1 */
	size_t cap_ops;
	unsigned depth;       /* of pipelines and lets in one another */
	struct err *e;
};

/* The node of the pipeline's last operator; takes `up`, what stands ahead of a
 * fragment, also when it fails. */
enum status plan_pipe(struct planner *pl, const struct tree_pipe *pipe, struct op_node *up,
		      const struct type *outer, struct op_node **out);
/* What typing callbacks get to see. */
struct op_typing plan_typing(const struct planner *pl, const struct tree_stage *s,
			     const struct type *outer);
/* Puts the place of the stage (or of part of it) to an error without one. */
enum status plan_fail_at(struct planner *pl, const struct tree_stage *s, size_t at, size_t len,
			 enum status st);

/* Fills n->params from the arguments, n->binds, and for combines n->in. */
enum status fill_params(struct planner *pl, struct op_node *n, const struct tree_stage *s,
			const struct type *outer);

/* The words of its command or script: puts the values of parameters in so that they
 * stay values, and refuses values and elements where they cannot. */
enum status fill_script(struct planner *pl, struct op_node *n, const struct tree_stage *s);

/* Whether all from n down may run on workers that see a part of the input each;
 * dynamic: under dynamic sharding. */
enum status scope_check(struct planner *pl, const struct op_node *n, bool dynamic);
/* Whether several streams give all from top down as one process does (op_in_order). */
enum status scope_order(struct planner *pl, const struct op_node *top, bool seeded);
/* The first operator from n down that means something only over all elements, where
 * streams would see a part each; NULL: none. */
const struct op_node *scope_global(const struct op_node *n);
/* For a border: checks what stands ahead, puts its text into remote_spec, and
 * frees it. */
enum status scope_border(struct planner *pl, struct op_node *n);

/* Sets `project` of the sources below top. */
void project_plan(struct op_node *top, bool discard);

#endif

/* SPDX-License-Identifier: MIT
 * sh: a script for /bin/sh as an operator; exec shell=true in fewer words.
 */
#include "op/exec_op.h"

static const struct param sh_params[] = {
	{ "script", PARAM_WORD, offsetof(struct exec, script), .help = "what /bin/sh -c is given" },
	EXEC_ROWS,
	{ 0 }
};

const struct op_desc op_sh = {
	.name = "sh",
	.brief = "a shell script as an operator",
	.doc = "As exec, with the script run by /bin/sh -c. What is put in place of {} is one word "
	       "for the shell, whatever is in it; no quotes are wanted around it.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_EXEC,
	.params = sh_params,
	.state_size = sizeof(struct exec),
	.typing = exec_typing,
	.cardinality = exec_cardinality,
	.open = exec_open,
	.next = exec_next,
	.close = exec_close,
	.save = exec_save,
	.restore = exec_restore,
	.example = "elements [\"a b\", \"c\"] | sh \"printf %s {} | tr a-z A-Z\" proto=arg",
	.output = "A B\nC\n",
};

/* SPDX-License-Identifier: MIT
 * sh: a script for /bin/sh as an operator; exec shell=true in fewer words.
 */
#include "op/exec/exec_op.h"

static const struct param sh_params[] = {
	{ "script", PARAM_WORD, offsetof(struct exec, script), .flags = PARAM_SCRIPT,
	  .help = "the script, as for /bin/sh -c" },
	EXEC_ROWS,
	{ 0 }
};

const struct op_desc op_sh = {
	.name = "sh",
	.brief = "runs a shell script as an operator",
	.doc = "Works like exec, with the script run by /bin/sh -c. The value that replaces {} is "
	       "one word for the shell, whatever it contains, and so is the value of a parameter; "
	       "quotes around it would undo that and are refused. dsvc-exec(7) describes where {} "
	       "may stand.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_CUTS | OP_EXEC,
	.params = sh_params,
	.state_size = sizeof(struct exec),
	.typing = exec_typing,
	.words = exec_words_are,
	.cardinality = exec_cardinality,
	.partwise = exec_partwise,
	.open = exec_open,
	.next = exec_next,
	.close = exec_close,
	.save = exec_save,
	.restore = exec_restore,
	.example = "elements [\"a b\", \"c\"] | sh \"printf %s {} | tr a-z A-Z\" proto=arg",
	.output = "A B\nC\n",
};

/* SPDX-License-Identifier: MIT
 * exec: any program as an operator, by one of several protocols (exec_work.h).
 */
#include "op/exec/exec_op.h"

static const struct param exec_params[] = {
	{ "command", PARAM_COMMAND, offsetof(struct exec, command),
	  .help = "the program and its arguments" },
	EXEC_ROWS,
	{ "shell", PARAM_BOOL, offsetof(struct exec, shell), "false", .flags = PARAM_KEY_ONLY,
	  .help = "the words are a script for /bin/sh" },
	{ 0 }
};

const struct op_desc op_exec = {
	.name = "exec",
	.brief = "any program as an operator",
	.doc = "The program is started without a shell, at the first element. With proto=line, "
	       "ndjson, nul, netstring and len32 it stays, and gives exactly one answer for each "
	       "element, in their order; elements are given to it ahead of its answers, a window "
	       "of them. With proto=msgpack it stays too, answers a handshake, and gives none, one "
	       "or many elements for each, in any order. With proto=arg and raw it is started for each element: in the "
	       "arguments {} is the element, {.} {/} {//} {/.} parts of it as a path, {.name} a "
	       "field, {#} its number, {%} the slot; or it reads the element from stdin; what it "
	       "writes is the answer. With proto=stream one process is given all elements as "
	       "lines, and gives any number of lines.\n\n"
	       "An exit status that is not 0, an answer that cannot be read and one that does not "
	       "come in time are errors of the element, with the last lines of its stderr; "
	       "on_error=fail, skip, keep or retry:N says what becomes of it. A process that dies "
	       "is started again; an element on which three have died is an error. dsvc-exec(7) "
	       "tells it all.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_CUTS | OP_EXEC,
	.params = exec_params,
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
	.example = "elements [\"one\", \"two\"] | exec -- sed -u s/o/0/g",
	.output = "0ne\ntw0\n",
};

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
	.brief = "runs any program as an operator",
	.doc = "The program is started without a shell, when the first element arrives. With proto=line, "
	       "ndjson, nul, netstring or len32 it keeps running and gives exactly one answer for each "
	       "element, in order; up to window= elements are sent before their answers arrive. With "
	       "proto=msgpack it keeps running as well, answers a handshake, and gives any number of answers "
	       "for each element, in any order. With proto=arg and raw it is started anew for each element, "
	       "and its output is the answer; with arg, an empty output gives no element. With arg, its "
	       "arguments contain the element: {} is the element, {.} {/} {//} {/.} are parts of it as a path, "
	       "{.name} is a field, {#} its number and {%} the slot; a list becomes as many arguments as it "
	       "has items. With raw, it reads the element from standard input. With proto=stream one process "
	       "gets all elements as lines and writes any number of lines.\n\nIf the exit status is not 0, or "
	       "an answer cannot be read or does not arrive in time, the element fails, with the last lines of "
	       "standard error; on_error=fail, skip, keep or retry:N decides what happens to it. A process "
	       "that dies is started again; an element on which three processes have died is an error. log=true gives "
	       "a record about each element with its answers in it. See dsvc-exec(7) for the details.",
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

/* SPDX-License-Identifier: MIT
 *
 * The callbacks that `exec` and `sh` share; their states are a struct exec.
 */
#ifndef EXEC_EXEC_OP_H
#define EXEC_EXEC_OP_H

#include "op/exec/exec_work.h"

enum status exec_typing(struct op_node *n, struct op_typing *t, const struct type **type,
			struct err *e);
struct op_words exec_words_are(const struct op_node *n);
/* Typing with field=: the field that is read, and the type with the answers in it. */
enum status exec_field_typing(struct op_node *n, struct op_typing *t, const struct type **type,
			      struct err *e);
int64_t exec_cardinality(const struct op_node *n, const int64_t *in);
bool exec_partwise(const struct op_node *n, const char **remedy);
enum status exec_open(struct op_inst *self, struct err *e);
enum status exec_next(struct op_inst *self, struct run *out, struct err *e);
void exec_close(struct op_inst *self);
void exec_save(struct op_inst *self, struct buf *out);
enum status exec_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

#define EXEC_ROWS \
	{ "proto", PARAM_CHOICE, offsetof(struct exec, proto), "line", .flags = PARAM_KEY_ONLY, \
	  .choices = FRAME_CHOICES, \
	  .help = "how elements and answers are delimited; see dsvc-exec(7)" }, \
	{ "parallel", PARAM_INT, offsetof(struct exec, parallel), "1", \
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO, .min = 1, .max = EXEC_PARALLEL_MAX, \
	  .help = "number of processes; auto: as many as the pool has threads" }, \
	{ "ordered", PARAM_BOOL, offsetof(struct exec, ordered), "true", .flags = PARAM_KEY_ONLY, \
	  .help = "false: pass answers on as they arrive, in any order" }, \
	{ "window", PARAM_INT, offsetof(struct exec, window), "1024", .flags = PARAM_KEY_ONLY, \
	  .min = 1, .max = EXEC_WINDOW_MAX, \
	  .help = "how many elements a process is sent before it has answered" }, \
	{ "timeout", PARAM_DURATION, offsetof(struct exec, timeout), "0", .flags = PARAM_KEY_ONLY, \
	  .min = 0, .max = INT64_MAX / 2, \
	  .help = "time limit for one element; 0: none" }, \
	{ "bytes", PARAM_BOOL, offsetof(struct exec, bytes), "false", .flags = PARAM_KEY_ONLY, \
	  .help = "with proto=arg: answers are bytes, exactly as they were written" }, \
	{ "field", PARAM_WORD, offsetof(struct exec, field), \
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL, \
	  .help = "send the program this field of each record, and replace the field " \
		  "by the answer" }, \
	{ "into", PARAM_WORD, offsetof(struct exec, into), \
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL, \
	  .help = "put the answer into this field" }, \
	{ "log", PARAM_BOOL, offsetof(struct exec, log), "false", .flags = PARAM_KEY_ONLY, \
	  .help = "give a record for each element: how its program ended, and its answers" }, \
	{ "tag", PARAM_BOOL, offsetof(struct exec, tag), "false", .flags = PARAM_KEY_ONLY, \
	  .help = "begin each line of an answer with the element that it answers, and a tab" }, \
	{ "pty", PARAM_BOOL, offsetof(struct exec, pty), "false", .flags = PARAM_KEY_ONLY, \
	  .help = "give the program a terminal for its output, so that it writes each line " \
		  "at once" }

#endif

/* SPDX-License-Identifier: MIT
 *
 * A run whose programs are watched: --joblog, --resume and --halt, for the
 * operators exec and sh, here and on workers.
 */
#ifndef RUN_RUN_PROGRAMS_H
#define RUN_RUN_PROGRAMS_H

#include "cli/output.h"
#include "lang/spec.h"
#include "op/programs.h"

struct run_programs;

struct run_programs_conf {
	const char *joblog, *halt; /* NULL: none */
	bool resume, failed;       /* failed: --resume-failed */
	bool quiet;
	enum format_kind format;   /* that of the output */
	const char *path;          /* its file; NULL: standard output */
};

/* Checks the options against the plan, whose policies --halt changes, and opens the log. *out is NULL if
 * none of them is given. Gives. */
enum status run_programs_new(const struct run_programs_conf *c, struct plan *plan, struct run_programs **out,
			     struct err *e);
/* All others take NULL. */
struct op_programs *run_programs_op(struct run_programs *p);
/* How the output is to be opened: a file that is logged goes on where the log says. */
void run_programs_output(const struct run_programs *p, struct output_conf *oc);
/* Rows wait until this output has what they are about. Lent until run_programs_end. */
void run_programs_bind(struct run_programs *p, struct output *out);
/* Whether failed elements are to be told one by one, for the run goes on. */
bool run_programs_tells(const struct run_programs *p);
/* The chain has ended with st, and all that came out of it was added to the output: to be called before
 * that is closed. */
void run_programs_last(struct run_programs *p, enum status st);
/* The first n of the `of` elements that came last were added to the output, and no more will be. */
void run_programs_cut(const struct run_programs *p, uint32_t n, uint32_t of);
/* The status of a run that ended with st, after failures under --halt. */
enum status run_programs_result(const struct run_programs *p, enum status st, struct err *e);
/* Says what is safe when a signal has come. Any thread. */
void run_programs_stopped(const struct run_programs *p);
/* Gives the status of the run, and frees. */
enum status run_programs_end(struct run_programs **p, enum status st, struct err *e);

#endif

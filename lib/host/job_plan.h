/* SPDX-License-Identifier: MIT
 *
 * The pipeline of a job, asked of the dispatcher, for programs that name its operators.
 */
#ifndef HOST_JOB_PLAN_H
#define HOST_JOB_PLAN_H

#include "host/tool.h"
#include "lang/spec.h"

/* Gives the plan of the dataset with this id (a text of the report); NULL: the dispatcher does not tell it, or it
 * cannot be planned here. */
struct plan *job_plan_get(struct tool *t, struct mp dataset);
/* Tells of the operator with this number in the spec. text: as the user wrote it,
 * lent; parallel: it has that parameter. False: there is none, or no plan (NULL). */
struct job_plan_op { const char *text; bool source, parallel; };
bool job_plan_about(const struct plan *plan, uint32_t place, struct job_plan_op *out);
/* The number of the operator that is meant: by its number, or by its name if no other has it; text NULL: the
 * last one. ST_USAGE: there is none, or several; ST_UNAVAIL: no plan, and so no names. */
enum status job_plan_place(const struct plan *plan, const char *text, uint32_t *place, struct err *e);

#endif

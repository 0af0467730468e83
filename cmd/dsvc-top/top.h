/* SPDX-License-Identifier: MIT
 *
 * The state of a service, again and again: what was seen lately of each job, the screen or the
 * lines that show it, and the keys.
 *
 *	loop.c   asks, shows, waits for a key or the next time
 *	model.c  from reports to rates and their history
 *	draw.c   a screen as lines of text
 *	term.c   the terminal: its size, its modes, and back again
 *	json.c   one object for each interval
 */
#ifndef TOP_TOP_H
#define TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/endpoint.h"
#include "host/limit.h"
#include "cli/program.h"
#include "host/job_plan.h"

enum {
	TOP_HISTORY = 20,        /* rates that are kept of each job */
	TOP_NAME = 64,
	TOP_PLANS = 64           /* pipelines that are asked for; operators of others have only numbers */
};

struct top {
	char *dispatcher, *context;
	bool json, quiet, insecure;
	int64_t connect_timeout, count, interval, verbose, timeout;
};

/* The newest is the last. */
struct top_rates { double v[TOP_HISTORY]; unsigned n; };
struct top_job {
	uint64_t job, epoch, acknowledged, readers, streams, finished;
	char name[TOP_NAME], state[16];
	struct top_rates rates;
	char *wait, *say;        /* the limit: a word or two; a sentence, with what to change */
	char *op;                /* the operator that takes most, as the user wrote it; NULL: not known */
	struct limit limit;      /* its texts are not valid any more */
	bool seen;               /* in the last report */
};
struct top_plan { char *dataset; struct plan *plan; };
enum top_sort { TOP_BY_RATE, TOP_BY_NAME, TOP_BY_READERS, TOP_SORTS };
struct model {
	struct top_job *jobs;
	size_t n, cap;
	struct top_rates rates;  /* all jobs together */
	struct top_plan plans[TOP_PLANS];
	size_t n_plans;
	uint64_t workers, slots, readers;
	int64_t at;              /* when the report was made; 0: there has been none */
	double seconds;          /* since the one before; 0: there is none */
	struct msg report;
	/* changed by keys: */
	enum top_sort sort;
	uint64_t selected;       /* job number; 0: none */
	bool paused, help;
};

/* Takes the report. */
void model_update(struct model *m, struct tool *t, struct msg *report, int64_t now_ns);
void model_sort(struct model *m, enum top_sort by);
/* Selects the next (1) or the one before (-1). */
void model_select(struct model *m, int step);
const struct top_job *model_selected(const struct model *m);
void model_clear(struct model *m);

/* How a screen is to be drawn. */
struct look {
	unsigned width, height;  /* 0: as wide, as high as need be */
	bool keys;               /* there are keys: the selection is marked, and they are told */
	bool colour;             /* the selected line is reversed */
	bool plain;              /* ASCII alone */
};
/* Appends the lines of a screen. */
void draw(const struct model *m, const struct look *l, const char *address, struct buf *out);
/* Appends an object and a newline. */
void top_json(const struct model *m, struct buf *out);

/* The terminal. Everything that term_begin changes is changed back by term_end. */
bool term_is(void);                        /* stdout is one */
bool term_is_plain(void);                  /* it shows no more than ASCII */
void term_begin(void);
void term_end(void);
void term_size(unsigned *width, unsigned *height);
int term_signals(void);                    /* a descriptor for TSTP, CONT and WINCH, which are blocked */

enum status top_run(const struct top *o, const struct endpoint *ep, struct err *e);

#endif

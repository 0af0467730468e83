/* SPDX-License-Identifier: MIT
 *
 * Libraries that are loaded when they are first needed, and not with the program, because every program would
 * start later for them. Their functions are called by way of a struct of pointers:
 *
 *	#define CURL_FNS(F) F(curl_easy_init) F(curl_easy_cleanup)
 *	struct curl_lib { CURL_FNS(LATE_FN) };            the struct
 *	const char *const names[] = { CURL_FNS(LATE_NAME) NULL };
 */
#ifndef BASE_LATE_H
#define BASE_LATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/err.h"

#define LATE_FN(name) __typeof__(name) *name;
#define LATE_NAME(name) #name,

struct late {
	const char *files[3];     /* names of the library, tried in this order, up to a NULL */
	const char *package;      /* Debian's name of it, for messages */
	const char *const *names; /* the names that are wanted of it, up to a NULL */
	void *fns;                /* pointers to what the names mean, in their order */
	/* starts it once it is there; gives NULL, or a clause that says why that fails. Absent: nothing is to be done */
	const char *(*start)(void);
	pthread_mutex_t lock;     /* LATE_LOCK; guards the rest until `loaded` is set */
	atomic_bool loaded;       /* it has been tried */
	char why[200];            /* why it cannot be used; "": it can */
};
#define LATE_LOCK .lock = PTHREAD_MUTEX_INITIALIZER

/* Loads the library with the first call, and gives l->fns. NULL: it cannot be used, and e says why (ST_DATA) and
 * which package has it. Any thread. */
void *late_get(struct late *l, struct err *e);

#endif

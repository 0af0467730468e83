/* SPDX-License-Identifier: MIT
 *
 * Rights to say and to see: roles, and the secrets of streams. For the files of the
 * dispatcher, as disp_inner.h.
 */
#ifndef DISP_DISP_ROLE_H
#define DISP_DISP_ROLE_H

#include "core/disp/disp_inner.h"

enum { DISP_SHARDS_SLOT = 64 };

/* disp_role.c: whether the sender may say it; if not, it has been answered. */
bool role_admits(struct disp *d, uint64_t id, const struct disp_who *who, const struct msg *m);
/* Whether the sender may have a job of so many shards; if not, it has been answered. */
bool role_may_have(struct disp *d, struct peer *p, const struct msg *m);
/* disp_report.c: what STATUS asks for, as that user may see it (NULL: all); false: no such job. */
bool report_for(struct disp *d, int64_t now, const char *user, const struct msg_status *ask, struct buf *out);
/* disp_find.c: the worker of this generation is told it, and makes the tickets of its readers
 * of it. */
struct secret stream_secret(const struct disp *d, const struct stream *s);

#endif

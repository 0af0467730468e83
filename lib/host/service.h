/* SPDX-License-Identifier: MIT
 *
 * The service as `dataset` and `distribute` see it (op/op.h): a reader whose
 * pieces become runs. For dsvc-run and dsvc-read.
 *
 * Elements count as written when the chain asks for the ones after them.
 */
#ifndef HOST_SERVICE_H
#define HOST_SERVICE_H

#include "host/reader_host.h"
#include "op/op.h"

struct service {
	struct op_service op;          /* for op_ctx.service and spec_src.service */
	const char *dispatcher, *from; /* lent, as all that follows; NULL: only what at= names */
	const struct err *lacking;     /* why there is not an address: who asks for the service is
	                                  told; NULL: there is one */
	struct job_opts job;           /* options that a `dataset` or `distribute` cannot set itself */
	int64_t give_up_ns;            /* a durable dispatcher is waited for so long; 0: for ever */
	const struct blocked *blocked; /* see struct reader_host_conf */
	uint32_t passes;               /* out: of the job that were opened, from the first */
	/* Waits until fd is readable; ST_AGAIN: stop. May flush what was written.
	 * NULL: waits without doing anything else. */
	enum status (*wait)(void *arg, int fd, struct err *e);
	void *wait_arg;
};

void service_init(struct service *s, const char *dispatcher, const char *from);
/* Overrides `out` with the parameters of a `dataset` or `distribute`; spec, type and dataset are
 * set by the caller. */
void service_conf(const struct op_node *n, uint32_t pass, struct reader_host_conf *out);

#endif

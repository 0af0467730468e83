/* SPDX-License-Identifier: MIT
 *
 * Datasets of other services in the pipeline of a stream.
 */
#ifndef HOST_PRODUCE_SERVICE_H
#define HOST_PRODUCE_SERVICE_H

#include <stdatomic.h>

#include "host/service.h"

/* stop: of the stream, looked at while elements are waited for; lent. */
void produce_service_init(struct service *s, atomic_bool *stop);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Keys of the random numbers that an operator draws.
 */
#include "base/rng.h"
#include "op/chain.h"

uint64_t
op_rng_key(const struct op_inst *self, int64_t seed_param, bool with_epoch)
{
	return op_rng_key_of(self, seed_param, self->ctx->draws_as, with_epoch, self->epoch);
}

uint64_t
op_rng_key_of(const struct op_inst *self, int64_t seed_param, uint32_t stream, bool with_epoch,
	      uint32_t epoch)
{
	uint64_t key = seed_param == PARAM_AUTO ? self->ctx->seed
						: rng_mix((uint64_t)seed_param, 0x5eed);

	key = rng_mix(key, self->node->place);
	key = rng_mix(key, stream);
	if (with_epoch)
		key = rng_mix(key, epoch);
	return chain_of(self)->outer_key ? rng_mix(key, chain_of(self)->outer_key) : key;
}

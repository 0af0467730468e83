/* SPDX-License-Identifier: MIT
 *
 * What a piece of work costs, learnt as it goes: for those who ask whether handing
 * it to another thread pays (pool_worth_ns).
 */
#ifndef KIT_COST_H
#define KIT_COST_H

/* Lately counts for a quarter; once that a thread had no processor for a while does not
 * spoil it. 0: not known yet. */
static inline void
cost_learn(double *known, double ns)
{
	if (*known <= 0)
		*known = ns;
	else
		*known += ((ns < 2 * *known ? ns : 2 * *known) - *known) / 4;
}

#endif

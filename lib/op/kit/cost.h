/* SPDX-License-Identifier: MIT
 *
 * What a piece of work costs, learnt as it goes: for those who ask whether handing
 * it to another thread pays (pool_worth_ns).
 */
#ifndef KIT_COST_H
#define KIT_COST_H

/* Averages measured costs: the newest counts for a quarter, so that a thread having had no
 * processor once does not spoil the result. 0: not known yet. */
static inline void
cost_learn(double *known, double ns)
{
	if (*known <= 0)
		*known = ns;
	else
		*known += ((ns < 2 * *known ? ns : 2 * *known) - *known) / 4;
}

#endif

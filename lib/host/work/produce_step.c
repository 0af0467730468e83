/* SPDX-License-Identifier: MIT */
#include "host/work/produce_step.h"

void
produce_step_init(struct produce_step *s, bool careful)
{
	s->is = careful ? STEP_NEEDED : STEP_FREE;
	atomic_init(&s->ahead, false);
}

bool
produce_step_asks(struct produce_step *s)
{
	if (s->is != STEP_NEEDED)
		return false;
	s->is = STEP_ASKED;
	return true;
}

bool
produce_step_waits(const struct produce_step *s)
{
	return s->is == STEP_ASKED;
}

void
produce_step_taken(struct produce_step *s)
{
	if (s->is == STEP_GIVEN)
		s->is = STEP_NEEDED;
}

void
produce_step_answer(struct produce_step *s, bool free)
{
	if (s->is != STEP_FREE)
		s->is = free ? STEP_FREE : STEP_GIVEN;
}

/* SPDX-License-Identifier: MIT
 *
 * dsvc-feed's state machine with made-up cores: slow, lazy, some that ask to stop, fail, die
 * without a word, sleep, or answer late; and with data that comes in pieces, ends anywhere, or fails.
 * SEEDS worlds; each must end, and:
 *
 *	each row is in one place of one step        no slot is filled while somebody holds it
 *	all cores are told of the same steps        results come complete and in the order of steps
 *	each core is told once that it is over      who alone has failed, or sleeps, is the cause
 *	loops are the same for all, and cores that end with each are started again for the next
 *	asked to stop with other hosts, no core goes on before they have agreed, and all end there
 *
 * In some worlds cores sit behind pipes of little room, and nothing is seen of them but what they have read:
 *
 *	no step counts as done beyond doubt that the core may not have done; at a good end each does
 *	one that ends with steps unread has failed; one that dies is said to be at the step it read last
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "feed_sim.h"

static void
sim_new(struct sim *s, uint64_t seed)
{
	*s = (struct sim){ .r = { seed, 0 }, .seed = seed, .now = MS }; /* 0 is no time */
	uint32_t n = 1 + (uint32_t)rng_below(&s->r, CORES);
	uint32_t prefetch = 1 + (uint32_t)rng_below(&s->r, 4);

	s->c = (struct feed_conf){ .cores = n, .prefetch = prefetch, .slots = prefetch + 2 + (uint32_t)rng_below(&s->r, 3),
		.rows = n * (1 + rng_below(&s->r, 4)), .copy = !rng_below(&s->r, 5), .ours = rng_below(&s->r, 2),
		.tail = (enum feed_tail)rng_below(&s->r, 3), .results = (enum feed_results)rng_below(&s->r, 3),
		.from = rng_below(&s->r, 3) ? 0 : rng_below(&s->r, 20), .until = UINT64_MAX,
		.loop = rng_below(&s->r, 2) ? 0 : 1 + rng_below(&s->r, 5),
		.slow_ns = 20 * MS, .core_timeout_ns = 0, .grace_ns = 50 * MS };
	if (!rng_below(&s->r, 4)) { /* one of several hosts that cut each step */
		uint32_t hosts = 1 + (uint32_t)rng_below(&s->r, 3);

		s->c.parts = n * hosts;
		s->c.part = s->c.rank = n * (uint32_t)rng_below(&s->r, hosts);
		s->c.rows = s->c.parts * (1 + rng_below(&s->r, 3));
	}
	if (s->c.loop && !rng_below(&s->r, 3)) {
		s->c.loop = 0;
		s->c.loop_ns = (1 + (int64_t)rng_below(&s->r, 40)) * MS;
	}
	s->c.each_loop = s->c.ours && (s->c.loop || s->c.loop_ns) && rng_below(&s->r, 2);
	s->c.blind = s->c.ours && !s->c.results && rng_below(&s->r, 2);
	if (!rng_below(&s->r, 3))
		s->c.until = s->c.from + rng_below(&s->r, 12);
	s->epochs = 1 + (uint32_t)rng_below(&s->r, 3);
	for (uint32_t i = 0; i < s->epochs; i++)
		s->left[i] = rng_below(&s->r, 40);
	s->data_fails = !rng_below(&s->r, 12);
	s->c.core_timeout_ns = rng_below(&s->r, 3) ? 0 : 1000 * MS;
	s->hosts = s->seed % 3 == 0;
	for (uint32_t i = 0; i < n; i++) {
		s->core[i] = (struct sim_core){ .mood = rng_below(&s->r, 4) ? WELL : (enum mood)rng_below(&s->r, 6),
			.at = s->c.from + rng_below(&s->r, 10), .told = s->c.from, .done = s->c.from, .given = s->c.from,
			.answered = s->c.from, .laziness = 1 + (uint32_t)rng_below(&s->r, 8) };
		if (s->core[i].mood == SILENT_ANSWER && !s->c.results)
			s->core[i].mood = WELL;
		if (s->c.core_timeout_ns && !rng_below(&s->r, 4))
			s->core[i].mood = SLEEPS;
		s->core[i].pipe.counted = s->c.from;
		feed_sent_begin(&s->core[i].pipe.sent, s->c.from);
	}
	s->f = feed_new(&s->c, s->now);
}

/* Steps that count as done by the core. */
static uint64_t
sim_counted(const struct sim *s, const struct sim_core *k)
{
	return s->c.blind ? k->pipe.counted : k->done;
}

static void
sim_batch(struct sim *s, const struct feed_action *a)
{
	struct sim_core *k = &s->core[a->core];
	struct feed_batch again;

	if (k->ended || k->over)
		sim_bad(s, "a step after the end");
	if (a->step != k->told)
		sim_bad(s, "a step out of turn");
	if (s->holds && !s->agreed && a->step >= s->hold)
		sim_bad(s, "a step that other hosts may not have");
	if (k->told == k->done)
		k->busy = s->now + (int64_t)rng_below(&s->r, 10) * MS;
	if (k->told++ - sim_counted(s, k) >= s->c.prefetch)
		sim_bad(s, "told of more than prefetch");
	bool turn = a->batch.flags & FEED_LAST_OF_LOOP && !(a->batch.flags & FEED_LAST);
	if (turn && !s->c.loop && !s->c.loop_ns)
		sim_bad(s, "the end of a loop where there is none");
	if (s->c.loop && !(a->batch.flags & FEED_LAST) && turn != ((a->step + 1 - s->c.from) % s->c.loop == 0))
		sim_bad(s, "a loop of another length");
	if (turn)
		s->loop_end[a->step] = true;
	else if (s->loop_end[a->step] && !(a->batch.flags & FEED_LAST))
		sim_bad(s, "cores were told of different loops");
	uint64_t real = s->real[a->step];
	feed_part(s->f, real, a->core, &again);
	if (!s->c.copy && again.rows && again.first + again.rows > s->c.rows)
		sim_bad(s, "a part is outside its step");
	if (again.rows != a->batch.rows || again.valid != a->batch.valid || again.first != a->batch.first)
		sim_bad(s, "a part is not that of the step");
	if (s->c.blind && !k->over)
		sim_pipe_batch(s, a->core, a->step);
}

static void
sim_acts(struct sim *s)
{
	struct feed_action a;

	while (feed_action(s->f, &a)) {
		struct sim_core *k = a.core < CORES ? &s->core[a.core] : NULL;
		switch (a.kind) {
		case FEED_DO_BATCH: sim_batch(s, &a); break;
		case FEED_DO_RESULTS:
			if (a.step != s->c.from + s->results++)
				sim_bad(s, "results out of order");
			for (uint32_t i = 0; i < s->c.cores; i++)
				if (s->core[i].answered <= a.step)
					sim_bad(s, "results before they are there");
			break;
		case FEED_DO_DONE:
			if (a.step != feed_done(s->f) && a.step > feed_done(s->f))
				sim_bad(s, "done too much");
			if ((a.batch.flags & FEED_LAST_OF_LOOP) && s->c.loop && (a.step - s->c.from) % s->c.loop)
				sim_bad(s, "done with a loop that has not ended");
			s->loops += a.batch.flags & FEED_LAST_OF_LOOP;
			break;
		case FEED_DO_END:
			if (k->ended)
				sim_bad(s, "ended twice");
			k->ended = true;
			break;
		case FEED_DO_ERROR: k->errored = true; break;
		case FEED_DO_TERM: case FEED_DO_KILL:
			if (!k->over) {
				k->over = true;
				if (s->c.blind)
					sim_pipe_left(s, a.core, SIGKILL);
				feed_exited(s->f, s->now, a.core, a.kind == FEED_DO_KILL ? SIGKILL : SIGTERM);
			}
			break;
		case FEED_DO_START:
			if (!s->c.each_loop || !k->over || !k->ended || k->errored || a.step != k->told)
				sim_bad(s, "a core is started that has not ended its loop");
			k->joined = k->ended = k->over = false;
			k->given = k->told;
			if (s->c.blind)
				sim_pipe_again(k);
			break;
		case FEED_DO_OVER: s->over = true; break;
		case FEED_DO_SLOW: case FEED_DO_NONE: break;
		}
	}
}

static void
sim_data(struct sim *s)
{
	uint64_t room = feed_room(s->f), at;
	uint32_t slot;

	if (!room || !feed_joined(s->f) || s->epoch >= s->epochs || s->data_failed)
		return;
	if (s->data_fails && !rng_below(&s->r, 20)) {
		struct err e;
		err_set(&e, ST_DATA, "bad data");
		s->data_failed = true;
		feed_data_failed(s->f, s->now, &e);
		return;
	}
	slot = feed_slot(s->f, &at);
	for (uint32_t i = 0; i < s->c.cores; i++)
		for (uint64_t t = s->core[i].given; t < s->core[i].told; t++)
			if ((t - s->c.from) % s->c.slots == slot)
				sim_bad(s, "a slot is filled while it is held");
	uint64_t n = 1 + rng_below(&s->r, room), step = s->c.from;
	if (n > s->left[s->epoch])
		n = s->left[s->epoch];
	for (uint64_t i = s->c.from; i < STEPS && s->real[i] && s->real[i] != UINT64_MAX; i++)
		step = i + 1;
	if (n) {
		s->left[s->epoch] -= n;
		s->rows += n;
		if (n == room)
			s->real[step] = s->c.rows;
		feed_put(s->f, s->now, n);
		return;
	}
	if (at && s->c.tail != FEED_DROP)
		s->real[step] = at;
	if (at && s->c.tail == FEED_DROP)
		s->dropped += at;
	s->epoch++;
	if (rng_below(&s->r, 2)) /* all of it was there before it was over */
		feed_tail_end(s->f, s->now);
	feed_epoch_end(s->f, s->now, s->epoch == s->epochs);
}

static void
sim_leave(struct sim *s, uint32_t i, int status)
{
	struct sim_core *k = &s->core[i];

	k->over = true;
	if (s->c.blind)
		sim_pipe_left(s, i, status);
	else if (!s->c.ours || rng_below(&s->r, 2))
		feed_gone(s->f, s->now, i);
	if (s->c.ours)
		feed_exited(s->f, s->now, i, status);
}

static void
sim_stop(struct sim *s)
{
	s->stopped = true;
	if (!s->hosts) {
		feed_stop(s->f, s->now, FEED_END_STOP, "enough");
		return;
	}
	if (s->agreed)
		return;
	uint64_t hold = feed_hold(s->f, s->now);
	if (s->holds && hold != s->hold)
		sim_bad(s, "said again, it holds elsewhere");
	if (!s->holds)
		s->agree_ns = s->now + (int64_t)rng_below(&s->r, 60) * MS;
	s->holds = true;
	s->hold = hold;
}

/* The other hosts have answered; or all learn that the data ends. */
static void
sim_agree(struct sim *s)
{
	bool data_ends = s->epoch >= s->epochs;

	if (!s->holds || s->agreed || s->now < s->agree_ns || s->over)
		return;
	s->agreed = true;
	s->agreed_at = data_ends && rng_below(&s->r, 2) ? UINT64_MAX :
		s->hold + rng_below(&s->r, 4) * (s->c.loop ? s->c.loop : 1);
	feed_stop_at(s->f, s->now, s->agreed_at, FEED_END_STOP, "enough");
}

static bool
sim_asleep(const struct sim_core *k)
{
	return k->mood == SLEEPS && k->done >= k->at && k->told > k->done;
}

static bool
sim_mood(struct sim *s, uint32_t i)
{
	struct sim_core *k = &s->core[i];
	struct err e;

	if (k->mood == WELL || k->mood == SLEEPS || k->done < k->at || k->told == k->done)
		return false;
	enum mood m = k->mood;
	k->mood = m == SILENT_ANSWER ? m : WELL;
	switch (m) {
	case STOPS: sim_stop(s); return true;
	case FAILS:
		err_set(&e, ST_DATA, "I fail");
		if (!s->c.blind)
			feed_core_failed(s->f, s->now, i, FEED_SAID, &e);
		sim_leave(s, i, 1 << 8);
		break;
	case DIES: sim_leave(s, i, SIGKILL); break;
	case QUITS: sim_leave(s, i, 0); break;
	default: return false;
	}
	k->mood = m; /* for the judgement at the end */
	return true;
}

static void
sim_ready(struct sim *s, uint32_t i)
{
	struct sim_core *k = &s->core[i];
	struct feed_ready m = { k->given, k->done, UINT64_MAX };
	struct err e;
	enum status st = feed_ready(s->f, s->now, i, &m, &e);

	if (st == ST_OK)
		return;
	if (k->mood != SILENT_ANSWER)
		sim_bad(s, e.text);
	feed_core_failed(s->f, s->now, i, FEED_SAID, &e);
}

/* A core behind a pipe reads on in its step, or does it; or the host looks after the pipe. */
static void
sim_pipe_acts(struct sim *s, uint32_t i)
{
	struct sim_core *k = &s->core[i];
	struct sim_pipe *p = &k->pipe;

	switch (rng_below(&s->r, 4)) {
	case 0: sim_pipe_look(s, i); return;
	case 1: sim_pipe_write(s, i); return;
	default: break;
	}
	if (sim_asleep(k))
		return;
	if (k->errored || (k->ended && k->done == k->told)) {
		sim_leave(s, i, 0);
	} else if (k->done == k->told || sim_mood(s, i)) {
		return;
	} else if (p->took == p->end[k->done]) {
		k->done += k->busy <= s->now;
	} else if (p->took < p->wrote) {
		uint64_t end = p->end[k->done] < p->wrote ? p->end[k->done] : p->wrote;

		p->took += 1 + rng_below(&s->r, end - p->took);
		k->busy = s->now + (int64_t)rng_below(&s->r, 10) * MS;
	}
}

/* A core does one thing. */
static void
sim_core_acts(struct sim *s, uint32_t i)
{
	struct sim_core *k = &s->core[i];
	struct err e;

	if (k->over || (!s->c.blind && sim_asleep(k)))
		return;
	if (!k->joined) {
		k->joined = true;
		feed_join(s->f, s->now, i, 0);
		sim_ready(s, i);
	} else if (s->c.blind) {
		sim_pipe_acts(s, i);
	} else if (k->errored || (k->ended && k->done == k->told)) {
		feed_bye(s->f, s->now, i, k->done);
		k->given = k->told;
		sim_leave(s, i, 0);
	} else if (!sim_mood(s, i) && k->told > k->done && k->busy <= s->now && !k->over) {
		if (s->c.results && k->mood != SILENT_ANSWER && feed_result(s->f, s->now, i, k->answered++, &e))
			sim_bad(s, e.text);
		k->done++;
		k->busy = s->now + (int64_t)rng_below(&s->r, 10) * MS;
		if (!rng_below(&s->r, k->laziness) || k->done == k->told) {
			k->given = k->done - (k->done > s->c.from && rng_below(&s->r, 2));
			sim_ready(s, i);
		}
	} else if (k->told == k->done && k->given < k->done) {
		k->given = k->done;
		sim_ready(s, i);
	}
}

/* Whether the core has left in a way that is a fault; what one that is started anew for each loop has not read is its
 * own affair. */
static bool
sim_ill(const struct sim *s, const struct sim_core *k)
{
	return k->over && k->mood >= FAILS && k->mood <= (s->c.blind && s->c.each_loop ? DIES : QUITS) &&
	       k->done >= k->at && k->told > k->done;
}

static void
sim_judge(struct sim *s)
{
	const struct feed_fault *cause = feed_cause(s->f), *v;
	uint32_t ill = 0, asleep = 0, others = 0, who = 0;
	uint64_t sum = 0;
	struct feed_end end;

	feed_end(s->f, &end);
	if (s->c.blind)
		sim_pipe_judge(s, cause, end.step);
	for (uint32_t i = 0; i < s->c.cores; i++)
		if (sim_ill(s, &s->core[i]))
			ill++, who = i;
	for (uint32_t i = 0; i < s->c.cores; i++)
		if (sim_asleep(&s->core[i]))
			asleep++, who = ill ? who : i;
	for (uint32_t i = 0; i < s->c.cores; i++)
		others += s->core[i].mood >= FAILS && s->core[i].mood != SLEEPS;
	if (asleep && !cause)
		sim_bad(s, "it ended though a core sleeps");
	if (cause && cause->class == FEED_IDLE && s->core[cause->core].mood != SLEEPS)
		sim_bad(s, "a core was given up on that was at work");
	if (cause && asleep == 1 && !others && !s->data_failed && cause->core != who)
		sim_bad(s, "the cause is another core than the one that sleeps");
	if (cause) {
		if (!s->data_failed && ill == 1 && feed_faults(s->f, &v) == 1 && cause->core != who)
			sim_bad(s, "the cause is another core");
		if (!s->data_failed && !ill && !asleep && cause->class != FEED_SAID && cause->class != FEED_SILENT)
			sim_bad(s, "a cause without a reason");
		return;
	}
	if (s->data_failed && !s->stopped && s->c.until == UINT64_MAX)
		sim_bad(s, "bad data and no cause");
	for (uint32_t i = 0; i < s->c.cores; i++) {
		if (!s->core[i].ended && s->c.cores > 1)
			sim_bad(s, "a core was not told of the end");
		if (s->core[i].told != end.step)
			sim_bad(s, "cores were told of different steps");
	}
	for (uint64_t i = s->c.from; i < end.step; i++)
		sum += s->real[i];
	if (end.why == FEED_END_DATA && sum + s->dropped != s->rows)
		sim_bad(s, "a row is in no step");
	if (s->c.loop && s->loops != (end.step - s->c.from) / s->c.loop)
		sim_bad(s, "not all loops are done");
	if (s->c.results && s->results != end.step - s->c.from)
		sim_bad(s, "results are missing");
	if (feed_done(s->f) != end.step)
		sim_bad(s, "not all steps are done");
	if (s->holds && !s->agreed && end.step > s->hold)
		sim_bad(s, "it ended before the others had agreed");
	if (s->agreed && (end.step > s->agreed_at || (end.why == FEED_END_STOP && end.step != s->agreed_at)))
		sim_bad(s, "not the end that was agreed on");
	if (s->c.until != UINT64_MAX && end.step > s->c.until)
		sim_bad(s, "beyond the last step");
}

static bool
sim_run(uint64_t seed)
{
	struct sim *s = mem_zalloc(sizeof *s);

	sim_new(s, seed);
	for (int64_t turn = 0; turn < 200000 && !s->over && !s->bad[0]; turn++) {
		uint64_t who = rng_below(&s->r, s->c.cores + 2);

		if (who < s->c.cores)
			sim_core_acts(s, (uint32_t)who);
		else if (who == s->c.cores)
			sim_data(s);
		else
			s->now += MS;
		sim_agree(s);
		sim_acts(s);
		if (feed_deadline(s->f) <= s->now)
			feed_tick(s->f, s->now);
		sim_acts(s);
	}
	if (!s->over)
		sim_bad(s, "it does not end");
	if (!s->bad[0])
		sim_judge(s);
	if (s->bad[0])
		printf("# seed %llu: %s\n", (unsigned long long)seed, s->bad);
	bool good = !s->bad[0];
	for (uint32_t i = 0; i < CORES; i++)
		feed_sent_clear(&s->core[i].pipe.sent);
	feed_free(&s->f);
	mem_free(s);
	return good;
}

int
main(void)
{
	const char *env = getenv("SEEDS"), *one = getenv("SEED");
	uint64_t n = env ? strtoull(env, NULL, 10) : 2000, bad = 0;

	if (one)
		return !sim_run(strtoull(one, NULL, 10));
	for (uint64_t seed = 1; seed <= n && bad < 10; seed++)
		bad += !sim_run(seed);
	printf("1..1\n%s 1 - %llu worlds of cores fed in step\n", bad ? "not ok" : "ok", (unsigned long long)n);
	return bad != 0;
}

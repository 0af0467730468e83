/* SPDX-License-Identifier: MIT
 *
 * Invitations, used and used again: by the guest that they were for and by others, with words
 * that are wrong, after a crash of the dispatcher, while keys are struck out. A key may what the
 * invitations that it used say, and each of these counts as often as it was to.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "host/admission.h"
#include "trust/allowed.h"
#include "trust/invitation.h"

enum { KEYS = 5, INVITATIONS = 12, STEPS = 40 };

struct guest { struct key key; char text[KEY_TEXT + 1]; unsigned may; };
struct promise { struct invitation is; unsigned uses; };
static struct {
	struct rng r;
	char folder[256], state[300], allowed[320];
	struct admission *a;
	struct guest keys[KEYS];
	struct promise v[INVITATIONS];
	size_t n;
	int64_t late_ns;
	bool failed;
} s;

static void
fail(uint64_t seed, const char *why)
{
	if (!s.failed)
		printf("# seed %llu: %s\n", (unsigned long long)seed, why);
	s.failed = true;
}

static void
reopen(uint64_t seed)
{
	struct err e;

	admission_free(&s.a);
	if (admission_open(NULL, s.state, &s.a, &e) != ST_OK)
		fail(seed, e.text);
	else
		admission_bound(s.a, "tcp://127.0.0.1:5050");
}

static void
look(void)
{
	s.late_ns += 2 * ADMISSION_LOOK_MS * 1000000LL; /* so much time is taken to have passed */
	admission_look(s.a, clock_mono_ns() + s.late_ns);
}

static void
invite(uint64_t seed)
{
	static char roles[4][9] = { "read", "register", "work", "admin" };
	struct disp_who who = { .may = MAY_ANY };
	struct promise *p = &s.v[s.n];
	struct msg answer, m = { .type = MSG_INVITE, .req = 1, .invite = { .roles = roles[rng_below(&s.r, 4)], .lasts_s = 3600,
		.uses = 1 + (uint32_t)rng_below(&s.r, 3) } };
	struct err e;
	bool cut;

	if (s.n == INVITATIONS)
		return;
	if (!admission_message(s.a, NULL, NULL, &who, &m, &answer, &cut) || answer.type != MSG_INVITED ||
	    invitation_parse(answer.invited.line, strlen(answer.invited.line), &p->is, &e) != ST_OK) {
		fail(seed, "no invitation");
	} else {
		roles_parse(m.invite.roles, strlen(m.invite.roles), &p->is.may);
		p->uses = m.invite.uses;
		s.n++;
	}
	msg_clear(&answer);
}

static bool
any_open(void)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.v[i].uses)
			return true;
	return false;
}

/* A guest says an invitation, perhaps one that is used up, or with the secret of another. */
static void
join(uint64_t seed)
{
	struct guest *g = &s.keys[rng_below(&s.r, KEYS)];
	struct promise *p = &s.v[rng_below(&s.r, s.n)], *of = rng_below(&s.r, 4) ? p : &s.v[rng_below(&s.r, s.n)];
	const char *user = admission_door(s.a, &g->key, "127.0.0.1");
	bool good = p->uses && p == of, cut;
	char said[200];
	struct msg answer, m = { .type = MSG_JOIN, .req = 1, .join = { .id = p->is.id, .secret = of->is.secret } };

	if (!user != (!g->may && !any_open()))
		fail(seed, "the door is open or closed to the wrong key");
	if (!user)
		return;
	snprintf(said, sizeof said, "%s", user);
	struct disp_who who = admission_who(s.a, said);
	if (who.may != (g->may ? g->may : MAY_GUEST))
		fail(seed, "a guest is taken for somebody");
	if (!admission_message(s.a, said, "127.0.0.1", &who, &m, &answer, &cut))
		fail(seed, "JOIN is nobody's matter");
	else if (good != (!cut && answer.type == MSG_JOINED))
		fail(seed, good ? "a good invitation is refused" : "an invitation that is used or wrong is taken");
	if (good) {
		p->uses--;
		g->may |= p->is.may;
	}
	msg_clear(&answer);
}

static void
strike(uint64_t seed)
{
	struct guest *g = &s.keys[rng_below(&s.r, KEYS)];
	struct err e;
	size_t n;

	if (allowed_strike(s.allowed, g->text, &n, &e) != ST_OK || n != (g->may != 0))
		fail(seed, "a key is not struck out");
	g->may = 0;
	look();
}

static void
check(uint64_t seed)
{
	for (size_t i = 0; i < KEYS; i++)
		if (admission_may(s.a, s.keys[i].text) != s.keys[i].may)
			fail(seed, "a key may something else than it was invited for");
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static void
run(uint64_t seed)
{
	s.r = (struct rng){ seed, 0 };
	s.n = 0;
	snprintf(s.state, sizeof s.state, "%s/state", s.folder);
	snprintf(s.allowed, sizeof s.allowed, "%s/allowed", s.state);
	mkdir(s.state, 0700);
	for (size_t i = 0; i < KEYS; i++) {
		for (size_t k = 0; k < KEY_BYTES; k++)
			s.keys[i].key.b[k] = (uint8_t)rng_next(&s.r);
		key_print(&s.keys[i].key, s.keys[i].text);
		s.keys[i].may = 0;
	}
	reopen(seed);
	invite(seed);
	for (int i = 0; i < STEPS && !s.failed; i++) {
		switch (rng_below(&s.r, 8)) {
		case 0: invite(seed); break;
		case 1: strike(seed); break;
		case 2: reopen(seed); break;
		default: join(seed); break;
		}
		check(seed);
	}
	admission_free(&s.a);
	nftw(s.state, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int
main(void)
{
	const char *env = getenv("SEEDS"), *tmp = getenv("TMPDIR");
	uint64_t n = (env ? strtoull(env, NULL, 10) : 500) / 50 + 1; /* each step writes files */

	snprintf(s.folder, sizeof s.folder, "%.200s/dsvc-join-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(s.folder))
		return 1;
	setenv("XDG_CONFIG_HOME", s.folder, 1);
	for (uint64_t seed = 1; seed <= n && !s.failed; seed++)
		run(seed);
	nftw(s.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	printf("1..1\n%s 1 - %llu times invited and joined\n", s.failed ? "not ok" : "ok", (unsigned long long)n);
	return s.failed;
}

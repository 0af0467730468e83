/* SPDX-License-Identifier: MIT */
#include "base/mapped.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAPPED_MOST = 64 }; /* pieces at the same time; for more there is read() */

/* The list that the signal handler searches. A place is free while len is 0. */
static struct mapped_place {
	atomic_uintptr_t data;
	atomic_size_t len;
	atomic_bool taken, broken;
} mapped_places[MAPPED_MOST];

static pthread_mutex_t mapped_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction mapped_before;
static size_t mapped_page;
static _Thread_local bool mapped_heard;

static bool
mapped_mend(uintptr_t at)
{
	for (size_t i = 0; i < MAPPED_MOST; i++) {
		struct mapped_place *m = &mapped_places[i];
		size_t len = atomic_load(&m->len);
		uintptr_t data = atomic_load(&m->data);

		if (at - data >= len)
			continue;
		atomic_store(&m->broken, true);
		at &= ~(uintptr_t)(mapped_page - 1);
		return mmap((void *)at, mapped_page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
			!= MAP_FAILED;
	}
	return false;
}

static void
mapped_fault(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (info->si_code != BUS_ADRERR || !mapped_mend((uintptr_t)info->si_addr)) {
		/* Not one of ours: whoever had the signal before gets it, at once or when the fault happens again. */
		sigaction(sig, &mapped_before, NULL);
		if (info->si_code <= 0)
			raise(sig);
	}
	errno = saved;
}

/* Handles the signal from now on, also if somebody took it in the meantime. */
static void
mapped_listen(void)
{
	struct sigaction a = { .sa_sigaction = mapped_fault, .sa_flags = SA_SIGINFO }, now;

	pthread_mutex_lock(&mapped_lock);
	if (sigaction(SIGBUS, NULL, &now) == 0 && now.sa_sigaction != mapped_fault) {
		sigemptyset(&a.sa_mask);
		mapped_page = (size_t)sysconf(_SC_PAGESIZE);
		mapped_before = now;
		sigaction(SIGBUS, &a, NULL);
	}
	pthread_mutex_unlock(&mapped_lock);
}

void
mapped_use(void)
{
	sigset_t bus;

	/* Threads may be started with all signals blocked, and a fault that is blocked ends the process. */
	if (mapped_heard)
		return;
	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	mapped_heard = pthread_sigmask(SIG_UNBLOCK, &bus, NULL) == 0;
}

bool
mapped_open(struct mapped *m, int fd, uint64_t offset, size_t len)
{
	size_t i = 0;

	mapped_listen();
	mapped_use();
	while (i < MAPPED_MOST && atomic_exchange(&mapped_places[i].taken, true))
		i++;
	if (i == MAPPED_MOST)
		return false;
	void *p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)offset);
	if (p == MAP_FAILED) {
		atomic_store(&mapped_places[i].taken, false);
		return false;
	}
	(void)madvise(p, len, MADV_SEQUENTIAL);
	atomic_store(&mapped_places[i].broken, false);
	atomic_store(&mapped_places[i].data, (uintptr_t)p);
	atomic_store(&mapped_places[i].len, len);
	*m = (struct mapped){ p, offset, len, i };
	return true;
}

bool
mapped_broken(const struct mapped *m)
{
	return atomic_load(&mapped_places[m->place].broken);
}

void
mapped_close(struct mapped *m)
{
	if (!m->data)
		return;
	atomic_store(&mapped_places[m->place].len, 0);
	munmap((void *)(uintptr_t)m->data, m->len);
	atomic_store(&mapped_places[m->place].taken, false);
	*m = (struct mapped){ 0 };
}

/* SPDX-License-Identifier: MIT
 *
 * Ends the children's groups when this process is killed. The kernel ends each
 * child with us (exec_spawn.c), but not what the child has started, and no code
 * of ours runs when we are killed. So a small process stands by:
 *
 *	we      add and remove groups in a table that both map; a child costs no call
 *	guard   waits for the end of a pipe that only we hold, then kills what is in
 *	        the table
 *
 * It is forked at the first child and runs no program, so it makes only calls that
 * are safe after a fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "op/exec/exec_child.h"

enum { GUARD_GROUPS = 4096 };

struct guard_table {
	atomic_uint top;              /* number of places that have ever been used */
	_Atomic pid_t v[GUARD_GROUPS]; /* process groups to kill; 0: free */
};

static struct guard_table *guard_table; /* memory shared with the guard; NULL: there is no guard */
static atomic_uint guard_hint;
static pthread_once_t guard_once = PTHREAD_ONCE_INIT;

static _Noreturn void
guard_main(int fd)
{
	char c;
	ssize_t n;

	setpgid(0, 0); /* signals that a terminal sends to our group must not reach the guard */
	prctl(PR_SET_NAME, "dsvc-guard", 0, 0, 0);
	dup2(fd, 0);
	syscall(SYS_close_range, 1U, ~0U, 0U);
	do
		n = read(0, &c, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
	unsigned top = atomic_load_explicit(&guard_table->top, memory_order_acquire);
	for (unsigned i = 0; i < top && i < GUARD_GROUPS; i++) {
		pid_t group = atomic_load_explicit(&guard_table->v[i], memory_order_relaxed);
		if (group > 1)
			kill(-group, SIGKILL);
	}
	_exit(0);
}

static void
guard_start(void)
{
	struct guard_table *t;
	sigset_t all, before;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return;
	t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED) {
		close(ends[0]);
		close(ends[1]);
		return;
	}
	guard_table = t;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid)
		guard_main(ends[0]); /* runs with all signals blocked */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(ends[0]); /* the guard's end of the pipe; ours closes when we end */
	if (pid < 0)
		guard_table = NULL;
}

void
child_guard(struct child *c)
{
	unsigned at = atomic_fetch_add_explicit(&guard_hint, 1, memory_order_relaxed);

	pthread_once(&guard_once, guard_start);
	c->guard = -1;
	for (unsigned i = 0; guard_table && i < GUARD_GROUPS; i++) {
		unsigned k = (at + i) % GUARD_GROUPS;
		pid_t none = 0;

		if (!atomic_compare_exchange_strong_explicit(&guard_table->v[k], &none, c->pid,
							     memory_order_release,
							     memory_order_relaxed))
			continue;
		c->guard = (int)k;
		unsigned top = atomic_load_explicit(&guard_table->top, memory_order_relaxed);
		while (top < k + 1 && !atomic_compare_exchange_weak(&guard_table->top, &top, k + 1))
			;
		return;
	}
}

void
child_unguard(struct child *c)
{
	if (c->guard >= 0)
		atomic_store_explicit(&guard_table->v[c->guard], 0, memory_order_relaxed);
	c->guard = -1;
}

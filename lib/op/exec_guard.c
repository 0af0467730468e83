/* SPDX-License-Identifier: MIT
 *
 * What ends the children's groups when this process is killed. The kernel ends
 * each child with us (exec_spawn.c), but not what the child has started, and no
 * code of ours runs when we are killed. So a process stands by that shares our
 * memory, and with it the table of groups: it waits for the end of a pipe that
 * only we hold, which costs a child nothing but a place in the table.
 *
 * It makes system calls only: the C library's state is that of our thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "op/exec_child.h"

#ifdef __clang__
#define GUARD_PLAIN __attribute__((no_sanitize("address", "thread", "undefined", "memory")))
#else
#define GUARD_PLAIN __attribute__((no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif

/* The thread sanitizer takes the guard for a fork, after which it starts no threads. */
#if defined(__SANITIZE_THREAD__)
#define GUARD_NONE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GUARD_NONE 1
#endif
#endif

enum { GUARD_GROUPS = 4096, GUARD_STACK = 64 * 1024 };

static _Atomic pid_t guard_groups[GUARD_GROUPS];
static atomic_uint guard_hint, guard_top;
static pthread_once_t guard_once = PTHREAD_ONCE_INIT;
static int guard_pipe[2] = { -1, -1 };

/* Nothing here may fail before we are gone: failing would write our thread's errno. */
static GUARD_PLAIN int
guard_main(void *arg)
{
	int fd = *(int *)arg;
	char c;

	syscall(SYS_setpgid, 0, 0);
	syscall(SYS_prctl, PR_SET_NAME, "dsvc-guard", 0, 0, 0);
	if (fd > 0)
		syscall(SYS_close_range, 0U, (unsigned)fd - 1, 0U);
	syscall(SYS_close_range, (unsigned)fd + 1, ~0U, 0U);
	while (syscall(SYS_read, fd, &c, 1) > 0)
		;
	unsigned n = atomic_load_explicit(&guard_top, memory_order_acquire);
	for (unsigned i = 0; i < n && i < GUARD_GROUPS; i++) {
		pid_t group = atomic_load_explicit(&guard_groups[i], memory_order_relaxed);
		if (group > 1)
			syscall(SYS_kill, -group, SIGKILL);
	}
	syscall(SYS_exit_group, 0);
	return 0;
}

static void
guard_start(void)
{
	sigset_t all, before;
	char *stack;

#ifdef GUARD_NONE
	return;
#endif
	if (pipe2(guard_pipe, O_CLOEXEC))
		return;
	stack = mmap(NULL, GUARD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
		     -1, 0);
	if (stack == MAP_FAILED)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/* No signal at its end: nobody waits for it. */
	clone(guard_main, stack + GUARD_STACK, CLONE_VM | CLONE_UNTRACED, &guard_pipe[0]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(guard_pipe[0]);
}

void
child_guard(struct child *c)
{
	unsigned at = atomic_fetch_add_explicit(&guard_hint, 1, memory_order_relaxed);

	pthread_once(&guard_once, guard_start);
	c->guard = -1;
	for (unsigned i = 0; i < GUARD_GROUPS; i++) {
		unsigned k = (at + i) % GUARD_GROUPS;
		pid_t none = 0;

		if (!atomic_compare_exchange_strong_explicit(&guard_groups[k], &none, c->pid,
							     memory_order_release,
							     memory_order_relaxed))
			continue;
		c->guard = (int)k;
		unsigned top = atomic_load_explicit(&guard_top, memory_order_relaxed);
		while (top < k + 1 && !atomic_compare_exchange_weak(&guard_top, &top, k + 1))
			;
		return;
	}
}

void
child_unguard(struct child *c)
{
	if (c->guard >= 0)
		atomic_store_explicit(&guard_groups[c->guard], 0, memory_order_relaxed);
	c->guard = -1;
}

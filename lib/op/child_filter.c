/* SPDX-License-Identifier: MIT */
#include "op/child_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define FILTER_ARCH AUDIT_ARCH_RISCV64
#endif

#ifdef FILTER_ARCH

/* The low half of an argument; a kernel that these run on is little-endian. */
#define FILTER_ARG(k) (offsetof(struct seccomp_data, args) + 8 * (k))
#define FILTER_LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(at))
#define FILTER_GIVE(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define FILTER_FAIL(error) FILTER_GIVE(SECCOMP_RET_ERRNO | (error))
/* Fails the call of that number; the accumulator has the number of the call. */
#define FILTER_DENY(number, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), FILTER_FAIL(error)
/* Fails the call of that number if its k-th argument has a bit of `bits`. */
#define FILTER_DENY_BITS(number, k, bits) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4), FILTER_LOAD(FILTER_ARG(k)), \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), FILTER_FAIL(EPERM), FILTER_GIVE(SECCOMP_RET_ALLOW)

static struct sock_filter filter[] = {
	/* Calls of another machine's numbering (32-bit programs) would go past the list. */
	FILTER_LOAD(offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0),
	FILTER_GIVE(SECCOMP_RET_KILL_PROCESS),
	FILTER_LOAD(offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), /* x32 */
	FILTER_FAIL(ENOSYS),
#endif
	FILTER_DENY(SYS_ptrace, EPERM),
	FILTER_DENY(SYS_process_vm_readv, EPERM),
	FILTER_DENY(SYS_process_vm_writev, EPERM),
	FILTER_DENY(SYS_pidfd_getfd, EPERM),
	FILTER_DENY(SYS_mount, EPERM),
	FILTER_DENY(SYS_umount2, EPERM),
	FILTER_DENY(SYS_pivot_root, EPERM),
	FILTER_DENY(SYS_move_mount, EPERM),
	FILTER_DENY(SYS_open_tree, EPERM),
	FILTER_DENY(SYS_fsopen, EPERM),
	FILTER_DENY(SYS_fsmount, EPERM),
	FILTER_DENY(SYS_fspick, EPERM),
	FILTER_DENY(SYS_bpf, EPERM),
	FILTER_DENY(SYS_keyctl, EPERM),
	FILTER_DENY(SYS_add_key, EPERM),
	FILTER_DENY(SYS_request_key, EPERM),
	FILTER_DENY(SYS_perf_event_open, EPERM),
	FILTER_DENY(SYS_userfaultfd, EPERM),
	FILTER_DENY(SYS_io_uring_setup, EPERM),
	FILTER_DENY(SYS_kexec_load, EPERM),
	FILTER_DENY(SYS_kexec_file_load, EPERM),
	FILTER_DENY(SYS_init_module, EPERM),
	FILTER_DENY(SYS_finit_module, EPERM),
	FILTER_DENY(SYS_delete_module, EPERM),
	FILTER_DENY(SYS_reboot, EPERM),
	FILTER_DENY(SYS_swapon, EPERM),
	FILTER_DENY(SYS_setns, EPERM),
	/* Its flags lie in memory, where a filter cannot look; without it clone is used. */
	FILTER_DENY(SYS_clone3, ENOSYS),
	FILTER_DENY_BITS(SYS_clone, 0, CLONE_NEWUSER),
	FILTER_DENY_BITS(SYS_unshare, 0, CLONE_NEWUSER),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
	FILTER_LOAD(FILTER_ARG(1)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 0, 1),
	FILTER_FAIL(EPERM),
	FILTER_GIVE(SECCOMP_RET_ALLOW),
};

static struct sock_fprog filter_program = { .len = sizeof filter / sizeof *filter, .filter = filter };

#endif

int
child_filter(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
#ifdef FILTER_ARCH
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter_program) && errno != EINVAL && errno != ENOSYS)
		return errno;
#endif
	return 0;
}

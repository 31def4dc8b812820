/* A file layer that fails: runs a program, counts what it does to files, and strikes it there.
 *
 *     strike COUNT AT HOW PROGRAM ARGUMENT...
 *
 * The calls of all threads of the program that change files are counted: writes, cuts and syncs of regular files, files
 * and folders made, renamed, linked, removed, their modes. At the end their number goes to the file COUNT. The call
 * number AT (0: none) is struck:
 *
 *     half      the program is killed in the middle of it: half of a write is done, of anything else nothing
 *     done      the program is killed as soon as it is done
 *     full      there is no room, from this call on
 *     readonly  nothing may be made, opened for writing, renamed or removed, from this call on
 *
 * It ends as the program does. The kernel is asked to stop the program at its calls (ptrace), so that calls which
 * never pass through the C library are seen too. Built and used by the torture suite; nothing of it is in ioxide. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the registers of this machine are not known here"
#endif

#define MAX_THREADS 512
#define NOTHING 0
#define ROOM 1   /* needs room on the disk */
#define CHANGE 2 /* changes a folder or opens for writing */

static pid_t program;
static long calls = 0, at = 0;
static const char *how = "";

/* What a thread that is inside a call will find at its end. */
static struct thread { pid_t id; int inside, is_struck, error; } threads[MAX_THREADS];

static struct thread *thread(pid_t id) {
    struct thread *free_place = NULL;
    for (int i = 0; i < MAX_THREADS; i++) {
        if (threads[i].id == id) return &threads[i];
        if (threads[i].id == 0 && free_place == NULL) free_place = &threads[i];
    }
    if (free_place == NULL) { fprintf(stderr, "strike: too many threads\n"); exit(125); }
    memset(free_place, 0, sizeof *free_place);
    free_place->id = id;
    return free_place;
}

static int is_file(pid_t id, long fd) {
    char path[64];
    struct stat told;
    snprintf(path, sizeof path, "/proc/%d/fd/%ld", id, fd);
    return fd > 2 && stat(path, &told) == 0 && S_ISREG(told.st_mode);
}

/* Whether the path, in the memory of the program, is of a device or of the kernel: those are never full. */
static int is_device(pid_t id, unsigned long address) {
    char path[16] = "";
    struct iovec here = { path, sizeof path - 1 }, there = { (void *)address, sizeof path - 1 };
    if (process_vm_readv(id, &here, 1, &there, 1, 0) <= 0) return 0;
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

static int opens(pid_t id, unsigned long path, unsigned long flags) {
    if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC))) return NOTHING;
    if (is_device(id, path)) return NOTHING;
    return flags & O_CREAT ? ROOM | CHANGE : CHANGE;
}

/* What a call does to files. */
static int effect(pid_t id, const struct user_regs_struct *r) {
    switch (r->orig_rax) {
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: case SYS_pwritev2:
    case SYS_fsync: case SYS_fdatasync: case SYS_ftruncate: case SYS_fallocate: case SYS_copy_file_range:
    case SYS_sendfile:
        return is_file(id, r->orig_rax == SYS_copy_file_range ? r->rdx : r->rdi) ? ROOM : NOTHING;
    case SYS_open: return opens(id, r->rdi, r->rsi);
    case SYS_openat: return opens(id, r->rsi, r->rdx);
    case SYS_creat: case SYS_mkdir: case SYS_mkdirat: case SYS_rename: case SYS_renameat: case SYS_renameat2:
    case SYS_link: case SYS_linkat: case SYS_symlink: case SYS_symlinkat: case SYS_truncate:
        return ROOM | CHANGE;
    case SYS_unlink: case SYS_unlinkat: case SYS_rmdir: case SYS_chmod: case SYS_fchmodat:
        return CHANGE;
    case SYS_fchmod: return is_file(id, r->rdi) ? CHANGE : NOTHING;
    default: return NOTHING;
    }
}

static void die(void) {
    kill(program, SIGKILL);
}

/* Replaces the call by one that does not exist; what it answers is set at its end. */
static void refuse(struct thread *t, struct user_regs_struct *r, int error) {
    t->error = error;
    r->orig_rax = -1;
    ptrace(PTRACE_SETREGS, t->id, 0, r);
}

static void enters(struct thread *t) {
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, t->id, 0, &r) != 0) return;
    int what = effect(t->id, &r);
    if (what == NOTHING) return;
    calls += 1;
    if (at == 0 || calls < at) return;
    int is_write = r.orig_rax == SYS_write || r.orig_rax == SYS_pwrite64;
    if (strcmp(how, "full") == 0 && what & ROOM) refuse(t, &r, ENOSPC);
    if (strcmp(how, "readonly") == 0 && what & CHANGE) refuse(t, &r, EROFS);
    if (strcmp(how, "done") == 0) t->is_struck = 1;
    if (strcmp(how, "half") == 0 && is_write && r.rdx > 1) {
        r.rdx /= 2;
        ptrace(PTRACE_SETREGS, t->id, 0, &r);
        t->is_struck = 1;
    } else if (strcmp(how, "half") == 0) {
        refuse(t, &r, EIO);
        die();
    }
}

static void leaves(struct thread *t) {
    struct user_regs_struct r;
    if (t->is_struck) die();
    if (t->error != 0 && ptrace(PTRACE_GETREGS, t->id, 0, &r) == 0) {
        r.rax = -t->error;
        ptrace(PTRACE_SETREGS, t->id, 0, &r);
    }
    t->is_struck = t->error = 0;
}

/* Follows the program to its end; how it ended. */
static int follow(void) {
    int status;
    pid_t id;
    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (id == program) return status;
            thread(id)->id = 0;
            continue;
        }
        struct thread *t = thread(id);
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            t->inside = !t->inside;
            if (t->inside) enters(t); else leaves(t);
            signal = 0;
        } else if (status >> 16 != 0 || signal == SIGTRAP || signal == SIGSTOP) {
            signal = 0; /* a thread began, or the program */
        }
        ptrace(PTRACE_SYSCALL, id, 0, signal);
    }
    return 0;
}

int main(int n, char **arguments) {
    if (n < 5) return 125;
    at = atol(arguments[2]);
    how = arguments[3];
    program = fork();
    if (program == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(arguments[4], arguments + 4);
        _exit(127);
    }
    int status;
    if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) return 125;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, program, 0, options) != 0) return 125;
    ptrace(PTRACE_SYSCALL, program, 0, 0);
    status = follow();
    FILE *told = fopen(arguments[1], "w");
    if (told != NULL) { fprintf(told, "%ld", calls); fclose(told); }
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    raise(WTERMSIG(status));
    return 125;
}

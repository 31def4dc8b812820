/* A file layer that fails: the writes to files of a program are counted, and from the one that TORTURE_AT names on
 * the program dies in the middle of it (TORTURE_HOW=die) or the disk is full (TORTURE_HOW=full). At the end the number
 * of writes goes to the file TORTURE_COUNT. Loaded with LD_PRELOAD by the torture suite; nothing of it is in ioxide. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static long calls = 0;

/* Whether this is a file on disk: pipes and terminals are never full. */
static int is_file(int fd) {
    struct stat told;
    return fd > 2 && fstat(fd, &told) == 0 && S_ISREG(told.st_mode);
}

/* 0: go on; 1: fail; the program does not come back from its death. */
static int strikes(int fd, const void *bytes, size_t length) {
    const char *at = getenv("TORTURE_AT"), *how = getenv("TORTURE_HOW");
    long now = __sync_add_and_fetch(&calls, 1);
    if (at == NULL || how == NULL || now < atol(at)) return 0;
    if (strcmp(how, "die") == 0) {
        if (bytes != NULL) syscall(SYS_write, fd, bytes, length / 2);
        syscall(SYS_kill, getpid(), SIGKILL);
    }
    errno = ENOSPC;
    return 1;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (is_file(fd) && strikes(fd, bytes, length)) return -1;
    return syscall(SYS_write, fd, bytes, length);
}

int fsync(int fd) {
    if (is_file(fd) && strikes(fd, NULL, 0)) return -1;
    return syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    if (is_file(fd) && strikes(fd, NULL, 0)) return -1;
    return syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off_t length) {
    if (is_file(fd) && strikes(fd, NULL, 0)) return -1;
    return syscall(SYS_ftruncate, fd, length);
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("TORTURE_COUNT");
    if (path == NULL) return;
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char text[24];
    int n = 0;
    for (long rest = calls; rest > 0 || n == 0; rest /= 10) text[n++] = '0' + rest % 10;
    for (int i = 0; i < n / 2; i++) { char c = text[i]; text[i] = text[n - 1 - i]; text[n - 1 - i] = c; }
    syscall(SYS_write, fd, text, n);
    syscall(SYS_close, fd);
}

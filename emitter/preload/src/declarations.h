/* Functions of libc that programs call but no header declares: the checked ones of _FORTIFY_SOURCE, and those behind
 * macros of <stdio.h>, and second names of the calls. */
#ifndef LIFELINE_PRELOAD_DECLARATIONS_H
#define LIFELINE_PRELOAD_DECLARATIONS_H

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

ssize_t __read(int fd, void *buffer, size_t bytes);
ssize_t __write(int fd, const void *buffer, size_t bytes);
ssize_t __pread64(int fd, void *buffer, size_t bytes, off64_t at);
ssize_t __pwrite64(int fd, const void *buffer, size_t bytes, off64_t at);
ssize_t __send(int fd, const void *buffer, size_t bytes, int flags);
int __poll(struct pollfd *fds, nfds_t count, int timeout);
int __open(const char *path, int flags, ...);
int __open64(const char *path, int flags, ...);
int __close(int fd);

ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *buffer, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buffer, size_t bytes, size_t room, int flags, struct sockaddr *from,
                       socklen_t *from_bytes);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t room);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);

size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *file);
size_t __fread_unlocked_chk(void *to, size_t room, size_t size, size_t count, FILE *file);
char *__fgets_chk(char *to, size_t room, int size, FILE *file);
char *__fgets_unlocked_chk(char *to, size_t room, int size, FILE *file);
ssize_t __getdelim(char **line, size_t *room, int end, FILE *file);
int __uflow(FILE *file);
int __underflow(FILE *file);
int __overflow(FILE *file, int byte);
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments);
int __vprintf_chk(int flag, const char *format, va_list arguments);

int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments);
int _IO_getc(FILE *file);
int _IO_putc(int byte, FILE *file);

/* All streams, by their _chain. */
extern FILE *_IO_list_all;
void _IO_list_lock(void);
void _IO_list_unlock(void);

#endif

/* The functions of <stdio.h>: inside libc they reach read and write without passing here, so they are wrapped
 * themselves.
 *
 * Most calls only copy from or to the stream's buffer. A call is measured if it reached the kernel, which the buffer
 * shows:
 *
 *   bytes read     what the caller got, plus what is in the buffer after the call, minus what was in it before
 *   bytes written  what the caller gave, plus what was in the buffer before the call, minus what is in it after
 *
 * A seek discards what is in the buffer and may fill it: then the buffer holds what it read. Any call may first write
 * what an earlier one left there. Before a call that its buffer can serve, nothing happens but this comparison. Other
 * calls hold the stream's lock, so that no other thread's bytes are counted. Not seen: what libc writes at exit,
 * formatted input, wide characters, and what a seek beyond the file's end reads.
 */
#include "declarations.h"
#include "descriptors.h"
#include "measure.h"
#include "own.h"
#include "real.h"

#include <errno.h>
#include <string.h>

typedef struct call {
  FILE *file;
  uint64_t began;
  size_t unread, unwritten;
  off64_t offset; /* where the buffer ends in the file, if libc knows */
  const char *end;
} call;

static size_t unread(const FILE *file) {
  return (size_t)(file->_IO_read_end - file->_IO_read_ptr);
}

static size_t unwritten(const FILE *file) {
  return file->_IO_write_ptr > file->_IO_write_base ? (size_t)(file->_IO_write_ptr - file->_IO_write_base) : 0;
}

static size_t room(const FILE *file) {
  return file->_IO_write_end > file->_IO_write_ptr ? (size_t)(file->_IO_write_end - file->_IO_write_ptr) : 0;
}

/* Also when the thread is cancelled inside the call: this file is compiled with -fexceptions. */
static void unlock(call *now) {
  funlockfile(now->file);
}

/* A program that does without the lock may never release it. */
static bool lock(FILE *file, bool waits) {
  if (!waits) return ftrylockfile(file) == 0;
  flockfile(file);
  return true;
}

static call begin(FILE *file) {
  return (call){file, io_begin_later(), unread(file), unwritten(file), file->_offset, file->_IO_read_end};
}

#define IS_LOCKED(name) (__builtin_strstr(#name, "unlocked") == NULL)

#define MEASURED(now, from, name, arguments)                                                                           \
  if (!lock(from, IS_LOCKED(name))) return CALL(name) arguments;                                                       \
  call now __attribute__((cleanup(unlock))) = begin(from)

/* A stream in memory, or of the program's own functions, has a negative descriptor, which is not measured. */
static void add(const call *now, io_way way, int64_t bytes) {
  if (bytes > 0) io_add(io_descriptor_of(now->file->_fileno), way, now->began, bytes);
}

/* `got` bytes by the caller, or `given` by it. */
static void finish(const call *now, int64_t got, int64_t given) {
  add(now, IO_READ, got + (int64_t)unread(now->file) - (int64_t)now->unread);
  add(now, IO_WRITE, given + (int64_t)now->unwritten - (int64_t)unwritten(now->file));
}

/* A buffer that had to be written first was empty then. */
static void end_seek(const call *now) {
  const FILE *file = now->file;
  bool filled = now->unwritten > 0 || file->_offset != now->offset || file->_IO_read_end != now->end;
  if (filled) add(now, IO_READ, file->_IO_read_end - file->_IO_buf_base);
  add(now, IO_WRITE, (int64_t)now->unwritten - (int64_t)unwritten(file));
}

/* --- reading --- */

/* `enough` says whether the buffer serves the call; `got` follows from `result`. */
#define INPUT(type, name, parameters, arguments, enough, got)                                                          \
  WRAPPED(type, name, parameters) {                                                                                    \
    if (!io_is_on() || (enough)) return CALL(name) arguments;                                                          \
    MEASURED(now, file, name, arguments);                                                                              \
    type result = CALL(name) arguments;                                                                                \
    finish(&now, (int64_t)(got), 0);                                                                                   \
    return result;                                                                                                     \
  }

/* Only with the lock: another thread may be changing the buffer. */
static bool has_line(const FILE *file, int end) {
  return unread(file) > 0 && memchr(file->_IO_read_ptr, end, unread(file)) != NULL;
}

#define LINE(type, name, parameters, arguments, end, got)                                                              \
  WRAPPED(type, name, parameters) {                                                                                    \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    MEASURED(now, file, name, arguments);                                                                              \
    bool served = has_line(file, end);                                                                                 \
    type result = CALL(name) arguments;                                                                                \
    if (!served) finish(&now, (int64_t)(got), 0);                                                                      \
    return result;                                                                                                     \
  }

static int64_t line_bytes(const char *line) {
  return line != NULL ? (int64_t)strlen(line) : 0;
}

/* clang-format off */
INPUT(size_t, fread, (void *to, size_t size, size_t count, FILE *file), (to, size, count, file), size * count <= unread(file), result * size)
INPUT(size_t, fread_unlocked, (void *to, size_t size, size_t count, FILE *file), (to, size, count, file), size * count <= unread(file), result * size)
INPUT(size_t, __fread_chk, (void *to, size_t bytes, size_t size, size_t count, FILE *file), (to, bytes, size, count, file),
      size * count <= unread(file), result * size)
INPUT(size_t, __fread_unlocked_chk, (void *to, size_t bytes, size_t size, size_t count, FILE *file), (to, bytes, size, count, file),
      size * count <= unread(file), result * size)
LINE(char *, fgets, (char *to, int size, FILE *file), (to, size, file), '\n', line_bytes(result))
LINE(char *, fgets_unlocked, (char *to, int size, FILE *file), (to, size, file), '\n', line_bytes(result))
LINE(char *, __fgets_chk, (char *to, size_t bytes, int size, FILE *file), (to, bytes, size, file), '\n', line_bytes(result))
LINE(char *, __fgets_unlocked_chk, (char *to, size_t bytes, int size, FILE *file), (to, bytes, size, file), '\n', line_bytes(result))
LINE(ssize_t, getline, (char **line, size_t *bytes, FILE *file), (line, bytes, file), '\n', result > 0 ? result : 0)
LINE(ssize_t, getdelim, (char **line, size_t *bytes, int end, FILE *file), (line, bytes, end, file), end, result > 0 ? result : 0)
LINE(ssize_t, __getdelim, (char **line, size_t *bytes, int end, FILE *file), (line, bytes, end, file), end, result > 0 ? result : 0)
INPUT(int, fgetc, (FILE *file), (file), unread(file) > 0, result != EOF)
INPUT(int, getc, (FILE *file), (file), unread(file) > 0, result != EOF)
INPUT(int, _IO_getc, (FILE *file), (file), unread(file) > 0, result != EOF)
INPUT(int, fgetc_unlocked, (FILE *file), (file), unread(file) > 0, result != EOF)
INPUT(int, getc_unlocked, (FILE *file), (file), unread(file) > 0, result != EOF)
INPUT(int, __uflow, (FILE *file), (file), unread(file) > 0, result != EOF)
INPUT(int, __underflow, (FILE *file), (file), unread(file) > 0, 0)

/* --- writing --- */

#define OUTPUT(type, name, parameters, arguments, enough, given)                                                       \
  WRAPPED(type, name, parameters) {                                                                                    \
    if (!io_is_on() || (enough)) return CALL(name) arguments;                                                          \
    MEASURED(now, file, name, arguments);                                                                   \
    type result = CALL(name) arguments;                                                                                \
    finish(&now, 0, (int64_t)(given));                                                                                 \
    return result;                                                                                                     \
  }

OUTPUT(size_t, fwrite, (const void *from, size_t size, size_t count, FILE *file), (from, size, count, file), size * count < room(file), result * size)
OUTPUT(size_t, fwrite_unlocked, (const void *from, size_t size, size_t count, FILE *file), (from, size, count, file), size * count < room(file), result * size)
OUTPUT(int, fputs, (const char *text, FILE *file), (text, file), strlen(text) < room(file), result != EOF ? strlen(text) : 0)
OUTPUT(int, fputs_unlocked, (const char *text, FILE *file), (text, file), strlen(text) < room(file), result != EOF ? strlen(text) : 0)
OUTPUT(int, fputc, (int byte, FILE *file), (byte, file), room(file) > 1, result != EOF)
OUTPUT(int, putc, (int byte, FILE *file), (byte, file), room(file) > 1, result != EOF)
OUTPUT(int, _IO_putc, (int byte, FILE *file), (byte, file), room(file) > 1, result != EOF)
OUTPUT(int, fputc_unlocked, (int byte, FILE *file), (byte, file), room(file) > 1, result != EOF)
OUTPUT(int, putc_unlocked, (int byte, FILE *file), (byte, file), room(file) > 1, result != EOF)
OUTPUT(int, __overflow, (FILE *file, int byte), (file, byte), room(file) > 1, result != EOF && byte != EOF)
OUTPUT(int, vfprintf, (FILE *file, const char *format, va_list more), (file, format, more), false, result > 0 ? result : 0)
OUTPUT(int, __vfprintf_chk, (FILE *file, int flag, const char *format, va_list more), (file, flag, format, more), false, result > 0 ? result : 0)
/* clang-format on */

WRAPPED(int, puts, (const char *text)) {
  if (!io_is_on()) return CALL(puts)(text);
  MEASURED(now, stdout, puts, (text));
  int result = CALL(puts)(text);
  finish(&now, 0, result != EOF ? (int64_t)strlen(text) + 1 : 0);
  return result;
}

WRAPPED(int, getchar, (void)) {
  return getc(stdin);
}

WRAPPED(int, getchar_unlocked, (void)) {
  return getc_unlocked(stdin);
}

WRAPPED(int, putchar, (int byte)) {
  return putc(byte, stdout);
}

WRAPPED(int, putchar_unlocked, (int byte)) {
  return putc_unlocked(byte, stdout);
}

/* The formatted ones are those with a list of arguments, wrapped above. */
#define FORMATTED(name, parameters, last, call)                                                                        \
  WRAPPED(int, name, parameters) {                                                                                     \
    va_list more;                                                                                                      \
    va_start(more, last);                                                                                              \
    int result = call;                                                                                                 \
    va_end(more);                                                                                                      \
    return result;                                                                                                     \
  }

FORMATTED(fprintf, (FILE * file, const char *format, ...), format, vfprintf(file, format, more))
FORMATTED(printf, (const char *format, ...), format, vfprintf(stdout, format, more))
FORMATTED(__fprintf_chk, (FILE * file, int flag, const char *format, ...), format,
          __vfprintf_chk(file, flag, format, more))
FORMATTED(__printf_chk, (int flag, const char *format, ...), format, __vfprintf_chk(stdout, flag, format, more))

WRAPPED(int, vprintf, (const char *format, va_list more)) {
  return vfprintf(stdout, format, more);
}

WRAPPED(int, __vprintf_chk, (int flag, const char *format, va_list more)) {
  return __vfprintf_chk(stdout, flag, format, more);
}

/* To a descriptor, by one or more writes. */
#define DIRECT(name, parameters, arguments)                                                                            \
  WRAPPED(int, name, parameters) {                                                                                     \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    IO_OPERATION;                                                                                                      \
    io_begin(&operation, fd, IO_WRITE);                                                                                \
    int result = CALL(name) arguments;                                                                                 \
    io_end_bytes(&operation, result);                                                                                  \
    return result;                                                                                                     \
  }
DIRECT(vdprintf, (int fd, const char *format, va_list more), (fd, format, more))
DIRECT(__vdprintf_chk, (int fd, int flag, const char *format, va_list more), (fd, flag, format, more))
FORMATTED(dprintf, (int fd, const char *format, ...), format, vdprintf(fd, format, more))
FORMATTED(__dprintf_chk, (int fd, int flag, const char *format, ...), format, __vdprintf_chk(fd, flag, format, more))

/* --- streams as a whole --- */

/* As libc does for NULL, which stands for all streams; one that fails is tried again by libc, which says so. */
static void flush_each(void) {
  int error = errno;
  _IO_list_lock();
  for (FILE *file = _IO_list_all; file != NULL; file = file->_chain)
    if (unwritten(file) > 0) fflush(file);
  _IO_list_unlock();
  errno = error;
}

#define FLUSH(name)                                                                                                    \
  WRAPPED(int, name, (FILE * file)) {                                                                                  \
    if (io_is_on() && file == NULL) flush_each();                                                                      \
    if (file == NULL || !io_is_on() || unwritten(file) == 0) return CALL(name)(file);                                  \
    MEASURED(now, file, name, (file));                                                                                 \
    int result = CALL(name)(file);                                                                                     \
    finish(&now, 0, 0);                                                                                                \
    return result;                                                                                                     \
  }
FLUSH(fflush)
FLUSH(fflush_unlocked)

#define SEEK(name, parameters, arguments)                                                                              \
  WRAPPED(int, name, parameters) {                                                                                     \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    MEASURED(now, file, name, arguments);                                                                              \
    int result = CALL(name) arguments;                                                                                 \
    end_seek(&now);                                                                                                    \
    return result;                                                                                                     \
  }
SEEK(fseek, (FILE * file, long at, int from), (file, at, from))
SEEK(fseeko, (FILE * file, off_t at, int from), (file, at, from))
SEEK(fseeko64, (FILE * file, off64_t at, int from), (file, at, from))
SEEK(fsetpos, (FILE * file, const fpos_t *at), (file, at))
SEEK(fsetpos64, (FILE * file, const fpos64_t *at), (file, at))

WRAPPED(void, rewind, (FILE * file)) {
  if (!io_is_on()) {
    CALL(rewind)(file);
    return;
  }
  MEASURED(now, file, rewind, (file));
  CALL(rewind)(file);
  end_seek(&now);
}

/* libc closes the descriptor itself. */
static void forget(FILE *file) {
  int fd = file->_fileno;
  if (io_own_is_apart()) return;
  if (ll_tls_inside != 0) io_own_forget(fd);
  io_descriptor_closed(fd);
}

WRAPPED(int, fclose, (FILE * file)) {
  if (file == NULL || __atomic_load_n(&io_on, __ATOMIC_RELAXED) == 0) return CALL(fclose)(file);
  size_t left = io_is_on() ? unwritten(file) : 0;
  io_descriptor descriptor = left > 0 ? io_descriptor_of(file->_fileno) : (io_descriptor){IO_UNKNOWN, {0, 0}};
  uint64_t began = left > 0 ? io_begin_later() : 0;
  forget(file);
  int result = CALL(fclose)(file);
  if (result == 0) io_add(descriptor, IO_WRITE, began, (int64_t)left);
  return result;
}

#define REOPEN(name)                                                                                                   \
  WRAPPED(FILE *, name, (const char *path, const char *mode, FILE *file)) {                                            \
    if (file != NULL && __atomic_load_n(&io_on, __ATOMIC_RELAXED) != 0) forget(file);                                  \
    return CALL(name)(path, mode, file);                                                                               \
  }
REOPEN(freopen)
REOPEN(freopen64)

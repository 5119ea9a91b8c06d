/* The functions of <stdio.h>: inside libc they reach read and write without passing here, so they are wrapped
 * themselves.
 *
 * Most calls only copy from or to the stream's buffer. A call is measured if it reached the kernel, which the buffer
 * shows:
 *
 *   bytes read     what the caller got, plus what is in the buffer after the call, minus what was in it before
 *   bytes written  what the caller gave, plus what was in the buffer before the call, minus what is in it after
 *
 * Before a call that its buffer can serve, nothing happens but this comparison. Other calls hold the stream's lock, so
 * that no other thread's bytes are counted. Not seen: what libc writes at exit, formatted input, wide characters, and
 * what a formatted call writes beyond 1,024 bytes when more than that were free in the buffer.
 */
#include "declarations.h"
#include "descriptors.h"
#include "measure.h"
#include "own.h"
#include "real.h"

#include <string.h>

enum { FORMATTED_MOST = 1024 }; /* bytes that a formatted call is expected to write at most */

typedef struct call {
  FILE *file;
  uint64_t began;
  size_t held;
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

#define IS_LOCKED(name) (__builtin_strstr(#name, "unlocked") == NULL)

#define MEASURED(now, from, how, name, arguments)                                                                      \
  if (!lock(from, IS_LOCKED(name))) return CALL(name) arguments;                                                       \
  call now __attribute__((cleanup(unlock))) = {from, 0, 0};                                                            \
  now.held = how(from);                                                                                                \
  now.began = io_begin_later()

static void end_read(const call *now, int64_t got) {
  io_add(io_descriptor_of(fileno_unlocked(now->file)), IO_READ, now->began,
         got + (int64_t)unread(now->file) - (int64_t)now->held);
}

static void end_write(const call *now, int64_t given) {
  io_add(io_descriptor_of(fileno_unlocked(now->file)), IO_WRITE, now->began,
         given + (int64_t)now->held - (int64_t)unwritten(now->file));
}

/* --- reading --- */

/* `enough` says whether the buffer serves the call; `got` follows from `result`. */
#define INPUT(type, name, parameters, arguments, enough, got)                                                          \
  WRAPPED(type, name, parameters) {                                                                                    \
    if (!io_is_on() || (enough)) return CALL(name) arguments;                                                          \
    MEASURED(now, file, unread, name, arguments);                                                                      \
    type result = CALL(name) arguments;                                                                                \
    end_read(&now, (int64_t)(got));                                                                                    \
    return result;                                                                                                     \
  }

/* Only with the lock: another thread may be changing the buffer. */
static bool has_line(const FILE *file, int end) {
  return unread(file) > 0 && memchr(file->_IO_read_ptr, end, unread(file)) != NULL;
}

#define LINE(type, name, parameters, arguments, end, got)                                                              \
  WRAPPED(type, name, parameters) {                                                                                    \
    if (!io_is_on()) return CALL(name) arguments;                                                                      \
    MEASURED(now, file, unread, name, arguments);                                                                      \
    bool served = has_line(file, end);                                                                                 \
    type result = CALL(name) arguments;                                                                                \
    if (!served) end_read(&now, (int64_t)(got));                                                                       \
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
INPUT(int, __uflow, (FILE *file), (file), unread(file) > 0, result != EOF)
INPUT(int, __underflow, (FILE *file), (file), unread(file) > 0, 0)

/* --- writing --- */

#define OUTPUT(type, name, parameters, arguments, enough, given)                                                       \
  WRAPPED(type, name, parameters) {                                                                                    \
    if (!io_is_on() || (enough)) return CALL(name) arguments;                                                          \
    MEASURED(now, file, unwritten, name, arguments);                                                                   \
    type result = CALL(name) arguments;                                                                                \
    end_write(&now, (int64_t)(given));                                                                                 \
    return result;                                                                                                     \
  }

OUTPUT(size_t, fwrite, (const void *from, size_t size, size_t count, FILE *file), (from, size, count, file), size * count < room(file), result * size)
OUTPUT(size_t, fwrite_unlocked, (const void *from, size_t size, size_t count, FILE *file), (from, size, count, file), size * count < room(file), result * size)
OUTPUT(int, fputs, (const char *text, FILE *file), (text, file), strlen(text) < room(file), result != EOF ? strlen(text) : 0)
OUTPUT(int, fputs_unlocked, (const char *text, FILE *file), (text, file), strlen(text) < room(file), result != EOF ? strlen(text) : 0)
OUTPUT(int, fputc, (int byte, FILE *file), (byte, file), room(file) > 1, result != EOF)
OUTPUT(int, putc, (int byte, FILE *file), (byte, file), room(file) > 1, result != EOF)
OUTPUT(int, __overflow, (FILE *file, int byte), (file, byte), room(file) > 1, result != EOF && byte != EOF)
OUTPUT(int, vfprintf, (FILE *file, const char *format, va_list more), (file, format, more), room(file) > FORMATTED_MOST, result > 0 ? result : 0)
OUTPUT(int, __vfprintf_chk, (FILE *file, int flag, const char *format, va_list more), (file, flag, format, more), room(file) > FORMATTED_MOST, result > 0 ? result : 0)
/* clang-format on */

WRAPPED(int, puts, (const char *text)) {
  if (!io_is_on()) return CALL(puts)(text);
  MEASURED(now, stdout, unwritten, puts, (text));
  int result = CALL(puts)(text);
  end_write(&now, result != EOF ? (int64_t)strlen(text) + 1 : 0);
  return result;
}

WRAPPED(int, putchar, (int byte)) {
  return putc(byte, stdout);
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

/* NULL stands for all streams, which cannot be measured. */
#define FLUSH(name)                                                                                                    \
  WRAPPED(int, name, (FILE * file)) {                                                                                  \
    if (file == NULL || !io_is_on() || unwritten(file) == 0) return CALL(name)(file);                                  \
    MEASURED(now, file, unwritten, name, (file));                                                                      \
    int result = CALL(name)(file);                                                                                     \
    end_write(&now, 0);                                                                                                \
    return result;                                                                                                     \
  }
FLUSH(fflush)
FLUSH(fflush_unlocked)

/* libc closes the descriptor itself. */
static void forget(FILE *file) {
  int fd = fileno(file);
  if (ll_tls_inside != 0) io_own_forget(fd);
  io_descriptor_closed(fd);
}

WRAPPED(int, fclose, (FILE * file)) {
  if (file == NULL || __atomic_load_n(&io_on, __ATOMIC_RELAXED) == 0) return CALL(fclose)(file);
  size_t left = io_is_on() ? unwritten(file) : 0;
  io_descriptor descriptor = left > 0 ? io_descriptor_of(fileno(file)) : (io_descriptor){IO_UNKNOWN, {0, 0}};
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

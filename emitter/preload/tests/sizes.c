/* Calls whose bytes are known: `preload-sizes FOLDER` makes those of each row on a file of the row's name, and prints
 * what the kernel has counted for this thread, or what the row says; and each errno that a successful call has changed.
 * So a run without the preload says what one with it must measure, and print. For the test. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { TIMES = 300 };

static char bytes[10000];
static const char *path;
static long moved[2]; /* read, written; where the kernel counts none */

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (condition) break;                                                                                              \
    fprintf(stderr, "sizes: line %d: %s: %s\n", __LINE__, #condition, strerror(errno));                                \
    exit(1);                                                                                                           \
  } while (0)

/* Printed at the end, since a row may flush standard output. */
static char said[20000];

static void say(const char *format, ...) {
  va_list more;
  size_t used = strlen(said);
  va_start(more, format);
  vsnprintf(said + used, sizeof said - used, format, more);
  va_end(more);
}

/* A call that succeeds. */
#define CALL(condition)                                                                                                \
  do {                                                                                                                 \
    errno = 0;                                                                                                         \
    CHECK(condition);                                                                                                  \
    if (errno != 0) say("errno %d after %s\n", errno, #condition);                                                     \
  } while (0)

#define REPEAT for (int i = 0; i < TIMES; i++)

static FILE *stream(const char *mode) {
  FILE *file = fopen(path, mode);
  CHECK(file != NULL);
  return file;
}

/* By system calls, which nobody measures. */
static FILE *filled(const char *mode) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = i % 50 == 49 ? '\n' : 'x';
  REPEAT CHECK(syscall(SYS_write, fd, bytes, sizeof bytes) == sizeof bytes);
  moved[1] -= (long)TIMES * (long)sizeof bytes;
  syscall(SYS_close, fd);
  return stream(mode);
}

/* --- streams that are read --- */

static void seek_and_read(void) {
  FILE *file = filled("r");
  srand(1);
  REPEAT {
    CALL(fseek(file, rand() % (TIMES * 9000), SEEK_SET) == 0);
    CALL(fread(bytes, 1, 100, file) == 100);
  }
  CALL(fclose(file) == 0);
}

static void seek_in_all_ways(void) {
  FILE *file = filled("r");
  fpos_t at;
  fpos64_t at64;
  CALL(fgetpos(file, &at) == 0 && fgetpos64(file, &at64) == 0);
  REPEAT {
    CALL(fseeko(file, i * 5000L, SEEK_SET) == 0 && getc(file) != EOF);
    CALL(fseeko64(file, -i * 5000L - 100, SEEK_END) == 0 && getc(file) != EOF);
    CALL(fseek(file, 10, SEEK_CUR) == 0);
    CALL(fsetpos(file, &at) == 0 && getc(file) != EOF);
    CALL(fseek(file, 100000, SEEK_SET) == 0);
    CALL(fsetpos64(file, &at64) == 0);
    CALL(fseek(file, 100000, SEEK_SET) == 0);
    errno = 0, rewind(file);
    CALL(errno == 0);
  }
  CALL(fclose(file) == 0);
}

static void bytes_singly(void) {
  FILE *file = filled("r");
  REPEAT {
    for (int k = 0; k < 20; k++) {
      CALL((fgetc)(file) != EOF && (getc)(file) != EOF);
      CALL((fgetc_unlocked)(file) != EOF && (getc_unlocked)(file) != EOF);
    }
  }
  CALL(fclose(file) == 0);
}

static void from_standard_input(void) {
  FILE *file = filled("r");
  CHECK(syscall(SYS_dup2, fileno(file), STDIN_FILENO) == STDIN_FILENO);
  REPEAT {
    for (int k = 0; k < 20; k++)
      CALL((getchar)() != EOF && (getchar_unlocked)() != EOF);
  }
  CALL(fclose(file) == 0);
}

static void to_the_end(void) {
  FILE *file = filled("r");
  char *line = NULL;
  size_t room = 0;
  CALL(fgets(bytes, 100, file) != NULL);
  CALL(fread(bytes, 1, 9000, file) == 9000);
  errno = 0;
  while (getline(&line, &room, file) > 0)
    ;
  CALL(feof(file));
  free(line);
  CALL(fclose(file) == 0);
}

/* --- streams that are written --- */

static void seek_and_write(void) {
  FILE *file = filled("r+");
  srand(1);
  REPEAT {
    CALL(fwrite(bytes, 1, 512, file) == 512);
    CALL(fseek(file, rand() % TIMES * 512L, SEEK_SET) == 0);
    CALL(fwrite(bytes, 1, 300, file) == 300 && fseek(file, 0, SEEK_CUR) == 0);
  }
  CALL(fclose(file) == 0);
}

static void read_and_write(void) {
  FILE *file = filled("r+");
  REPEAT {
    CALL(fseek(file, i * 4096L, SEEK_SET) == 0 && fread(bytes, 1, 512, file) == 512);
    CALL(fseek(file, i * 4096L, SEEK_SET) == 0 && fwrite(bytes, 1, 512, file) == 512);
  }
  CALL(fclose(file) == 0);
}

static void rewind_and_write(void) {
  FILE *file = stream("w+");
  REPEAT {
    errno = 0, rewind(file);
    CALL(errno == 0 && fwrite(bytes, 1, 4000, file) == 4000);
  }
  CALL(fclose(file) == 0);
}

static void write_bytes_singly(void) {
  FILE *file = stream("w");
  REPEAT {
    for (int k = 0; k < 20; k++) {
      CALL((fputc)('x', file) == 'x' && (putc)('x', file) == 'x');
      CALL((fputc_unlocked)('x', file) == 'x' && (putc_unlocked)('x', file) == 'x');
    }
  }
  CALL(fclose(file) == 0);
}

static void flush_all(void) {
  FILE *file = stream("w");
  REPEAT {
    CALL(fprintf(file, "%0100d", i) == 100 && fflush(NULL) == 0);
  }
  CALL(fclose(file) == 0);
}

static void lines(void) {
  FILE *file = stream("w");
  setvbuf(file, NULL, _IOLBF, 0);
  REPEAT {
    CALL(fprintf(file, "%0100d\n", i) == 101 && fputs("word\n", file) >= 0);
  }
  CALL(fclose(file) == 0);
}

static void without_buffer(void) {
  FILE *file = stream("w");
  setvbuf(file, NULL, _IONBF, 0);
  REPEAT {
    CALL(fprintf(file, "%0100d", i) == 100 && putc('x', file) == 'x');
  }
  CALL(fclose(file) == 0);
}

static void long_texts(void) {
  FILE *file = stream("w");
  REPEAT {
    CALL(fprintf(file, "%.*s", 3000, bytes) > 0);
  }
  CALL(fclose(file) == 0);
}

static int print_list(int fd, const char *format, ...) {
  va_list more;
  va_start(more, format);
  int result = vdprintf(fd, format, more);
  va_end(more);
  return result;
}

static void to_a_descriptor(void) {
  int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  REPEAT {
    CALL(dprintf(fd, "%0100d", i) == 100 && print_list(fd, "%d", 12345) == 5);
  }
  CALL(close(fd) == 0);
}

/* --- streams without a descriptor: only their errno counts --- */

static ssize_t take(void *left, char *to, size_t count) {
  size_t got = *(size_t *)left < count ? *(size_t *)left : count;
  memset(to, 'x', got);
  *(size_t *)left -= got;
  return (ssize_t)got;
}

static ssize_t give(void *left, const char *from, size_t count) {
  (void)left, (void)from;
  return (ssize_t)count;
}

static void in_memory(void) {
  char text[] = "one\ntwo\nthree\n", *line = NULL, *made;
  size_t room = 0, made_bytes, left = 100000;
  FILE *file = fmemopen(text, strlen(text), "r");
  for (int i = 0; i < 3; i++)
    CALL(getline(&line, &room, file) > 0);
  CALL(getline(&line, &room, file) < 0);
  errno = 0, rewind(file);
  CALL(errno == 0 && fread(bytes, 1, 100, file) == strlen(text) && fgetc(file) == EOF && fclose(file) == 0);
  free(line);
  file = open_memstream(&made, &made_bytes);
  REPEAT CALL(fprintf(file, "%0100d\n", i) == 101);
  CALL(fflush(file) == 0 && fclose(file) == 0);
  free(made);
  file = fopencookie(&left, "r+", (cookie_io_functions_t){.read = take, .write = give});
  while (left > 0)
    CALL(fread(bytes, 1, 5000, file) == 5000);
  CALL(fgets(bytes, 10, file) == NULL);
  CALL(fclose(file) == 0);
}

/* --- pipes and messages --- */

static void pages_to_and_from_a_pipe(void) {
  static char page[4096];
  struct iovec part = {page, sizeof page};
  CHECK(mkfifo(path, 0600) == 0);
  int from = open(path, O_RDONLY | O_NONBLOCK), to = open(path, O_WRONLY);
  REPEAT {
    CALL(vmsplice(to, &part, 1, 0) == sizeof page);
    CALL(vmsplice(from, &part, 1, 0) == sizeof page);
  }
  moved[0] = moved[1] = (long)sizeof page * TIMES;
  close(from), close(to);
}

static void longer_messages_than_asked_for(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct iovec part = {bytes, 100};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  struct mmsghdr messages[1] = {{.msg_hdr = message}};
  int from = socket(AF_UNIX, SOCK_DGRAM, 0), to = socket(AF_UNIX, SOCK_DGRAM, 0);
  memcpy(address.sun_path, path, strlen(path) + 1);
  CHECK(bind(from, (struct sockaddr *)&address, sizeof address) == 0);
  CHECK(connect(to, (struct sockaddr *)&address, sizeof address) == 0);
  REPEAT {
    for (int k = 0; k < 4; k++)
      CALL(send(to, bytes, 1000, 0) == 1000);
    CALL(recv(from, bytes, 100, MSG_TRUNC) == 1000);
    CALL(recvfrom(from, bytes, 100, MSG_TRUNC, NULL, NULL) == 1000);
    CALL(recvmsg(from, &message, MSG_TRUNC) == 1000);
    CALL(recvmmsg(from, messages, 1, MSG_TRUNC, NULL) == 1 && messages[0].msg_len == 1000);
  }
  moved[0] = 400 * TIMES, moved[1] = 4000 * TIMES;
  close(from), close(to);
}

/* --- the table --- */

static const struct row {
  const char *name;
  void (*run)(void);
} rows[] = {
    {"seek-and-read", seek_and_read},
    {"seek-in-all-ways", seek_in_all_ways},
    {"bytes-singly", bytes_singly},
    {"from-standard-input", from_standard_input},
    {"to-the-end", to_the_end},
    {"seek-and-write", seek_and_write},
    {"read-and-write", read_and_write},
    {"rewind-and-write", rewind_and_write},
    {"write-bytes-singly", write_bytes_singly},
    {"flush-all", flush_all},
    {"lines", lines},
    {"without-buffer", without_buffer},
    {"long-texts", long_texts},
    {"to-a-descriptor", to_a_descriptor},
    {"in-memory", in_memory},
    {"pages-to-and-from-a-pipe", pages_to_and_from_a_pipe},
    {"longer-messages-than-asked-for", longer_messages_than_asked_for},
};

/* What this thread has read and written so far, without the reads of this function. */
static void kernel_counts(long counts[2]) {
  static long own;
  char text[512];
  int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/io", O_RDONLY);
  long got = syscall(SYS_read, fd, text, sizeof text - 1);
  CHECK(got > 0);
  text[got] = '\0';
  syscall(SYS_close, fd);
  CHECK(sscanf(text, "rchar: %ld wchar: %ld", &counts[0], &counts[1]) == 2);
  counts[0] -= own;
  own += got;
}

int main(int argc, char **argv) {
  char name[100];
  if (argc != 2) return 2;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    long before[2], after[2];
    CHECK(snprintf(name, sizeof name, "%s/%s", argv[1], rows[i].name) < (int)sizeof name);
    path = name;
    moved[0] = moved[1] = 0;
    kernel_counts(before);
    rows[i].run();
    kernel_counts(after);
    if (moved[0] <= 0)
      for (int way = 0; way < 2; way++)
        moved[way] += after[way] - before[way];
    say("row %s %ld %ld\n", rows[i].name, moved[0], moved[1]);
  }
  fputs(said, stdout);
  return 0;
}

/* Programs that this one becomes or starts. An emitter that was stopped cannot be started again, so it is stopped only
 * for a file that can be executed. A program that would not start with this preload is started without it. Nothing here
 * allocates: the caller may be the child of a vfork. */
#include "given.h"
#include "measure.h"
#include "program.h"
#include "real.h"
#include "stack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* --- LD_PRELOAD without us --- */

#define VARIABLE "LD_PRELOAD="
#define SEPARATORS " :"

static bool is_ours(const char *entry, size_t bytes) {
  static const char name[] = "/liblifeline-preload.so";
  size_t most = sizeof name - 1;
  return bytes >= most && memcmp(entry + bytes - most, name, most) == 0;
}

static bool names_us(const char *list) {
  for (size_t bytes; *list != '\0'; list += bytes + strspn(list + bytes, SEPARATORS)) {
    bytes = strcspn(list, SEPARATORS);
    if (is_ours(list, bytes)) return true;
  }
  return false;
}

/* A program that is to run: its path, or its name in PATH. */
typedef struct candidate {
  const char *file;
  bool by_name;
  bool can_run;
  bool harms;
} candidate;

/* With room for paths and pieces of the file, which a small stack has not. */
static void look_at(void *given) {
  candidate *now = given;
  char found[PATH_MAX];
  const char *path = now->file;
  if (now->by_name) path = program_find(now->file, found, sizeof found) ? found : "";
  now->can_run = program_is_executable(path);
  program_unmeasurable(path, &now->harms);
}

/* Under a filter nothing is looked at: that would break its rules. Without an answer nothing changes. */
static candidate consider(const char *file, bool by_name) {
  IO_KEEPS_ERRNO;
  candidate now = {file, by_name, false, false};
  if (ll_tls_inside != 0 || file == NULL) return now;
  if (io_is_filtered())
    now.harms = true;
  else if (io_is_readable_text(file)) /* a search in PATH reads it */
    io_on_own_stack(look_at, &now);
  return now;
}

/* Else the kernel has the answer. Under a filter that forbids to ask, it is believed. */
static bool can_be_read(char *const environment[]) {
  for (;; environment++) {
    if (!io_is_readable(environment, sizeof *environment)) return false;
    if (*environment == NULL) return true;
    if (!io_is_readable_text(*environment)) return false;
  }
}

/* The variable in the environment, if it names us and the program must not get it; else NULL. A program that is not
 * measured any more has children, too. */
static char *const *harmful(const candidate *now, char *const environment[]) {
  if (!now->harms || (!io_is_filtered() && !can_be_read(environment)) || environment == NULL) return NULL;
  while (*environment != NULL && strncmp(*environment, VARIABLE, strlen(VARIABLE)) != 0)
    environment++;
  return *environment != NULL && names_us(*environment + strlen(VARIABLE)) ? environment : NULL;
}

static size_t length(char *const environment[]) {
  size_t count = 0;
  while (environment[count] != NULL)
    count++;
  return count;
}

/* Into a list and a text that have the room of the old ones. */
static char *const *without_us(char *const environment[], char *const *variable, char *kept[], char *text) {
  memcpy(kept, environment, (length(environment) + 1) * sizeof *kept);
  kept[variable - environment] = text;
  text = stpcpy(text, VARIABLE);
  const char *first = text;
  for (const char *entry = *variable + strlen(VARIABLE); *entry != '\0'; entry += strspn(entry, SEPARATORS)) {
    size_t bytes = strcspn(entry, SEPARATORS);
    if (!is_ours(entry, bytes)) {
      if (text != first) *text++ = ':';
      text = mempcpy(text, entry, bytes);
    }
    entry += bytes;
  }
  *text = '\0';
  return kept;
}

#define WITHOUT_US_IF_HARMFUL(file, by_name)                                                                           \
  candidate now = consider(file, by_name);                                                                             \
  char *const *variable = harmful(&now, environment);                                                                  \
  char *kept[variable != NULL ? length(environment) + 1 : 1], text[variable != NULL ? strlen(*variable) + 1 : 1];      \
  if (variable != NULL) environment = without_us(environment, variable, kept, text)

/* --- becoming: each goes on to its own next function, since one of these may be made from another --- */

#define BECOMES(file, by_name)                                                                                         \
  WITHOUT_US_IF_HARMFUL(file, by_name);                                                                                \
  if (now.can_run && io_is_on()) io_finish()

WRAPPED(int, execve, (const char *path, char *const argv[], char *const environment[])) {
  BECOMES(path, false);
  return CALL(execve)(path, argv, environment);
}

WRAPPED(int, execv, (const char *path, char *const argv[])) {
  char *const *environment = environ;
  BECOMES(path, false);
  return variable != NULL ? CALL(execve)(path, argv, environment) : CALL(execv)(path, argv);
}

WRAPPED(int, execvpe, (const char *file, char *const argv[], char *const environment[])) {
  BECOMES(file, true);
  return CALL(execvpe)(file, argv, environment);
}

WRAPPED(int, execvp, (const char *file, char *const argv[])) {
  char *const *environment = environ;
  BECOMES(file, true);
  return variable != NULL ? CALL(execvpe)(file, argv, environment) : CALL(execvp)(file, argv);
}

WRAPPED(int, fexecve, (int fd, char *const argv[], char *const environment[])) {
  if (io_is_on() && fcntl(fd, F_GETFD) >= 0) io_finish();
  return CALL(fexecve)(fd, argv, environment);
}

/* Under names that nobody replaces. */
static __typeof__(execve) own_execve __attribute__((alias("execve"), nothrow));
static __typeof__(execv) own_execv __attribute__((alias("execv"), nothrow));
static __typeof__(execvp) own_execvp __attribute__((alias("execvp"), nothrow));

/* The list of arguments becomes an array on the stack, as in libc. */
#define BECOME_LISTED(name, become)                                                                                    \
  WRAPPED(int, name, (const char *file, const char *first, ...)) {                                                     \
    va_list more;                                                                                                      \
    size_t count = 0;                                                                                                  \
    va_start(more, first);                                                                                             \
    for (const char *word = first; word != NULL; word = va_arg(more, const char *))                                    \
      count++;                                                                                                         \
    va_end(more);                                                                                                      \
    char *argv[count + 1];                                                                                             \
    va_start(more, first);                                                                                             \
    argv[0] = (char *)first;                                                                                           \
    for (size_t i = 1; i <= count; i++)                                                                                \
      argv[i] = va_arg(more, char *);                                                                                  \
    int result = become;                                                                                               \
    va_end(more);                                                                                                      \
    return result;                                                                                                     \
  }
BECOME_LISTED(execl, own_execv(file, argv))
BECOME_LISTED(execlp, own_execvp(file, argv))
BECOME_LISTED(execle, own_execve(file, argv, va_arg(more, char *const *)))

/* --- starting --- */

WRAPPED(int, posix_spawn,
        (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
         char *const argv[], char *const environment[])) {
  WITHOUT_US_IF_HARMFUL(path, false);
  return CALL(posix_spawn)(pid, path, actions, attributes, argv, environment);
}

WRAPPED(int, posix_spawnp,
        (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
         char *const argv[], char *const environment[])) {
  WITHOUT_US_IF_HARMFUL(file, true);
  return CALL(posix_spawnp)(pid, file, actions, attributes, argv, environment);
}

#include "sessions.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/say.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DIRECTORY_ENTRIES_MAX = 1024, ENTRIES_MAX = 16384, BUDGET = 50 };

bool session_id_parse(const char *text, uint8_t id[SESSION_BYTES]) {
  uint8_t any = 0;
  if (strlen(text) != 2 * SESSION_BYTES) return false;
  for (unsigned i = 0; i < 2 * SESSION_BYTES; i++) {
    static const char digits[] = "0123456789abcdef";
    const char *digit = strchr(digits, text[i]);
    if (digit == NULL) return false;
    id[i / 2] = (uint8_t)(i % 2 == 0 ? (digit - digits) << 4 : id[i / 2] | (digit - digits));
    any |= id[i / 2];
  }
  return any != 0;
}

bool session_file_parse(char *text, session_file *file) {
  *file = (session_file){.pid = 0};
  for (char *line; (line = text_line(&text)) != NULL;) {
    uint64_t number;
    char *value = strchr(line, '=');
    if (value == NULL) continue;
    *value++ = '\0';
    if (strcmp(line, "name") == 0) text_copy(file->name, sizeof file->name, value);
    if (strcmp(line, "began") == 0 && text_number(&value, &number)) file->began_ns = number;
    if (strcmp(line, "pid") == 0 && text_number(&value, &number) && number <= INT32_MAX) file->pid = (uint32_t)number;
  }
  return file->pid > 0;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The process that the file names, if it lives and may be named by the file's owner. */
static bool find_root(const sessions *all, const session_file *file, uid_t owner, target_root *root) {
  char path[32];
  struct stat status;
  process_stat process;
  snprintf(path, sizeof path, "%u", file->pid);
  if (fstatat(all->proc, path, &status, 0) != 0) return false;
  if (owner != 0 && status.st_uid != owner) {
    SAY_ONCE("a session of user %u names process %u of user %u; it is ignored", owner, file->pid, status.st_uid);
    return false;
  }
  snprintf(path, sizeof path, "%u/stat", file->pid);
  if (!process_stat_read(all->proc, path, &process) || process.ended) return false;
  root->pid = file->pid;
  root->began_ns = file->began_ns;
  root->start_ticks = process.start_ticks;
  return true;
}

typedef enum announced { INCOMPLETE, OVER, OPEN } announced;

static announced read_file(const sessions *all, int directory, const struct stat *of, const char *name,
                           target_root *root) {
  struct stat status;
  session_file file;
  int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return INCOMPLETE; /* it has ended, or is a link */
  bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= SESSION_FILE_MAX;
  const char *danger = !good                         ? NULL
                       : (status.st_mode & 022) != 0 ? "may be written by others"
                       : status.st_uid != of->st_uid ? "belongs to another user than its directory"
                                                     : NULL;
  if (danger != NULL) SAY_ONCE("session file %s %s; it is ignored", name, danger);
  char *text = good && danger == NULL ? file_read_at_most(fd, SESSION_FILE_MAX) : NULL;
  close(fd);
  if (text == NULL || !session_file_parse(text, &file)) return INCOMPLETE; /* perhaps it is still being written */
  return find_root(all, &file, status.st_uid, root) ? OPEN : OVER;
}

/* Sessions of different users are different, even if one has copied the other's id. */
static const target_root *find(const target_root *among, unsigned count, const target_root *wanted) {
  for (unsigned i = 0; i < count; i++)
    if (among[i].owner == wanted->owner && memcmp(among[i].session, wanted->session, SESSION_BYTES) == 0)
      return &among[i];
  return NULL;
}

/* What the announcements say, before it replaces what they said the last time. */
typedef struct reading {
  target_root open[SESSIONS_MAX], over[SESSIONS_MAX];
  unsigned open_count, over_count;
  unsigned entries; /* of all directories */
} reading;

/* A session whose process has ended stays over, even if another process gets the number. */
static bool is_over(const sessions *all, const target_root *root, announced state) {
  const target_root *earlier = find(all->open, all->count, root);
  if (state == OVER || find(all->over, all->over_count, root) != NULL) return true;
  return earlier != NULL && earlier->pid == root->pid && earlier->start_ticks != root->start_ticks;
}

/* No user takes the places of all others. The probe's own user may have all. */
static bool has_place(const target_root *among, unsigned count, uid_t owner) {
  unsigned of_owner = 0;
  for (unsigned i = 0; i < count; i++)
    of_owner += among[i].owner == owner;
  return count < SESSIONS_MAX && (of_owner < SESSIONS_OF_OTHERS_MAX || owner == geteuid());
}

static void add(const sessions *all, const target_root *root, announced state, reading *now) {
  if (is_over(all, root, state)) {
    if (has_place(now->over, now->over_count, root->owner)) now->over[now->over_count++] = *root;
  } else if (has_place(now->open, now->open_count, root->owner)) {
    now->open[now->open_count++] = *root;
  } else {
    SAY_ONCE("more than %d sessions are open, or more than %d of one other user; the others are ignored", SESSIONS_MAX,
             SESSIONS_OF_OTHERS_MAX);
  }
}

static bool may_read(reading *now, unsigned entries, const char *path) {
  if (entries < DIRECTORY_ENTRIES_MAX && now->entries++ < ENTRIES_MAX) return true;
  SAY_ONCE("%s has more than %d sessions, or all session directories together more than %d; the others are ignored",
           path, DIRECTORY_ENTRIES_MAX, ENTRIES_MAX);
  return false;
}

static bool is_safe(const struct stat *directory) {
  return (directory->st_mode & 022) == 0 &&
         (directory->st_uid == geteuid() || geteuid() == 0 || directory->st_uid == 0);
}

/* Takes the descriptor; `path` is its name in messages. */
static void read_opened(const sessions *all, int fd, const char *path, reading *now) {
  struct stat status;
  char opened[64];
  DIR *directory = NULL;
  if (fstat(fd, &status) != 0 || !is_safe(&status))
    SAY_ONCE("the session directory %s must belong to this user or root and not be writable by others; it is ignored",
             path);
  else
    directory = fdopendir(fd);
  if (directory == NULL) {
    close(fd);
    return;
  }
  /* Before the files are read: what changes from now on is notified. Watching again changes nothing. */
  snprintf(opened, sizeof opened, "/proc/self/fd/%d", fd);
  if (all->notify >= 0)
    inotify_add_watch(all->notify, opened, IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR);
  unsigned names = 0, ids = 0;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL && names++ < ENTRIES_MAX;) {
    target_root root = {.owner = status.st_uid};
    if (!session_id_parse(entry->d_name, root.session)) continue; /* such as one that is being written */
    if (!may_read(now, ids++, path)) break;
    if (find(now->open, now->open_count, &root) != NULL) continue;
    announced state = read_file(all, fd, &status, entry->d_name, &root);
    if (state != INCOMPLETE) add(all, &root, state, now);
  }
  closedir(directory);
}

static int open_below(int directory, const char *name) {
  return openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void read_directory(const sessions *all, const char *path, reading *now) {
  int fd = open_below(AT_FDCWD, path);
  if (fd >= 0) read_opened(all, fd, path, now); /* else there was no session yet */
}

/* The same, unless something is mounted there: a file system of the user's could keep the probe waiting, or claim that
 * its files are root's. */
static int open_unmounted(int directory, const char *name) {
  struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV};
  int fd = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
  struct stat above, status;
  fd = open_below(directory, name); /* Linux before 5.6, or a filter that does not know the call */
  if (fd < 0 || (fstat(directory, &above) == 0 && fstat(fd, &status) == 0 && above.st_dev == status.st_dev)) return fd;
  close(fd);
  return -1;
}

/* Opens a directory below, which must belong to the user: others may put anything beside it. -1: there is none. */
static int open_of_user(int directory, const char *name, uid_t user, bool may_be_mounted) {
  struct stat status;
  int fd = may_be_mounted ? open_below(directory, name) : open_unmounted(directory, name);
  if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == user) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/* PATH/<prefix><uid>/[BETWEEN/]sessions of each user. */
static void read_users(const sessions *all, const char *path, const char *prefix, const char *between, reading *now) {
  int fd = open_below(AT_FDCWD, path);
  DIR *users = fd >= 0 ? fdopendir(fd) : NULL;
  if (users == NULL && fd >= 0) close(fd);
  for (struct dirent *entry; users != NULL && (entry = readdir(users)) != NULL;) {
    char name[32], whole[256];
    if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
    uid_t user = (uid_t)strtoul(entry->d_name + strlen(prefix), NULL, 10);
    snprintf(name, sizeof name, "%s%u", prefix, user);
    if (strcmp(name, entry->d_name) != 0) continue; /* not a number, or not as the library writes it */
    snprintf(whole, sizeof whole, "%s/%s/%s%ssessions", path, name, between, *between ? "/" : "");
    if (!may_read(now, 0, whole)) break;
    int home = open_of_user(fd, name, user, *between != '\0'); /* /run/user/UID is a file system, made by the system */
    int above = *between && home >= 0 ? open_of_user(home, between, user, false) : home;
    int found = above >= 0 ? open_of_user(above, "sessions", user, false) : -1;
    if (above >= 0 && above != home) close(above);
    if (home >= 0) close(home);
    if (found >= 0) read_opened(all, found, whole, now);
  }
  if (users != NULL) closedir(users);
}

/* Where sessions of this user announce themselves; root's probe watches those of all users. */
static void read_default(const sessions *all, reading *now) {
  char path[4200];
  const char *given = secure_getenv("LIFELINE_SESSION_DIR"), *runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (given != NULL && *given) {
    read_directory(all, given, now);
    return;
  }
  read_directory(all, "/run/lifeline/sessions", now);
  if (geteuid() == 0) {
    read_users(all, "/run/user", "", "lifeline", now);
    read_users(all, "/dev/shm", "lifeline-", "", now);
    return;
  }
  if (runtime != NULL && *runtime) {
    snprintf(path, sizeof path, "%.4000s/lifeline/sessions", runtime);
    read_directory(all, path, now);
  }
  snprintf(path, sizeof path, "/dev/shm/lifeline-%u/sessions", geteuid());
  read_directory(all, path, now);
}

static int newest_first(const void *one, const void *other) {
  const target_root *a = one, *b = other;
  if (a->began_ns != b->began_ns) return a->began_ns > b->began_ns ? -1 : 1;
  return memcmp(a->session, b->session, SESSION_BYTES);
}

bool sessions_read(sessions *all) {
  static reading now;
  uint64_t began_ns = ll_now_ns(CLOCK_MONOTONIC), ended_ns;
  char events[4096] __attribute__((aligned(8)));
  unsigned kept = 0;
  while (all->notify >= 0 && read(all->notify, events, sizeof events) > 0) {
  } /* what happened does not matter: all is read anew */
  now.open_count = now.over_count = now.entries = 0;
  for (unsigned i = 0; i < all->directory_count; i++)
    read_directory(all, all->directories[i], &now);
  if (all->directory_count == 0) read_default(all, &now);
  qsort(now.open, now.open_count, sizeof now.open[0], newest_first);
  for (unsigned i = 0; i < now.open_count; i++)
    kept += find(all->open, all->count, &now.open[i]) != NULL;
  bool changed = kept < now.open_count || kept < all->count;
  all->opened += now.open_count - kept;
  all->closed += all->count - kept;
  memcpy(all->open, now.open, sizeof now.open);
  memcpy(all->over, now.over, sizeof now.over);
  all->count = now.open_count;
  all->over_count = now.over_count;
  ended_ns = ll_now_ns(CLOCK_MONOTONIC);
  all->next_ns = ended_ns + (ended_ns - began_ns) * BUDGET;
  return changed;
}

void sessions_open(sessions *all, int proc, const char *const *directories, unsigned count) {
  *all = (sessions){.proc = proc, .directories = directories, .directory_count = count};
  all->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (all->notify < 0) SAY_ONCE("no inotify: %s; sessions are looked for once a second", strerror(errno));
}

void sessions_close(sessions *all) {
  if (all->notify >= 0) close(all->notify);
  all->notify = -1;
}

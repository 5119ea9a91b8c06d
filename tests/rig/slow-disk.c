/* Shows a directory through a filesystem whose reads and writes are as slow as a given disk's.
 *
 * One arm serves all files, in turn: a request of n bytes holds it for a fixed time and n / rate. Pages are not cached,
 * so that a program's read or write takes as long as the disk does; with --cached the kernel's page cache stands
 * between, as it does before a real disk. */
#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static const char HELP[] =
    "Shows a directory as if it lay on a slow disk.\n"
    "\n"
    "Usage: slow-disk [OPTION]... DIRECTORY MOUNT_POINT\n"
    "\n"
    "  --read MB     megabytes per second of all reads together (no limit)\n"
    "  --write MB    the same of writes (no limit)\n"
    "  --latency MS  of each request (0)\n"
    "  --cached      let the kernel cache pages and write them back later\n"
    "\n"
    "Prints `ready` when it is mounted. Then each line of standard input changes one value\n"
    "from now on: `read 20`, `write 5`, `latency 1`, with 0 for no limit; it is answered by the\n"
    "line and the time, in nanoseconds since 1970. Ends with its input, or by a signal,\n"
    "unmounts, and prints bytes read and written as JSON. Exit status: 0, 1 after an error, 2\n"
    "for a mistake in the command line.\n";

static int the_directory;
static bool the_cached;
static _Atomic double the_ns_per_byte[2]; /* of reads and writes */
static _Atomic int64_t the_latency_ns;
static _Atomic uint64_t the_bytes[2];
enum { READ, WRITE };

static _Noreturn void die(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("slow-disk: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  exit(status);
}

/* Waits until the arm has served the request. */
static void serve(int kind, size_t size) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static int64_t free_at;
  struct timespec now;
  atomic_fetch_add(&the_bytes[kind], size);
  int64_t takes = atomic_load(&the_latency_ns) + (int64_t)((double)size * atomic_load(&the_ns_per_byte[kind]));
  if (takes == 0) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  pthread_mutex_lock(&lock);
  free_at = (free_at > now_ns ? free_at : now_ns) + takes;
  int64_t due = free_at;
  pthread_mutex_unlock(&lock);
  struct timespec until = {due / 1000000000, due % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
    continue;
}

/* --- the filesystem: every path is below the directory ---------------------------------------------------------------
 */

static const char *below(const char *path) {
  return path[1] == 0 ? "." : path + 1;
}

static int result(int returned) {
  return returned < 0 ? -errno : 0;
}

static void *on_init(struct fuse_conn_info *connection, struct fuse_config *config) {
  config->use_ino = 1;
  config->direct_io = !the_cached;
  if (the_cached && (connection->capable & FUSE_CAP_WRITEBACK_CACHE)) connection->want |= FUSE_CAP_WRITEBACK_CACHE;
  connection->max_write = 1 << 20;
  return NULL;
}

static int on_getattr(const char *path, struct stat *about, struct fuse_file_info *file) {
  return result(file != NULL ? fstat((int)file->fh, about)
                             : fstatat(the_directory, below(path), about, AT_SYMLINK_NOFOLLOW));
}

static int on_readlink(const char *path, char *target, size_t size) {
  ssize_t length = readlinkat(the_directory, below(path), target, size - 1);
  if (length >= 0) target[length] = 0;
  return result((int)length);
}

static int on_readdir(const char *path, void *entries, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *file,
                      enum fuse_readdir_flags flags) {
  (void)offset, (void)file, (void)flags;
  int fd = openat(the_directory, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
  if (directory == NULL) return -errno;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (fill(entries, entry->d_name, NULL, 0, 0) != 0) break;
  }
  closedir(directory);
  return 0;
}

static int opened(int fd, struct fuse_file_info *file) {
  if (fd < 0) return -errno;
  file->fh = (uint64_t)fd;
  return 0;
}

/* The kernel reads before it changes a part of a cached page, so a file must be readable; it adds O_APPEND's offset
 * itself. */
static int flags_of(const struct fuse_file_info *file) {
  int flags = (file->flags & ~(O_DIRECT | O_NOFOLLOW)) | O_CLOEXEC;
  if (!the_cached) return flags;
  flags &= ~O_APPEND;
  return (flags & O_ACCMODE) == O_WRONLY ? (flags & ~O_ACCMODE) | O_RDWR : flags;
}

static int on_open(const char *path, struct fuse_file_info *file) {
  return opened(openat(the_directory, below(path), flags_of(file)), file);
}

static int on_create(const char *path, mode_t mode, struct fuse_file_info *file) {
  return opened(openat(the_directory, below(path), flags_of(file) | O_CREAT, mode), file);
}

static int on_read(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
  (void)path;
  ssize_t got = pread((int)file->fh, bytes, size, offset);
  if (got < 0) return -errno;
  serve(READ, (size_t)got);
  return (int)got;
}

static int on_write(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
  (void)path;
  ssize_t put = pwrite((int)file->fh, bytes, size, offset);
  if (put < 0) return -errno;
  serve(WRITE, (size_t)put);
  return (int)put;
}

static int on_release(const char *path, struct fuse_file_info *file) {
  (void)path;
  return result(close((int)file->fh));
}

/* The writes have waited already. */
static int on_fsync(const char *path, int only_data, struct fuse_file_info *file) {
  (void)path, (void)only_data, (void)file;
  return 0;
}

static int on_truncate(const char *path, off_t size, struct fuse_file_info *file) {
  if (file != NULL) return result(ftruncate((int)file->fh, size));
  int fd = openat(the_directory, below(path), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int status = result(ftruncate(fd, size));
  close(fd);
  return status;
}

static int on_statfs(const char *path, struct statvfs *about) {
  (void)path;
  return result(fstatvfs(the_directory, about));
}

static int on_mkdir(const char *path, mode_t mode) {
  return result(mkdirat(the_directory, below(path), mode));
}

static int on_unlink(const char *path) {
  return result(unlinkat(the_directory, below(path), 0));
}

static int on_rmdir(const char *path) {
  return result(unlinkat(the_directory, below(path), AT_REMOVEDIR));
}

static int on_symlink(const char *target, const char *path) {
  return result(symlinkat(target, the_directory, below(path)));
}

static int on_link(const char *from, const char *to) {
  return result(linkat(the_directory, below(from), the_directory, below(to), 0));
}

static int on_rename(const char *from, const char *to, unsigned flags) {
  return result(renameat2(the_directory, below(from), the_directory, below(to), flags));
}

static int on_chmod(const char *path, mode_t mode, struct fuse_file_info *file) {
  return result(file != NULL ? fchmod((int)file->fh, mode) : fchmodat(the_directory, below(path), mode, 0));
}

static int on_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *file) {
  (void)file;
  return result(fchownat(the_directory, below(path), user, group, AT_SYMLINK_NOFOLLOW));
}

static int on_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *file) {
  (void)file;
  return result(utimensat(the_directory, below(path), times, AT_SYMLINK_NOFOLLOW));
}

static const struct fuse_operations OPERATIONS = {
    .init = on_init,
    .getattr = on_getattr,
    .readlink = on_readlink,
    .readdir = on_readdir,
    .open = on_open,
    .create = on_create,
    .read = on_read,
    .write = on_write,
    .release = on_release,
    .fsync = on_fsync,
    .truncate = on_truncate,
    .statfs = on_statfs,
    .mkdir = on_mkdir,
    .unlink = on_unlink,
    .rmdir = on_rmdir,
    .symlink = on_symlink,
    .link = on_link,
    .rename = on_rename,
    .chmod = on_chmod,
    .chown = on_chown,
    .utimens = on_utimens,
};

/* --- options and input
 * --------------------------------------------------------------------------------------------------- */

/* Returns false for an unknown name or a bad number. */
static bool change(const char *name, const char *text) {
  char *rest;
  double value = strtod(text, &rest);
  if (rest == text || *rest != 0 || !(value >= 0 && value <= 1e6)) return false;
  if (strcmp(name, "latency") == 0) {
    atomic_store(&the_latency_ns, (int64_t)(value * 1e6));
  } else if (strcmp(name, "read") == 0 || strcmp(name, "write") == 0) {
    atomic_store(&the_ns_per_byte[name[0] == 'r' ? READ : WRITE], value > 0 ? 1000 / value : 0);
  } else {
    return false;
  }
  return true;
}

static void follow_input(void) {
  char line[128], name[32], value[32];
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (sscanf(line, "%31s %31s", name, value) != 2 || !change(name, value)) {
      fprintf(stderr, "slow-disk: '%.100s' is none of `read MB`, `write MB` and `latency MS`\n", line);
      continue;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("%s %s %lld%09ld\n", name, value, (long long)now.tv_sec, now.tv_nsec);
    fflush(stdout);
  }
}

/* The read of the input fails from now on. */
static void on_signal(int number_of_signal) {
  (void)number_of_signal;
  close(STDIN_FILENO);
}

static void *run(void *filesystem) {
  struct fuse_loop_config config = {.clone_fd = 0, .max_idle_threads = 16};
  fuse_loop_mt(filesystem, &config);
  return NULL;
}

int main(int argc, char **argv) {
  static const struct option options[] = {{"read", 1, 0, 'r'},   {"write", 1, 0, 'w'}, {"latency", 1, 0, 'l'},
                                          {"cached", 0, 0, 'c'}, {"help", 0, 0, 'h'},  {0}};
  for (int option, index = 0; (option = getopt_long(argc, argv, "h", options, &index)) != -1;) {
    switch (option) {
    case 'r':
    case 'w':
    case 'l':
      if (!change(options[index].name, optarg))
        die(2, "--%s: '%s' is not a number from 0 to 1e6", options[index].name, optarg);
      break;
    case 'c': the_cached = true; break;
    case 'h': fputs(HELP, stdout); return 0;
    default: return 2;
    }
  }
  if (argc - optind != 2) die(2, "a DIRECTORY and a MOUNT_POINT are expected (try --help)");
  const char *mount_point = argv[optind + 1];
  the_directory = open(argv[optind], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (the_directory < 0) die(1, "%s cannot be opened: %s", argv[optind], strerror(errno));
  umask(0); /* modes come from the callers */

  static char for_all[] = "-oallow_other,default_permissions,fsname=slow-disk", for_one[] = "-ofsname=slow-disk";
  char *names[] = {argv[0], geteuid() == 0 ? for_all : for_one, NULL};
  struct fuse_args arguments = FUSE_ARGS_INIT(2, names);
  struct fuse *filesystem = fuse_new(&arguments, &OPERATIONS, sizeof OPERATIONS, NULL);
  if (filesystem == NULL || fuse_mount(filesystem, mount_point) != 0)
    die(1, "the filesystem cannot be mounted on %s; /dev/fuse and the rights to mount are needed", mount_point);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, NULL); /* in the threads; main gets them */
  sigaction(SIGINT, &(struct sigaction){.sa_handler = on_signal}, NULL);
  sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
  pthread_t loop;
  int error = pthread_create(&loop, NULL, run, filesystem);
  if (error != 0) die(1, "a thread cannot be started: %s", strerror(error));
  pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
  puts("ready");
  fflush(stdout);
  follow_input();
  fuse_exit(filesystem);
  fuse_unmount(filesystem);
  pthread_join(loop, NULL);
  fuse_destroy(filesystem);
  printf("{\"read_bytes\": %llu, \"write_bytes\": %llu}\n", (unsigned long long)the_bytes[READ],
         (unsigned long long)the_bytes[WRITE]);
  return 0;
}

#include "destination.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool fail(const struct destination *destination, struct failure *failure, const char *what) {
  failure_set(failure, "cannot %s %s: %s", what, destination->path, strerror(errno));
  return false;
}

/* Walks to the directory of the file, making directories on the way. */
static int open_parent(int root, char *path, const char **name) {
  int directory = dup(root);
  char *rest = path, *slash;
  while (directory >= 0 && (slash = strchr(rest, '/')) != NULL) {
    *slash = '\0';
    int below = -1;
    if (mkdirat(directory, rest, 0777) == 0 || errno == EEXIST)
      below = openat(directory, rest, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    close(directory);
    errno = error;
    directory = below;
    rest = slash + 1;
  }
  *name = rest;
  return directory;
}

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static bool open_temporary(struct destination *destination, bool direct) {
  static _Atomic unsigned serial;
  snprintf(destination->temporary_name, sizeof destination->temporary_name, ".remote-copy-%ld-%u.part", (long)getpid(),
           atomic_fetch_add(&serial, 1));
  int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  destination->file =
      openat(destination->directory, destination->temporary_name, flags | (direct ? O_DIRECT : 0), 0600);
  if (destination->file < 0 && direct && errno == EINVAL) {
    unlinkat(destination->directory, destination->temporary_name, 0); /* some kernels create it and then say EINVAL */
    destination->file = openat(destination->directory, destination->temporary_name, flags, 0600);
  }
  return destination->file >= 0;
}

static bool start_command(struct destination *destination, const char *command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  destination->command = fork();
  if (destination->command == 0) {
    /* the command starts with the signals of a fresh program, not with the server's */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    dup2(ends[0], STDIN_FILENO);
    dup2(destination->file, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  close(ends[0]);
  if (destination->command < 0) {
    close(ends[1]);
    destination->command = 0;
    return false;
  }
  destination->pipe = ends[1];
  return true;
}

bool destination_open(struct destination *destination, int root, const char *path, unsigned mode, bool direct,
                      const char *through, struct failure *failure) {
  size_t length = strlen(path);
  char walked[WIRE_MAX_PATH_BYTES + 1];
  const char *name;
  if (length > WIRE_MAX_PATH_BYTES || !wire_path_is_safe(path, length)) {
    failure_set(failure, "the path '%.200s' leads out of the target directory", path);
    return false;
  }
  memcpy(destination->path, path, length + 1);
  memcpy(walked, path, length + 1);
  destination->mode = mode & 0777;
  destination->directory = open_parent(root, walked, &name);
  if (destination->directory < 0) return fail(destination, failure, "make the directory of");
  if (!open_temporary(destination, direct && through == NULL)) return fail(destination, failure, "create");
  if (through != NULL && !start_command(destination, through)) return fail(destination, failure, "start --through for");
  return true;
}

/* Direct I/O moves whole pages; the tail of a file, and file systems that refuse it, go through the page cache. */
static bool leave_direct_io(int file) {
  int flags = fcntl(file, F_GETFL);
  return flags >= 0 && fcntl(file, F_SETFL, flags & ~O_DIRECT) == 0;
}

bool destination_write(struct destination *destination, const unsigned char *data, size_t nbytes, uint64_t offset,
                       struct failure *failure) {
  bool piped = destination->pipe >= 0;
  if (!piped && nbytes % WIRE_ALIGNMENT != 0 && !leave_direct_io(destination->file))
    return fail(destination, failure, "write");
  bool may_refuse_direct = !piped;
  for (size_t done = 0; done < nbytes;) {
    ssize_t written = piped ? write(destination->pipe, data + done, nbytes - done)
                            : pwrite(destination->file, data + done, nbytes - done, (off_t)(offset + done));
    if (written >= 0) {
      done += (size_t)written;
    } else if (errno == EINVAL && may_refuse_direct) {
      may_refuse_direct = false;
      if (!leave_direct_io(destination->file)) return fail(destination, failure, "write");
    } else if (errno != EINTR) {
      return fail(destination, failure, "write");
    }
  }
  return true;
}

static bool end_command(struct destination *destination, struct failure *failure) {
  int status = 0;
  close(destination->pipe);
  destination->pipe = -1;
  while (waitpid(destination->command, &status, 0) < 0 && errno == EINTR)
    continue;
  destination->command = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  failure_set(failure, "the --through command failed on %s", destination->path);
  return false;
}

bool destination_sync(struct destination *destination, struct failure *failure) {
  if (destination->pipe >= 0 && !end_command(destination, failure)) return false;
  return fdatasync(destination->file) == 0 || fail(destination, failure, "sync");
}

bool destination_publish(struct destination *destination, struct failure *failure) {
  if (fchmod(destination->file, destination->mode) != 0 ||
      renameat(destination->directory, destination->temporary_name, destination->directory,
               name_of(destination->path)) != 0)
    return fail(destination, failure, "rename");
  destination->temporary_name[0] = '\0';
  return true;
}

void destination_close(struct destination *destination) {
  if (destination->command > 0) {
    struct failure ignored = FAILURE_INIT;
    end_command(destination, &ignored);
  }
  if (destination->temporary_name[0] != '\0' && destination->file >= 0)
    unlinkat(destination->directory, destination->temporary_name, 0);
  if (destination->file >= 0) close(destination->file);
  if (destination->directory >= 0) close(destination->directory);
  *destination = (struct destination)DESTINATION_INIT;
}

#include "directory.h"

#include "low.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ll_directory_open(const char *path, const char *kind, bool make, char *why, size_t why_bytes) {
  int error;
  if (make && mkdir(path, 0700) != 0 && errno != EEXIST) {
    error = errno;
    snprintf(why, why_bytes, "%s directory %s cannot be created: %s", kind, path, strerror(error));
    errno = error;
    return -1;
  }
  int fd = ll_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    error = errno;
    snprintf(why, why_bytes, "%s directory %s cannot be opened: %s", kind, path, strerror(error));
    errno = error;
    return -1;
  }
  struct stat status;
  if (fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 022) == 0) return fd;
  snprintf(why, why_bytes, "%s directory %s must belong to this user and not be writable by others (chmod go-w)", kind,
           path);
  close(fd);
  errno = EPERM;
  return -1;
}

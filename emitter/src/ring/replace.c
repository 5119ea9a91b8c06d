#include "replace.h"

#include "base/crash_point.h"
#include "base/low.h"
#include "layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies what is allocated. Returns 0 or an error number. */
static int copy_extents(int from, int to, ll_store *copy) {
  off_t end = (off_t)copy->bytes;
  for (off_t at = 0; at < end;) {
    off_t data = lseek(from, at, SEEK_DATA);
    if (data < 0) return errno == ENXIO ? 0 : errno; /* only a hole is left */
    off_t hole = lseek(from, data, SEEK_HOLE);
    if (hole < 0) return errno;
    if (hole > end) hole = end;
    int error = ll_store_allocate(to, (uint64_t)data, (uint64_t)(hole - data));
    for (off_t done = data; error == 0 && done < hole;) {
      ssize_t bytes = pread(from, copy->map + done, (size_t)(hole - done), done);
      if (bytes <= 0) error = bytes < 0 ? errno : EIO;
      done += bytes;
    }
    if (error != 0) return error;
    at = hole;
  }
  return 0;
}

static int fill(const ll_store *store, int from, int to, ll_store *copy) {
  struct stat status;
  if (fstat(from, &status) != 0 || status.st_dev != store->device || status.st_ino != store->inode) return ESTALE;
  if (ll_store_exceeds_limit(copy->bytes)) return EFBIG;
  if (ftruncate(to, (off_t)copy->bytes) != 0) return errno;
  copy->map = mmap(NULL, copy->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
  if (copy->map == MAP_FAILED) {
    copy->map = NULL;
    return errno;
  }
  madvise(copy->map, copy->bytes, MADV_DONTFORK);
  int error = copy_extents(from, to, copy);
  if (error == 0 && memcmp(copy->map, store->map, sizeof(ll_file_header)) != 0) error = ESTALE;
  return error;
}

bool ll_replace_begin(const ll_store *store, ll_store *copy, char *why, size_t why_bytes) {
  memset(copy, 0, sizeof *copy);
  copy->bytes = store->bytes;
  copy->unnamed_fd = -1;
  snprintf(copy->path, sizeof copy->path, "%.*s.copy", (int)sizeof copy->path - 16, store->path);
  unlink(copy->path); /* what an earlier recovery left that was killed; the claim excludes another one */
  int from = ll_open(store->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC),
      to = ll_open(copy->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  int error = from >= 0 && to >= 0 ? fill(store, from, to, copy) : errno;
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  if (error == 0) {
    ll_layout_point(copy);
    return true;
  }
  ll_replace_cancel(copy);
  snprintf(why, why_bytes, "it is damaged, and no copy of what is readable can be made: %s", strerror(error));
  return false;
}

void ll_replace_cancel(ll_store *copy) {
  ll_store_unmap(copy);
  unlink(copy->path);
}

static void name_of_original(const char *path, char *kept, size_t kept_bytes) {
  snprintf(kept, kept_bytes, "%.*s" LL_SET_ASIDE_SUFFIX, (int)kept_bytes - 16, path);
}

bool ll_replace_end(const ll_store *store, ll_store *copy, char *why, size_t why_bytes) {
  char kept[PATH_MAX];
  name_of_original(store->path, kept, sizeof kept);
  copy->header->recoverer.pid = 0;
  bool linked = link(store->path, kept) == 0 || errno == EEXIST;
  ll_crash_point("damaged-linked");
  if (linked && rename(copy->path, store->path) == 0) {
    ll_store_unmap(copy);
    return true;
  }
  snprintf(why, why_bytes, "it is damaged, and cannot be set aside as %.300s: %s", kept, strerror(errno));
  ll_replace_cancel(copy);
  return false;
}

bool ll_replace_kept(const char *path, char *kept, size_t kept_bytes) {
  name_of_original(path, kept, kept_bytes);
  return access(kept, F_OK) == 0;
}

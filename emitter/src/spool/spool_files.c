#include "spool_files.h"

#include "base/bytes.h"
#include "base/directory.h"
#include "base/low.h"
#include "ring/ringfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const suffixes[LL_SPOOL_KINDS] = {".spool", ".given-up", ".refused", ".damaged"};

int ll_spool_directory_open(const char *path, bool make, char *why, size_t why_bytes) {
  return ll_directory_open(path, "spool", make, why, why_bytes);
}

void ll_spool_name(const ll_segment_identity *identity, ll_spool_kind kind, char name[LL_SPOOL_NAME_MAX]) {
  char program[64], hex[33];
  ll_store_program(identity->program, program, sizeof program);
  ll_hex(identity->incarnation, 16, hex);
  snprintf(name, LL_SPOOL_NAME_MAX, "%s-%u-%s-%u-%08u%s", program, (unsigned)identity->owner.pid, hex,
           (unsigned)identity->route, (unsigned)identity->number, suffixes[kind]);
}

/* Finds where the suffix begins, if it is one of ours. */
static bool find_suffix(const char *name, size_t *stem, ll_spool_kind *kind) {
  size_t length = strlen(name);
  for (int i = 0; i < LL_SPOOL_KINDS; i++) {
    size_t suffix = strlen(suffixes[i]);
    if (length <= suffix || length >= LL_SPOOL_NAME_MAX || strcmp(name + length - suffix, suffixes[i]) != 0) continue;
    *stem = length - suffix;
    *kind = (ll_spool_kind)i;
    return true;
  }
  return false;
}

void ll_spool_renamed(const char *name, ll_spool_kind kind, char renamed[LL_SPOOL_NAME_MAX]) {
  size_t stem = strlen(name);
  ll_spool_kind before;
  find_suffix(name, &stem, &before);
  snprintf(renamed, LL_SPOOL_NAME_MAX, "%.*s%s", (int)stem, name, suffixes[kind]);
}

const char *ll_spool_kind_name(ll_spool_kind kind) {
  static const char *const names[LL_SPOOL_KINDS] = {"waiting", "given-up", "refused", "damaged"};
  return names[kind];
}

static size_t trailing_digits(const char *name, size_t end, const char *digits) {
  size_t begin = end;
  while (begin > 0 && name[begin - 1] != '\0' && strchr(digits, name[begin - 1]) != NULL)
    begin--;
  return end - begin;
}

/* The length of the program in <program>-<pid>-<32 hex digits>-<route>-<number>; 0 when the name has another form. */
static size_t program_in(const char *name, size_t stem) {
  static const struct {
    const char *digits;
    size_t least, most;
  } parts[] = {{"0123456789", 8, 10}, {"0123456789", 1, 5}, {"0123456789abcdef", 32, 32}, {"0123456789", 1, 10}};
  size_t end = stem;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    size_t digits = trailing_digits(name, end, parts[i].digits);
    if (digits < parts[i].least || digits > parts[i].most || digits >= end || name[end - digits - 1] != '-') return 0;
    end -= digits + 1;
  }
  return end;
}

static bool is_of(const char *name, size_t stem, const char *program) {
  size_t length = program_in(name, stem);
  if (length == 0 || program == NULL) return length > 0;
  char wanted[64];
  ll_store_program(program, wanted, sizeof wanted);
  return strlen(wanted) == length && strncmp(name, wanted, length) == 0;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const ll_spool_file *)a)->name, ((const ll_spool_file *)b)->name);
}

static int note(ll_spool_listing *listing, size_t *room, const char *name, ll_spool_kind kind, uint64_t bytes) {
  if (listing->count == *room) {
    size_t more = *room == 0 ? 64 : *room * 2;
    ll_spool_file *files = realloc(listing->files, more * sizeof *files);
    if (files == NULL) return ENOMEM;
    listing->files = files;
    *room = more;
  }
  ll_spool_file *file = &listing->files[listing->count++];
  *file = (ll_spool_file){.kind = kind, .bytes = bytes};
  snprintf(file->name, sizeof file->name, "%s", name);
  listing->bytes += bytes;
  return 0;
}

int ll_spool_listing_read(int directory, const char *program, ll_spool_listing *listing) {
  memset(listing, 0, sizeof *listing);
  size_t room = 0;
  int fd = ll_openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
  if (entries == NULL) {
    int error = errno;
    if (fd >= 0) close(fd);
    return error;
  }
  int error = 0;
  for (struct dirent *entry; error == 0 && (entry = readdir(entries)) != NULL;) {
    size_t stem;
    ll_spool_kind kind;
    struct stat status;
    if (!find_suffix(entry->d_name, &stem, &kind) || !is_of(entry->d_name, stem, program)) continue;
    if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
    error = note(listing, &room, entry->d_name, kind, (uint64_t)status.st_size);
  }
  closedir(entries);
  if (error != 0)
    ll_spool_listing_free(listing);
  else if (listing->count > 0)
    qsort(listing->files, listing->count, sizeof listing->files[0], by_name);
  return error;
}

void ll_spool_listing_free(ll_spool_listing *listing) {
  free(listing->files);
  memset(listing, 0, sizeof *listing);
}

static int allocate(int fd, size_t bytes) {
  int error;
  do
    error = posix_fallocate(fd, 0, (off_t)bytes);
  while (error == EINTR);
  return error;
}

/* Whether the descriptor is still that file: the program may have closed it and reused its number. */
static bool is_file(int fd, const struct stat *file) {
  struct stat status;
  return fstat(fd, &status) == 0 && status.st_dev == file->st_dev && status.st_ino == file->st_ino;
}

static int make_segment(int directory, const ll_segment_identity *identity, size_t bytes, dev_t *device, ino_t *inode) {
  char name[LL_SPOOL_NAME_MAX];
  uint8_t header[LL_SEGMENT_HEADER_BYTES];
  struct stat status = {0};
  ll_spool_name(identity, LL_SPOOL_WAITING, name);
  ll_segment_header_write(identity, header);
  int fd = ll_openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : EBADF;
  if (error == 0) error = is_file(fd, &status) ? allocate(fd, bytes) : EBADF;
  if (error == 0 && !is_file(fd, &status)) error = EBADF; /* allocating takes time */
  if (error == 0 && pwrite(fd, header, sizeof header, 0) != (ssize_t)sizeof header) error = errno != 0 ? errno : EIO;
  if (is_file(fd, &status)) close(fd);
  if (error != 0) {
    unlinkat(directory, name, 0);
    return error;
  }
  *device = status.st_dev;
  *inode = status.st_ino;
  return 0;
}

/* A process that adds a file holds the directory's lock while it checks the total size and adds to it, so that the
 * limit holds for all processes together. It never waits for the lock: a process that was stopped with the lock must
 * not block others. */
int ll_spool_segment_create(int directory, const ll_segment_identity *identity, size_t bytes, uint64_t most,
                            dev_t *device, ino_t *inode) {
  if (flock(directory, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK ? EAGAIN : errno;
  ll_spool_listing listing;
  int error = ll_spool_listing_read(directory, NULL, &listing);
  if (error == 0) {
    error = listing.bytes + bytes <= most ? make_segment(directory, identity, bytes, device, inode) : ENOBUFS;
    ll_spool_listing_free(&listing);
  }
  flock(directory, LOCK_UN); /* explicitly: a child forked meanwhile shares the descriptor */
  return error;
}

static bool may_be_alive(const ll_process *process, bool anywhere) {
  ll_liveness liveness = ll_process_liveness(process);
  return liveness == LL_ALIVE || (liveness == LL_UNKNOWN && !anywhere);
}

/* As with ring files: the lock is held only while the claim is written; the claim identifies its holder by pid and
 * start time, which a fork does not inherit. A segment that another process has just delivered has no name. */
static int claim(int fd, const ll_segment_identity *identity, bool anywhere) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return EBUSY;
  struct stat status;
  ll_segment_claim written;
  ll_process claimer, self = ll_process_self();
  int error = 0;
  if (fstat(fd, &status) != 0 || status.st_nlink == 0)
    error = ENOENT;
  else if (may_be_alive(&identity->owner, anywhere))
    error = EBUSY;
  else if (pread(fd, &written, sizeof written, LL_SEGMENT_CLAIM_OFFSET) == (ssize_t)sizeof written &&
           ll_segment_claim_read(&written, &claimer) && may_be_alive(&claimer, anywhere))
    error = EBUSY;
  if (error == 0) {
    written = ll_segment_claim_by(&self);
    if (pwrite(fd, &written, sizeof written, LL_SEGMENT_CLAIM_OFFSET) != (ssize_t)sizeof written)
      error = errno != 0 ? errno : EIO;
  }
  flock(fd, LOCK_UN);
  return error;
}

static int read_all(int fd, uint8_t *bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t count = pread(fd, bytes + done, size - done, (off_t)done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return EINVAL; /* it shrinks: another process changes it */
    done += (size_t)count;
  }
  return 0;
}

/* Returns 0, or EINVAL or EACCES with a line in why. */
static int check_file(int fd, size_t *size, char *why, size_t why_bytes) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & 022) != 0) {
    snprintf(why, why_bytes, "not a file that belongs to this user alone");
    return EACCES;
  }
  *size = (size_t)status.st_size;
  if (status.st_size > 0 && status.st_size <= (off_t)LL_SEGMENT_BYTES_MOST) return 0;
  snprintf(why, why_bytes, status.st_size == 0 ? "it is empty" : "too large for a segment of a spool");
  return EINVAL;
}

/* Reads the owner before claiming; only what is read after the claim is sure to be complete. */
static int read_claimed(int fd, ll_spool_access access, ll_spool_content *content, char *why, size_t why_bytes) {
  uint8_t header[LL_SEGMENT_HEADER_BYTES];
  int error = check_file(fd, &content->size, why, why_bytes);
  if (error != 0) return error;
  ssize_t count = pread(fd, header, sizeof header, 0);
  const char *fault = count < 0 ? strerror(errno) : ll_segment_header_read(header, (size_t)count, &content->identity);
  if (fault != NULL) {
    snprintf(why, why_bytes, "%s", fault);
    return EINVAL;
  }
  if (access == LL_SPOOL_CLAIM || access == LL_SPOOL_CLAIM_ANYWHERE)
    error = claim(fd, &content->identity, access == LL_SPOOL_CLAIM_ANYWHERE);
  if (error != 0) {
    snprintf(why, why_bytes, "it cannot be claimed: %s", strerror(error));
    return error;
  }
  error = check_file(fd, &content->size, why, why_bytes);
  if (error != 0) return error;
  content->bytes = malloc(content->size);
  error = content->bytes == NULL ? ENOMEM : read_all(fd, content->bytes, content->size);
  if (error != 0) snprintf(why, why_bytes, "it cannot be read: %s", strerror(error));
  return error;
}

int ll_spool_content_read(int directory, const char *name, ll_spool_access access, ll_spool_content *content, char *why,
                          size_t why_bytes) {
  memset(content, 0, sizeof *content);
  bool claims = access == LL_SPOOL_CLAIM || access == LL_SPOOL_CLAIM_ANYWHERE;
  int fd = ll_openat(directory, name, (claims ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    int error = errno == ELOOP ? EACCES : errno;
    snprintf(why, why_bytes, "%s", strerror(errno));
    return error;
  }
  int error = read_claimed(fd, access, content, why, why_bytes);
  close(fd);
  if (error != 0) ll_spool_content_free(content);
  return error;
}

void ll_spool_content_free(ll_spool_content *content) {
  free(content->bytes);
  content->bytes = NULL;
  content->size = 0;
}

void ll_spool_give_back(int directory, const char *name) {
  static const ll_segment_claim none;
  int fd = ll_openat(directory, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t written = pwrite(fd, &none, sizeof none, LL_SEGMENT_CLAIM_OFFSET);
  (void)written; /* else the claim holds until this process ends */
  close(fd);
}

int ll_spool_remove_unborn(int directory, const char *name) {
  if (flock(directory, LOCK_EX | LOCK_NB) != 0) return EAGAIN;
  uint8_t header[LL_SEGMENT_HEADER_BYTES];
  size_t size = 0;
  char why[128];
  int fd = ll_openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  bool unborn = fd >= 0 && (check_file(fd, &size, why, sizeof why) == 0 || size == 0);
  ssize_t count = unborn ? pread(fd, header, sizeof header, 0) : -1;
  unborn = unborn && count >= 0;
  for (ssize_t i = 0; i < count && unborn; i++)
    unborn = header[i] == 0;
  if (fd >= 0) close(fd);
  unborn = unborn && unlinkat(directory, name, 0) == 0;
  flock(directory, LOCK_UN);
  return unborn ? 0 : EINVAL;
}

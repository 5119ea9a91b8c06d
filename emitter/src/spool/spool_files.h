/* The spool directory: file names, total size, and ownership of segments.
 *
 *   <program>-<pid>-<incarnation>-<route>-<number>.spool      batches waiting for delivery
 *                                                 .given-up   counted as dropped, or about to be: see spool.h
 *                                                 .refused    refused by the sink, kept for inspection
 *                                                 .damaged    kept for inspection, after the rest was delivered
 *
 * The directory must be owned by the user, and symbolic links are not followed. Only a segment's owner touches it and,
 * after the owner's death, the process that has claimed it. No descriptor stays open after a call.
 */
#ifndef LIFELINE_SPOOL_FILES_H
#define LIFELINE_SPOOL_FILES_H

#include "spool_segment.h"

#include <sys/types.h>

typedef enum ll_spool_kind {
  LL_SPOOL_WAITING,
  LL_SPOOL_GIVEN_UP,
  LL_SPOOL_REFUSED,
  LL_SPOOL_DAMAGED,
  LL_SPOOL_KINDS
} ll_spool_kind;

typedef struct ll_spool_file {
  char name[LL_SPOOL_NAME_MAX];
  ll_spool_kind kind;
  uint64_t bytes;
} ll_spool_file;

typedef struct ll_spool_listing {
  ll_spool_file *files; /* sorted by name, so by incarnation, route and number */
  size_t count;
  uint64_t bytes; /* of all files */
} ll_spool_listing;

/* Opens the directory; with `make`, creates it first if necessary. -1 with one line in why on failure. */
int ll_spool_directory_open(const char *path, bool make, char *why, size_t why_bytes);

/* Lists the segments, without unrelated files. `program`: only its segments; NULL: those of all programs. Returns 0 or
 * an errno value. */
int ll_spool_listing_read(int directory, const char *program, ll_spool_listing *listing);
void ll_spool_listing_free(ll_spool_listing *listing);

void ll_spool_name(const ll_segment_identity *identity, ll_spool_kind kind, char name[LL_SPOOL_NAME_MAX]);

/* The same name with the suffix of another kind. */
void ll_spool_renamed(const char *name, ll_spool_kind kind, char renamed[LL_SPOOL_NAME_MAX]);
const char *ll_spool_kind_name(ll_spool_kind kind);

/* Creates an empty segment of that size, if the directory then holds at most `most` bytes. Returns 0; ENOBUFS when it
 * would hold more; EAGAIN while another process creates one; otherwise the filesystem's errno value. */
int ll_spool_segment_create(int directory, const ll_segment_identity *identity, size_t bytes, uint64_t most,
                            dev_t *device, ino_t *inode);

/* A segment in memory. */
typedef struct ll_spool_content {
  uint8_t *bytes;
  size_t size;
  ll_segment_identity identity;
} ll_spool_content;

typedef enum ll_spool_access {
  LL_SPOOL_LOOK,           /* read only, regardless of the owner */
  LL_SPOOL_OWN,            /* the caller wrote it */
  LL_SPOOL_CLAIM,          /* only if its owner is dead and it is not claimed; then claims it */
  LL_SPOOL_CLAIM_ANYWHERE, /* also if the owner is in another pid namespace: the caller knows that it is dead */
} ll_spool_access;

/* Reads a whole segment. Returns 0; EBUSY when a live process owns it or has claimed it; ENOENT; EACCES for a file not
 * owned by this user; EINVAL for an invalid segment; otherwise the filesystem's errno value. why holds the reason. */
int ll_spool_content_read(int directory, const char *name, ll_spool_access access, ll_spool_content *content, char *why,
                          size_t why_bytes);
void ll_spool_content_free(ll_spool_content *content);

/* Releases the caller's claim, so that others need not wait until it ends. */
void ll_spool_give_back(int directory, const char *name);

/* Removes a segment whose creator died before writing its header. Segments are created with the directory's lock held,
 * so no live process is about to finish it while the caller holds that lock. Returns 0; EAGAIN while a segment is being
 * created, possibly this one; EINVAL when it is not such a segment. */
int ll_spool_remove_unborn(int directory, const char *name);

#endif

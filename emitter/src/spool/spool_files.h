/* The spool's directory: whose files are whose, how much there is, and who may touch what.
 *
 *   <program>-<pid>-<incarnation>-<route>-<number>.spool      batches that wait
 *                                                 .given-up   counted as dropped, or about to be: see spool.h
 *                                                 .refused    what the sink would not have, for a person to look at
 *                                                 .damaged    as above, after the rest was delivered
 *
 * The directory belongs to the user alone, and links are not followed. A segment is touched by its owner, and after the
 * owner's death by whoever has claimed it. No descriptor outlives a call.
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
  ll_spool_file *files; /* by name, so by incarnation, route and number */
  size_t count;
  uint64_t bytes; /* of all of them */
} ll_spool_listing;

/* Opens the directory, and makes it first when `make` says so. -1 with one line in why. */
int ll_spool_directory_open(const char *path, bool make, char *why, size_t why_bytes);

/* Strangers' files are not in it. `program`: only its files; NULL: of all. Returns 0 or an errno value. */
int ll_spool_listing_read(int directory, const char *program, ll_spool_listing *listing);
void ll_spool_listing_free(ll_spool_listing *listing);

void ll_spool_name(const ll_segment_identity *identity, ll_spool_kind kind, char name[LL_SPOOL_NAME_MAX]);

/* The same name, of another kind. */
void ll_spool_renamed(const char *name, ll_spool_kind kind, char renamed[LL_SPOOL_NAME_MAX]);
const char *ll_spool_kind_name(ll_spool_kind kind);

/* Makes an empty segment of that size, if the directory then holds at most `most`. Returns 0; ENOBUFS when it would
 * hold more; EAGAIN when another process makes one at this moment; else what the filesystem says. */
int ll_spool_segment_create(int directory, const ll_segment_identity *identity, size_t bytes, uint64_t most,
                            dev_t *device, ino_t *inode);

/* A segment in memory. */
typedef struct ll_spool_content {
  uint8_t *bytes;
  size_t size;
  ll_segment_identity identity;
} ll_spool_content;

typedef enum ll_spool_access {
  LL_SPOOL_LOOK,           /* whosoever it is */
  LL_SPOOL_OWN,            /* the caller wrote it */
  LL_SPOOL_CLAIM,          /* only when its owner is dead and nobody else delivers it; it is the caller's then */
  LL_SPOOL_CLAIM_ANYWHERE, /* also when the owner's pid means nothing here: the caller knows that it is dead */
} ll_spool_access;

/* Reads a whole segment. Returns 0; EBUSY when somebody has it who is alive; ENOENT; EACCES for a file that is not this
 * user's; EINVAL for one that is no segment; else what the filesystem says. why says what is wrong. */
int ll_spool_content_read(int directory, const char *name, ll_spool_access access, ll_spool_content *content, char *why,
                          size_t why_bytes);
void ll_spool_content_free(ll_spool_content *content);

/* Gives back what the caller has claimed, so that others need not wait for its death. */
void ll_spool_give_back(int directory, const char *name);

/* Removes a segment whose maker died before it had a header: it was made with the directory's lock held, so that
 * whoever has the lock now knows that nobody is about to finish it. Returns 0; EAGAIN when one is being
 * made at this moment, maybe this; EINVAL when it is not such a one. */
int ll_spool_remove_unborn(int directory, const char *name);

#endif

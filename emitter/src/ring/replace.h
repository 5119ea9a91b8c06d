/* A copy of a ring file that takes the file's place, for a recovery that has to change what cannot be read: the
 * original stays beside it, unchanged. A kill at any point leaves the original in its place or the whole copy. */
#ifndef LIFELINE_REPLACE_H
#define LIFELINE_REPLACE_H

#include "ringfile.h"

#define LL_SET_ASIDE_SUFFIX ".damaged"

/* Maps a copy of the claimed file, which is a file beside it with another name. False with a line in why. */
bool ll_replace_begin(const ll_store *store, ll_store *copy, char *why, size_t why_bytes);

/* Keeps the original under its name with LL_SET_ASIDE_SUFFIX, and gives its name to the copy, unclaimed. Unmaps the
 * copy. False with a line in why. */
bool ll_replace_end(const ll_store *store, ll_store *copy, char *why, size_t why_bytes);

/* Removes the copy. */
void ll_replace_cancel(ll_store *copy);

/* True, with the name, when a damaged file of which this one is a copy was set aside. */
bool ll_replace_kept(const char *path, char *kept, size_t kept_bytes);

#endif

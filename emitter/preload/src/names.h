/* Names of files and peers as they are reported. All functions are async-signal-safe. */
#ifndef LIFELINE_PRELOAD_NAMES_H
#define LIFELINE_PRELOAD_NAMES_H

#include "settings.h"

enum { IO_NAME_BYTES = 200 }; /* longest reported name, with its closing 0 */

#define IO_NAME_REDACTED "(redacted)"
#define IO_NAME_HIDDEN "(not named)"

/* SipHash-2-4 of Aumasson and Bernstein (INDOCRYPT 2012): without the key, a hash cannot be compared with those of
 * guessed names, and names cannot be chosen to collide. */
uint64_t io_hash(const uint64_t key[2], const void *bytes, size_t count);

/* Shell-like: "*" is any text, with slashes; "?" is any byte. */
bool io_glob(const char *pattern, const char *text);

/* Whether a pattern is for this file. What is redacted stays so. */
bool io_is_redacted(const io_settings *settings, const char *name);

/* Writes the name to report for `name` into `reported` (IO_NAME_BYTES). A long name loses its beginning, since the end
 * of a path says more. `secret` names, those of files, are held to the patterns. */
void io_name(const io_settings *settings, const char *name, bool secret, char *reported);

#endif

/* Names of FORMAT.md, section 13, by numeric code. */
#ifndef LIFELINE_BATCH_JSON_NAMES_H
#define LIFELINE_BATCH_JSON_NAMES_H

enum { FLAG_NAMES = 4, LEVEL_NAMES = 9, TYPE_NAMES = 10, COMPRESSION_NAMES = 3, CLOCK_NAMES = 2 };

static const char *const flag_names[FLAG_NAMES] = {"FINAL", "RECOVERED", "CLOCK_UNCERTAIN", "DERIVED"};
static const char *const level_names[LEVEL_NAMES] = {"",      "fatal",  "error",  "warn",  "info",
                                                     "debug", "debug1", "debug2", "debug3"};
static const char *const type_names[TYPE_NAMES] = {"",       "i32", "i64", "f32",  "f64",
                                                   "string", "u32", "u64", "bool", "bytes"};
static const char *const compression_names[COMPRESSION_NAMES] = {"none", "lz4", "zstd"};
static const char *const clock_names[CLOCK_NAMES] = {"ticks", "monotonic"};

#endif

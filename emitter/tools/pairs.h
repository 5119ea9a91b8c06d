/* KEY[:TYPE[:UNIT]]=VALUE, as lifeline-emit takes it. */
#ifndef LIFELINE_PAIRS_H
#define LIFELINE_PAIRS_H

#include <lifeline/dynamic.h>

/* Takes the word apart, in place: field and value point into it. Returns NULL, or what is wrong. */
const char *pair_parse(char *word, ll_dynamic_field *field, ll_value *value);

/* Splits a line into words, in place, without their quotes; a comment has none. Returns NULL, or what is wrong. */
const char *line_split(char *line, char **words, unsigned most, unsigned *count);

#endif

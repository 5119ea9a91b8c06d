/* Fields KEY[:TYPE[:UNIT]]=VALUE of lifeline-emit. */
#ifndef LIFELINE_PAIRS_H
#define LIFELINE_PAIRS_H

#include <lifeline/dynamic.h>

/* Parses the word in place: field and value point into it. Returns NULL, or an error text. */
const char *pair_parse(char *word, ll_dynamic_field *field, ll_value *value);

/* Splits a line into unquoted words, in place; a comment line has none. Returns NULL, or an error text. */
const char *line_split(char *line, char **words, unsigned most, unsigned *count);

#endif

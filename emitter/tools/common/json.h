/* Text on standard output, whoever wrote it, and whether all that was printed there arrived. */
#ifndef LIFELINE_TOOL_JSON_H
#define LIFELINE_TOOL_JSON_H

/* As JSON. What is no UTF-8 becomes U+FFFD. */
void json_print_text(const char *text);

/* As a terminal may be shown it: a question mark for what controls it, ends a line or changes the direction of writing,
 * and for what is no UTF-8. */
void plain_print_text(const char *text);

/* The tool's exit status: `status`, or 1 with a line on standard error when standard output did not take everything
 * although somebody still reads it. */
int output_end(const char *tool, int status);

#endif

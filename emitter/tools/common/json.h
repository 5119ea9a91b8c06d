/* Untrusted text on standard output, and the check that the output was written. */
#ifndef LIFELINE_TOOL_JSON_H
#define LIFELINE_TOOL_JSON_H

/* Prints a JSON string, in which characters that plain_print_text replaces are escaped. Invalid UTF-8 becomes U+FFFD.
 */
void json_print_text(const char *text);

/* Prints text safe for a terminal: control characters, line ends, controls of the writing direction and invalid UTF-8
 * become question marks. */
void plain_print_text(const char *text);

/* Returns `status`, or 1 with a line on standard error if writing to standard output failed while it still has a
 * reader. */
int output_end(const char *tool, int status);

#endif

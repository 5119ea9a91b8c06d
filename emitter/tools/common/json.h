/* Text as JSON, on standard output, and whether all that was printed there arrived. */
#ifndef LIFELINE_TOOL_JSON_H
#define LIFELINE_TOOL_JSON_H

void json_print_text(const char *text);

/* The tool's exit status: `status`, or 1 with a line on standard error when standard output did not take everything. */
int output_end(const char *tool, int status);

#endif

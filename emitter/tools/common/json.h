/* Text as JSON, on standard output. */
#ifndef LIFELINE_TOOL_JSON_H
#define LIFELINE_TOOL_JSON_H

void json_print_text(const char *text);

#endif

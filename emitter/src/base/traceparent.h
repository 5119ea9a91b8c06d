/* Session IDs as text: W3C traceparents (lifeline/session.h), and the `session` of a context. */
#ifndef LIFELINE_TRACEPARENT_H
#define LIFELINE_TRACEPARENT_H

#include <lifeline/session.h>
#include <stdbool.h>
#include <stddef.h>

#define LL_SESSION_ID_TEXT 33 /* with the NUL */

void ll_session_id_text(const uint8_t id[16], char text[LL_SESSION_ID_TEXT]);

/* True for 32 lower-case hexadecimal digits that are not all 0. */
bool ll_session_id_parse(const char *text, size_t bytes, uint8_t id[16]);

bool ll_session_id_is_zero(const uint8_t id[16]);

/* The session that a context "key=value,key=value" names, as text that is not NUL-terminated: any text, not only an
 * ID. NULL: none. */
const char *ll_session_in(const char *context, size_t *bytes);

#endif

#include "traceparent.h"

#include "bytes.h"

#include <errno.h>
#include <string.h>

/* version "-" trace-id "-" parent-id "-" trace-flags */
enum { TRACE_ID = 3, PARENT_ID = 36, FLAGS = 53, LENGTH = 55, SAMPLED = 1 };

static int digit_of(char letter) {
  static const char digits[] = "0123456789abcdef";
  const char *found = letter != '\0' ? strchr(digits, letter) : NULL;
  return found != NULL ? (int)(found - digits) : -1;
}

static bool get_hex(const char *text, size_t count, uint8_t *bytes) {
  for (size_t i = 0; i < count; i++) {
    int high = digit_of(text[2 * i]), low = high >= 0 ? digit_of(text[2 * i + 1]) : -1;
    if (low < 0) return false;
    bytes[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

static bool is_zero(const uint8_t *bytes, size_t count) {
  uint8_t any = 0;
  for (size_t i = 0; i < count; i++)
    any |= bytes[i];
  return any == 0;
}

bool ll_session_id_is_zero(const uint8_t id[16]) {
  return is_zero(id, 16);
}

void ll_session_id_text(const uint8_t id[16], char text[LL_SESSION_ID_TEXT]) {
  ll_hex(id, 16, text);
}

bool ll_session_id_parse(const char *text, size_t bytes, uint8_t id[16]) {
  return bytes == 32 && get_hex(text, 16, id) && !is_zero(id, 16);
}

const char *ll_session_in(const char *context, size_t *bytes) {
  static const char key[] = "session=";
  const size_t key_bytes = sizeof key - 1;
  const char *found = NULL;
  while (context != NULL && *context != '\0') {
    size_t length = strcspn(context, ",");
    if (strncmp(context, key, key_bytes) == 0) { /* the last one counts */
      found = context + key_bytes;
      *bytes = length - key_bytes;
    }
    context += length;
    if (*context == ',') context++;
  }
  return found;
}

static bool parse(const char *text, ll_session *session) {
  uint8_t version, flags;
  size_t length = strnlen(text, LENGTH + 1);
  if (length < LENGTH || !get_hex(text, 1, &version) || version == 0xff) return false;
  if (text[LENGTH] != '\0' && (version == 0 || text[LENGTH] != '-')) return false;
  if (text[TRACE_ID - 1] != '-' || text[PARENT_ID - 1] != '-' || text[FLAGS - 1] != '-') return false;
  if (!ll_session_id_parse(text + TRACE_ID, 32, session->id)) return false;
  if (!get_hex(text + PARENT_ID, 8, session->span) || is_zero(session->span, 8)) return false;
  if (!get_hex(text + FLAGS, 1, &flags)) return false;
  session->flags = flags & SAMPLED; /* the others have no meaning yet, and must not be passed on */
  return true;
}

int ll_traceparent_parse(const char *text, ll_session *session) {
  memset(session, 0, sizeof *session);
  if (text != NULL && parse(text, session)) return 0;
  memset(session, 0, sizeof *session);
  return EINVAL;
}

void ll_traceparent_format(const ll_session *session, char text[LL_TRACEPARENT_BYTES]) {
  memcpy(text, "00-", 3);
  ll_hex(session->id, 16, text + TRACE_ID);
  text[PARENT_ID - 1] = '-';
  ll_hex(session->span, 8, text + PARENT_ID);
  text[FLAGS - 1] = '-';
  ll_hex(&(uint8_t){session->flags & SAMPLED}, 1, text + FLAGS);
}

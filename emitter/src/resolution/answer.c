#include "answer.h"

#include "ring/own.h"

#include <lifeline/events.h>
#include <string.h>

static ll_value text(const char *of) {
  return (ll_value){.bytes = {of, strlen(of)}};
}

void ll_answer_start(const char *id, const char *line) {
  const ll_value values[] = {text(id), text(line)};
  ll_emit_own(&ll_type_lifeline_activation_start, values);
}

void ll_answer_end(const char *id, const char *reason) {
  const ll_value values[] = {text(id), text(reason)};
  ll_emit_own(&ll_type_lifeline_activation_end, values);
}

void ll_answer_refused(const char *id, const char *line, const char *reason) {
  const ll_value values[] = {text(id), text(line), text(reason)};
  ll_emit_own(&ll_type_lifeline_activation_refused, values);
}

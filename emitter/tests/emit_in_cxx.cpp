/* The header in C++17. */
#include "emit_in_cxx.h"

#include <string>

LL_EVENT(from_cxx, "test.from_cxx", LL_DEBUG, (string, text, ""), (bytes, blob, ""), (bool, yes, ""), (f32, real, ""));
LL_EVENT_CONST(fixed_in_cxx, "test.fixed_in_cxx", LL_WARN, ((string, language, "", "C++"), (f64, ratio, "", 0.5)),
               (i64, value, ""));

void emit_in_cxx(void) {
  const std::string text = "seventeen";
  ll_emit(from_cxx, text.c_str(), (ll_bytes{text.data(), 3}), true, 1.5f);
  ll_emit(fixed_in_cxx, -17);
  ll_emit(shared, 2);
}

/* One use of everything that the public headers generate, for compilers with strict warnings. */
#include <lifeline/caliper.h>
#include <lifeline/dynamic.h>
#include <lifeline/events.h>
#include <lifeline/lifeline.h>
#include <lifeline/session.h>

LL_EVENT(fixed, "headers.fixed", LL_INFO, (i32, a, ""), (i64, b, ""), (u32, c, ""), (u64, d, ""), (bool, e, ""));
LL_EVENT(varied, "headers.varied", LL_INFO, (f32, a, ""), (f64, b, ""), (string, c, ""), (bytes, d, ""));
LL_EVENT_CONST(constant, "headers.constant", LL_INFO, ((u32, k, "", 4), (string, l, "", "text")), (i64, n, "B"));
LL_EVENT(empty, "headers.empty", LL_INFO);
LL_CALIPER(work, "headers.work", LL_INFO, "B");

void use(void);
void use(void) {
  ll_bytes bytes = {"x", 1};
  ll_operation begun = ll_begin(work);
  ll_emit(fixed, -1, -2, 3, 4, true);
  ll_emit(varied, 1.5f, 2.5, "text", bytes);
  ll_emit(constant, 5);
  if (ll_event_is_on(empty)) ll_emit(empty);
  ll_end(work, begun, 1);
}

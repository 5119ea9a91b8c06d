#include <lifeline/caliper.h>
#include <lifeline/dynamic.h>
#include <lifeline/lifeline.h>

LL_EVENT(hello, "consumer.hello", LL_INFO, (string, language, ""), (u32, answer, ""), (bool, yes, ""));
LL_CALIPER(greeting, "consumer.greeting", LL_INFO, "B");

int main() {
  ll_operation operation = ll_begin(greeting);
  ll_emit(hello, "C++", 42, true);
  ll_end(greeting, operation, 3);
  return ll_flush(5000);
}

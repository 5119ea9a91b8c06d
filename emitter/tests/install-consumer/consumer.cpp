#include <lifeline/lifeline.h>

LL_EVENT(hello, "consumer.hello", LL_INFO, (string, language, ""), (u32, answer, ""), (bool, yes, ""));

int main() {
  ll_emit(hello, "C++", 42, true);
  return ll_flush(5000);
}

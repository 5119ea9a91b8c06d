// Emits before main, in it, from a thread's destructor and behind it.
#include <lifeline/lifeline.h>

#include <cstdlib>
#include <thread>

LL_EVENT(serial, "test.serial", LL_INFO, (u64, serial, ""), (u32, pid, ""));

namespace {

struct AroundMain {
  AroundMain() { ll_emit(serial, 1, 0); }
  ~AroundMain() { ll_emit(serial, 5, 0); }
};

struct OfThread {
  bool used = false;
  ~OfThread() { ll_emit(serial, 4, 0); }
};

AroundMain around;
thread_local OfThread of_thread;

} // namespace

int main() {
  ll_emit(serial, 2, 0);
  std::thread([] {
    of_thread.used = true;
    ll_emit(serial, 3, 0);
  }).join();
  return 0;
}

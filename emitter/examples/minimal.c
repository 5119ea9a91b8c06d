/* The smallest complete example: a thousand sums, with an event at the beginning and one at the end of each. README.md
 * shows and runs it.
 *
 *   LIFELINE_URL=file:///tmp/work.llb ./lifeline-minimal && lifeline-cat --format bp /tmp/work.llb
 */
#include <lifeline/lifeline.h>

LL_EVENT(work_start, "work.start", LL_INFO, (u64, id, ""));
LL_EVENT(work_end, "work.end", LL_INFO, (u64, id, ""), (f64, result, ""));

int main(void) {
  for (uint64_t id = 0; id < 1000; id++) {
    double sum = 0;
    ll_emit(work_start, id);
    for (int n = 1; n < 10000; n++)
      sum += 1.0 / n / n;
    ll_emit(work_end, id, sum);
  }
}

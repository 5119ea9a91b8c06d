/* The smallest complete example: ten squares become ten events.
 *
 *   LIFELINE_URL=file:///tmp/squares.llb ./lifeline-minimal && lifeline-cat /tmp/squares.llb
 */
#include <lifeline/lifeline.h>

LL_EVENT(square, "example.square", LL_INFO, (i32, number, ""), (f64, result, ""));

int main(void) {
  for (int i = 1; i <= 10; i++)
    ll_emit(square, i, (double)i * i);
  return 0;
}

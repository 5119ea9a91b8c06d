/* For commands: descriptors 0 to 2 that were closed at the start stay unusable, instead of becoming a file or socket
 * that output reaches. */
#include "base/low.h"

__attribute__((constructor)) static void fill(void) {
  ll_low_fill();
}

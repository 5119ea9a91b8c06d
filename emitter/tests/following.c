#include "following.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

LL_EVENT(number, "test.number", LL_INFO, (u64, value, ""));

enum { LOOK_MS = 20 };

ll_statistics test_statistics(void) {
  ll_statistics now = {.size = sizeof now};
  REQUIRE(ll_flush(TEST_PATIENCE_MS) == 0);
  ll_stats(&now);
  return now;
}

bool test_emits_numbers(void) {
  uint64_t before = test_statistics().emitted;
  ll_emit(number, 0);
  return test_statistics().emitted > before;
}

bool test_becomes(bool (*condition)(void), bool wanted) {
  for (int i = 0; i < TEST_PATIENCE_MS / LOOK_MS; i++) {
    if (condition() == wanted) return true;
    usleep(LOOK_MS * 1000);
  }
  return false;
}

void test_write(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  REQUIRE(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  close(fd);
}

void test_forget_rules(void) {
  static const char *const variables[] = {"RESOLUTION", "TRIGGERS", "NEVER", "MAX_FOR", "MAX_RATE", "ROUTES"};
  char name[64];
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    snprintf(name, sizeof name, "LIFELINE_%s", variables[i]);
    unsetenv(name);
  }
}

/* For tests that run in a child: checks that end it with a line, and waits for work that the harvester does once a
 * second. */
#ifndef LIFELINE_TEST_FOLLOWING_H
#define LIFELINE_TEST_FOLLOWING_H

#include "support.h"

#include <lifeline/lifeline.h>
#include <stdio.h>
#include <unistd.h>

/* A failed check ends the child, and prints its line. */
#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                          \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)

#define BECOMES(condition, wanted) REQUIRE(test_becomes(condition, wanted))

/* Waits until the condition has the wanted value. False after TEST_PATIENCE_MS. */
bool test_becomes(bool (*condition)(void), bool wanted);

/* All counters, after a flush. */
ll_statistics test_statistics(void);

/* Emits test.number. True if it was counted as emitted. */
bool test_emits_numbers(void);

void test_write(const char *path, const char *text);

/* Unsets LIFELINE_TRIGGERS and the other variables that control what is emitted. */
void test_forget_rules(void);

#endif

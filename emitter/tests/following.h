/* For what runs in a child of the test: checks that end it with a line, and waiting for what the harvester does once
 * per second. */
#ifndef LIFELINE_TEST_FOLLOWING_H
#define LIFELINE_TEST_FOLLOWING_H

#include "support.h"

#include <lifeline/lifeline.h>
#include <stdio.h>
#include <unistd.h>

/* A check that fails ends the child, and says where. */
#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                          \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)

#define BECOMES(condition, wanted) REQUIRE(test_becomes(condition, wanted))

/* True once the condition is as it is wanted; false when it is not within a minute. */
bool test_becomes(bool (*condition)(void), bool wanted);

/* All counters, after a flush. */
ll_statistics test_statistics(void);

/* Emits test.number, and says whether that made a difference. */
bool test_emits_numbers(void);

void test_write(const char *path, const char *text);

/* LIFELINE_TRIGGERS and the other variables that say what is emitted are not set any more. */
void test_forget_rules(void);

#endif

/* Declared in a header, so in each file that includes it; still a single event type. */
#ifndef LIFELINE_TEST_EMIT_IN_CXX_H
#define LIFELINE_TEST_EMIT_IN_CXX_H

#include <lifeline/lifeline.h>

LL_EVENT(shared, "test.shared", LL_INFO, (u32, number, ""));

#ifdef __cplusplus
extern "C"
#endif
    void
    emit_in_cxx(void);

#endif

/* Included before everything else in the sources that the explorer (test_orders.c) is built of: each atomic access,
 * also of the inlined half of an emit, passes a gate first, at which the explorer may stop the thread. */
#ifndef LIFELINE_TEST_GATES_H
#define LIFELINE_TEST_GATES_H

#ifdef __cplusplus
#error "the explorer is written in C"
#endif

void test_gate(void);

/* A macro's own name is not expanded again. */
#define __atomic_load_n(...) (test_gate(), __atomic_load_n(__VA_ARGS__))
#define __atomic_store_n(...) (test_gate(), __atomic_store_n(__VA_ARGS__))
#define __atomic_fetch_add(...) (test_gate(), __atomic_fetch_add(__VA_ARGS__))
#define __atomic_fetch_sub(...) (test_gate(), __atomic_fetch_sub(__VA_ARGS__))
#define __atomic_exchange_n(...) (test_gate(), __atomic_exchange_n(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) (test_gate(), __atomic_compare_exchange_n(__VA_ARGS__))

/* In lock.c: a thread that has to wait for the lock lets the other one go on first. */
#ifdef TEST_GATED_LOCK
#define pthread_mutex_lock test_gated_lock
#endif

#endif

/* Descriptors 0 to 2 belong to the program, also while they are closed: what it prints must not reach a file or socket
 * of this library. While something is opened, closed ones are occupied by descriptors that refuse to be read or written
 * (O_PATH), with the same error as closed ones. */
#ifndef LIFELINE_LOW_H
#define LIFELINE_LOW_H

/* Bitmap of the numbers that were occupied. */
typedef unsigned ll_low;

/* Any thread, async-signal-safe, keep errno. Between the two, functions of other libraries may open descriptors, too.
 * Released numbers are closed again. */
ll_low ll_low_hold(void);
void ll_low_release(ll_low held);

/* Occupies closed ones for good: for commands, and for client libraries that open descriptors at any time. */
void ll_low_fill(void);

/* Moves the descriptor above 2 if another thread has released that number meanwhile. */
int ll_low_above(int fd);

/* The value of an expression that opens a descriptor, which is above 2. */
#define LL_ABOVE_2(open)                                                                                               \
  __extension__({                                                                                                      \
    ll_low ll_held = ll_low_hold();                                                                                    \
    int ll_fd = ll_low_above(open);                                                                                    \
    ll_low_release(ll_held);                                                                                           \
    ll_fd;                                                                                                             \
  })

#define ll_open(...) LL_ABOVE_2(open(__VA_ARGS__))
#define ll_openat(...) LL_ABOVE_2(openat(__VA_ARGS__))
#define ll_socket(...) LL_ABOVE_2(socket(__VA_ARGS__))

/* The value of any other expression that opens descriptors, for a moment. */
#define LL_HOLDING_LOW(expression)                                                                                     \
  __extension__({                                                                                                      \
    ll_low ll_held = ll_low_hold();                                                                                    \
    __typeof__(expression) ll_value = (expression);                                                                    \
    ll_low_release(ll_held);                                                                                           \
    ll_value;                                                                                                          \
  })

#endif

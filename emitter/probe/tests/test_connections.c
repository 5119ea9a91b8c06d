/* What tcp_sample makes of connections that end while it works: real sockets of this process. */
#include "connections/tcp.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static void connect_pair(int pair[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t bytes = sizeof address;
  int listening = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(bind(listening, (struct sockaddr *)&address, bytes), 0);
  assert_int_equal(listen(listening, 1), 0);
  assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &bytes), 0);
  pair[0] = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(connect(pair[0], (struct sockaddr *)&address, bytes), 0);
  pair[1] = accept(listening, NULL, NULL);
  assert_true(pair[1] >= 0);
  close(listening);
}

static targets this_process(void) {
  static uint32_t own;
  own = (uint32_t)getpid();
  return (targets){.proc = open("/proc", O_RDONLY | O_DIRECTORY),
                   .sys = open("/sys", O_RDONLY | O_DIRECTORY),
                   .choice = {.pids = &own, .pid_count = 1},
                   .periods_ns = {SECOND, SECOND, SECOND}};
}

/* Both ends of a connection, which are known from then on. */
static void find_pair(tcp *all, targets *chosen, int pair[2]) {
  all->targets = chosen;
  connect_pair(pair);
  assert_true(targets_refresh(chosen, NULL, 0, 1000 * SECOND));
  assert_true(tcp_sample(all, 1000 * SECOND));
  assert_int_equal(all->opened, 2);
}

static void a_connection_that_ends_just_before_a_list_keeps_its_last_values(void **state) {
  targets chosen = this_process();
  static tcp all;
  int pair[2];
  (void)state;
  find_pair(&all, &chosen, pair);
  if (all.spaces.all[0].ends < 0) skip(); /* without CAP_NET_ADMIN */
  close(pair[0]);
  close(pair[1]);
  assert_true(tcp_sample(&all, 2000 * SECOND));
  for (int i = 0; i < 3000 && all.last_looks < 2; i++) {
    tcp_read_ends(&all);
    usleep(10000);
  }
  assert_int_equal(all.last_looks, 2);
  assert_int_equal(all.closed, 2);
  tcp_close(&all);
  targets_free(&chosen);
}

static void a_connection_whose_end_cannot_be_notified_is_forgotten_at_once(void **state) {
  targets chosen = this_process();
  static tcp all;
  int pair[2];
  (void)state;
  find_pair(&all, &chosen, pair);
  if (all.spaces.all[0].ends >= 0) close(all.spaces.all[0].ends);
  all.spaces.all[0].ends = -1; /* as without CAP_NET_ADMIN */
  close(pair[0]);
  close(pair[1]);
  for (uint64_t i = 0; i < 3000 && all.table.count > 0; i++) {
    tcp_sample(&all, 2000 * SECOND + i * SECOND / 1000);
    usleep(10000);
  }
  assert_int_equal(all.closed, 2);
  tcp_close(&all);
  targets_free(&chosen);
}

int main(void) {
  ll_options options = LL_OPTIONS_INIT;
  options.url = "null:";
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_connection_that_ends_just_before_a_list_keeps_its_last_values),
      cmocka_unit_test(a_connection_whose_end_cannot_be_notified_is_forgotten_at_once),
  };
  return ll_init(&options) != 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}

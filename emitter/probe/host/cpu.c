#include "host.h"

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"

#include <lifeline/events.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

static uint64_t to_ms(uint64_t ticks) {
  static uint64_t hz;
  if (hz == 0) hz = (uint64_t)sysconf(_SC_CLK_TCK);
  return ticks / hz * 1000 + ticks % hz * 1000 / hz;
}

/* "cpu3 user nice system idle iowait irq softirq steal guest guest_nice"; guests are part of user. Old kernels have
 * fewer columns. */
static bool emit_line(char *line) {
  enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COLUMNS };
  uint64_t ticks[COLUMNS] = {0};
  uint64_t number = 0;
  char *name = text_word(&line), *digits = name + strlen("cpu");
  bool all = *digits == '\0';
  if (!all && (!text_number(&digits, &number) || number > INT32_MAX)) return false;
  if (text_numbers(&line, ticks, COLUMNS) <= IDLE) return false;
  ll_emit(host_cpu, all ? -1 : (int32_t)number, to_ms(ticks[USER] + ticks[NICE]),
          to_ms(ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ]), to_ms(ticks[IDLE]), to_ms(ticks[IOWAIT]),
          to_ms(ticks[STEAL]));
  return true;
}

bool host_cpu_sample(void *ctx, uint64_t now_ns) {
  static kernel_file file = {"stat", -1};
  const host *from = ctx;
  (void)now_ns;
  if (!ll_event_is_on(host_cpu)) return true;
  char *text = file_read_again(from->proc, &file);
  if (text == NULL) {
    SAY_ONCE("/proc/stat cannot be read: %s; host.cpu is not emitted", strerror(errno));
    return false;
  }
  bool good = false;
  for (char *line; (line = text_line(&text)) != NULL && strncmp(line, "cpu", 3) == 0;)
    good = emit_line(line);
  return good;
}

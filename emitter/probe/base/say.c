#include "say.h"

#include <stdarg.h>
#include <stdio.h>

/* Names of programs and devices are data: their control characters must not reach a terminal. */
void say(const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  for (char *at = line; *at; at++)
    if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = '?';
  fprintf(stderr, "lifeline-probe: %s\n", line);
}

#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

void failure_set(struct failure *failure, const char *format, ...) {
  pthread_mutex_lock(&failure->lock);
  if (!failure->set) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
    failure->set = true;
  }
  pthread_mutex_unlock(&failure->lock);
}

bool failure_is_set(struct failure *failure) {
  pthread_mutex_lock(&failure->lock);
  bool set = failure->set;
  pthread_mutex_unlock(&failure->lock);
  return set;
}

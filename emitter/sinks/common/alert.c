#include "alert.h"

#include <stddef.h>
#include <string.h>

sink_alert sink_alert_read(const char *text) {
  static const char *const about_certificate[] = {"certificate", "unknown ca", "access denied", "handshake failure"};
  const char *alert = strstr(text, " alert ");
  if (!alert) return SINK_ALERT_NONE;
  for (size_t i = 0; i < sizeof about_certificate / sizeof *about_certificate; i++)
    if (strstr(alert, about_certificate[i])) return SINK_ALERT_CERTIFICATE;
  return SINK_ALERT_OTHER;
}

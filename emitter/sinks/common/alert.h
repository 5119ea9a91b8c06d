/* Classifies a server's TLS alert by OpenSSL's text, the only form in which librdkafka and nats.c report it. */
#ifndef LIFELINE_SINK_ALERT_H
#define LIFELINE_SINK_ALERT_H

typedef enum sink_alert {
  SINK_ALERT_NONE,        /* the text is not about an alert */
  SINK_ALERT_CERTIFICATE, /* the server requires a client certificate, or another one */
  SINK_ALERT_OTHER,       /* for instance an internal error of a busy server: retry */
} sink_alert;

sink_alert sink_alert_read(const char *text);

#endif

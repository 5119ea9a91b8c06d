/* What a server's TLS alert is about, from OpenSSL's text for it: librdkafka and nats.c report nothing else. */
#ifndef LIFELINE_SINK_ALERT_H
#define LIFELINE_SINK_ALERT_H

typedef enum sink_alert {
  SINK_ALERT_NONE,        /* the text is not about an alert */
  SINK_ALERT_CERTIFICATE, /* the server wants a client certificate, or another one */
  SINK_ALERT_OTHER,       /* for instance an internal error of a busy server: worth another try */
} sink_alert;

sink_alert sink_alert_read(const char *text);

#endif

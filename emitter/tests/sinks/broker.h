/* A real broker for a test, by scripts/broker, in a directory of its own. */
#ifndef LIFELINE_TEST_BROKER_H
#define LIFELINE_TEST_BROKER_H

#include <stdbool.h>

typedef struct broker {
  char directory[64];
  int pid;
  char url[256]; /* without credentials or TLS */
  char tls_url[256];
  char ca[128];          /* "" without --tls */
  char certificate[128]; /* client certificate; it and key are "" without --mtls */
  char key[128];
  char user[64]; /* user with all rights; "" without --auth, like the next three */
  char password_file[128];
  char emitter[64]; /* user who may only publish batches and read control */
  char emitter_password_file[128];
} broker;

/* options are those of scripts/broker: "--tls --auth". The broker ends with this process at the latest. Fails the test
 * if it does not start. */
void broker_start(broker *b, const char *kind, const char *options);
void broker_again(broker *b, const char *kind); /* same port, same data */
void broker_kill(broker *b);                    /* SIGKILL */
void broker_pause(broker *b);                   /* SIGSTOP: it stops answering, and connections stay open */
void broker_resume(broker *b);
void broker_stop(broker *b); /* also removes the directory */

int broker_port(const broker *b);

/* Replaces a text in the configuration of NATS, and makes the server reload it. */
void broker_reconfigure(broker *b, const char *from, const char *to);

/* Runs lifeline-setup on it with these arguments. Returns the exit status; output has both streams. */
int broker_setup(const char *url, const char *arguments, char *output, int output_bytes);

/* The same for the other tools. */
int broker_activate(const char *url, const char *arguments, char *output, int output_bytes);
int broker_doctor(const char *url, const char *arguments, char *output, int output_bytes);

/* Sets LIFELINE_USER and the like for what follows; NULL unsets. */
void broker_credentials(const char *user, const char *password_file, const char *ca);
void broker_client_certificate(const char *certificate, const char *key);

#endif

#include "broker.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

__attribute__((format(printf, 3, 4))) static int run(char *output, int output_bytes, const char *format, ...) {
  char command[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(command, sizeof command, format, args);
  va_end(args);
  FILE *pipe = popen(command, "r");
  if (!pipe) return -1;
  size_t used = fread(output, 1, (size_t)output_bytes - 1, pipe);
  output[used] = 0;
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_value(const char *file, const char *key, char *value, size_t bytes) {
  const char *at = strstr(file, key);
  *value = 0;
  if (at) snprintf(value, bytes, "%.*s", (int)strcspn(at + strlen(key), "\n"), at + strlen(key));
}

static void read_environment(broker *b) {
  char output[4096];
  char pid[32];
  assert_int_equal(run(output, sizeof output, "cat %s/broker.env", b->directory), 0);
  read_value(output, "LIFELINE_BROKER_PID=", pid, sizeof pid);
  b->pid = atoi(pid);
  read_value(output, "LIFELINE_BROKER_URL=", b->url, sizeof b->url);
  read_value(output, "\nLIFELINE_URL=", b->tls_url, sizeof b->tls_url);
  read_value(output, "LIFELINE_TLS_CA=", b->ca, sizeof b->ca);
  read_value(output, "LIFELINE_TLS_CERT=", b->certificate, sizeof b->certificate);
  read_value(output, "LIFELINE_TLS_KEY=", b->key, sizeof b->key);
  read_value(output, "LIFELINE_USER=", b->user, sizeof b->user);
  read_value(output, "LIFELINE_PASSWORD_FILE=", b->password_file, sizeof b->password_file);
  read_value(output, "LIFELINE_EMITTER_USER=", b->emitter, sizeof b->emitter);
  read_value(output, "LIFELINE_EMITTER_PASSWORD_FILE=", b->emitter_password_file, sizeof b->emitter_password_file);
}

void broker_start(broker *b, const char *kind, const char *options) {
  char output[4096];
  *b = (broker){.directory = "/tmp/lifeline-sink-test-XXXXXX"};
  assert_non_null(mkdtemp(b->directory));
  if (run(output, sizeof output, "'" BROKER_SCRIPT "' start %s --dir %s --owner %d %s 2>&1", kind, b->directory,
          (int)getpid(), options) != 0)
    fail_msg("the broker does not start: %s", output);
  read_environment(b);
}

void broker_again(broker *b, const char *kind) {
  char output[4096];
  if (run(output, sizeof output, "'" BROKER_SCRIPT "' start %s --dir %s --owner %d 2>&1", kind, b->directory,
          (int)getpid()) != 0)
    fail_msg("the broker does not start again: %s", output);
  read_environment(b);
}

static void tell(const broker *b, const char *action) {
  char output[4096];
  if (run(output, sizeof output, "'" BROKER_SCRIPT "' %s --dir %s 2>&1", action, b->directory) != 0)
    fail_msg("the broker does not %s: %s", action, output);
}

void broker_kill(broker *b) {
  tell(b, "kill");
}

void broker_pause(broker *b) {
  tell(b, "pause");
}

void broker_resume(broker *b) {
  tell(b, "resume");
}

void broker_stop(broker *b) {
  char output[4096];
  run(output, sizeof output, "'" BROKER_SCRIPT "' stop --dir %s 2>&1; rm -rf %s", b->directory, b->directory);
}

int broker_port(const broker *b) {
  return atoi(strrchr(b->url, ':') + 1);
}

void broker_reconfigure(broker *b, const char *from, const char *to) {
  char output[4096];
  if (run(output, sizeof output, "cd %s && grep -qF -- '%s' nats.conf && sed -i 's|%s|%s|' nats.conf 2>&1",
          b->directory, from, from, to) != 0)
    fail_msg("the configuration has no %s: %s", from, output);
  kill(b->pid, SIGHUP);
}

int broker_setup(const char *url, const char *arguments, char *output, int output_bytes) {
  return run(output, output_bytes, "'" SETUP_TOOL "' --url '%s' %s 2>&1", url, arguments);
}

int broker_activate(const char *url, const char *arguments, char *output, int output_bytes) {
  return run(output, output_bytes, "'" ACTIVATE_TOOL "' --url '%s' %s 2>&1", url, arguments);
}

int broker_doctor(const char *url, const char *arguments, char *output, int output_bytes) {
  return run(output, output_bytes, "'" DOCTOR_TOOL "' --url '%s' %s 2>&1", url, arguments);
}

static void set_or_unset(const char *name, const char *value) {
  if (value && *value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

void broker_credentials(const char *user, const char *password_file, const char *ca) {
  set_or_unset("LIFELINE_USER", user);
  set_or_unset("LIFELINE_PASSWORD_FILE", password_file);
  set_or_unset("LIFELINE_TLS_CA", ca);
}

void broker_client_certificate(const char *certificate, const char *key) {
  set_or_unset("LIFELINE_TLS_CERT", certificate);
  set_or_unset("LIFELINE_TLS_KEY", key);
}

#include "names.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const reasons[KERNEL_REASONS] = {
    [KERNEL_REASON_OTHER] = "other",   [KERNEL_REASON_DISK] = "disk",       [KERNEL_REASON_NETWORK] = "network",
    [KERNEL_REASON_LOCAL] = "local",   [KERNEL_REASON_PIPE] = "pipe",       [KERNEL_REASON_DEVICE] = "device",
    [KERNEL_REASON_LOCK] = "lock",     [KERNEL_REASON_SLEEP] = "sleep",     [KERNEL_REASON_POLL] = "poll",
    [KERNEL_REASON_CHILD] = "child",   [KERNEL_REASON_SIGNAL] = "signal",   [KERNEL_REASON_URING] = "uring",
    [KERNEL_REASON_KERNEL] = "kernel", [KERNEL_REASON_STOPPED] = "stopped", [KERNEL_REASON_UNKNOWN] = "unknown",
};

const char *name_of_reason(unsigned reason) {
  return reasons[reason < KERNEL_REASONS ? reason : KERNEL_REASON_UNKNOWN];
}

const char *name_of_after(unsigned after) {
  return after == KERNEL_AFTER_PREEMPTION ? "preemption" : "wakeup";
}

const char *name_of_request(unsigned operation) {
  static const char *const names[] = {"read", "write", "flush", "discard"};
  return operation <= KERNEL_REQUEST_DISCARD ? names[operation] : "other";
}

const char *name_of_operation(unsigned operation, char *name, size_t name_bytes) {
  static const char *const targets[KERNEL_TARGETS] = {"other", "disk", "net", "local", "pipe", "device"};
  static const char *const verbs[KERNEL_VERBS] = {"other", "read", "write", "sync", "connect", "accept", "poll"};
  static const char *const socket_verbs[KERNEL_VERBS] = {"other",   "receive", "send", "sync",
                                                         "connect", "accept",  "poll"};
  unsigned target = operation / KERNEL_VERBS, verb = operation % KERNEL_VERBS;
  if (target >= KERNEL_TARGETS) target = KERNEL_TARGET_OTHER;
  bool is_socket = target == KERNEL_TARGET_NET || target == KERNEL_TARGET_LOCAL;
  if (verb == KERNEL_VERB_POLL)
    snprintf(name, name_bytes, "wait.poll");
  else
    snprintf(name, name_bytes, "%s.%s", targets[target], (is_socket ? socket_verbs : verbs)[verb]);
  return name;
}

const char *name_of_device(unsigned device, char *name, size_t name_bytes) {
  snprintf(name, name_bytes, "%u:%u", device >> 20, device & 0xfffff);
  return name;
}

const char *name_of_end(const struct kernel_end *end, char *name, size_t name_bytes) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
  char text[INET6_ADDRSTRLEN] = "";
  if (memcmp(end->address, mapped, sizeof mapped) == 0) {
    inet_ntop(AF_INET, end->address + sizeof mapped, text, sizeof text);
    snprintf(name, name_bytes, "%s:%u", text, end->port);
  } else {
    inet_ntop(AF_INET6, end->address, text, sizeof text);
    snprintf(name, name_bytes, "[%s]:%u", text, end->port);
  }
  return name;
}

const char *name_of_program(const char program[16], char name[17]) {
  size_t length = strnlen(program, 16);
  for (size_t i = 0; i < length; i++)
    name[i] = program[i] >= ' ' && program[i] <= '~' ? program[i] : '?';
  name[length] = '\0';
  return name;
}

#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[IO_KINDS][IO_WAYS] = {
    [IO_DISK] = {"disk.read", "disk.write", "disk.sync", NULL, NULL},
    [IO_NET] = {"net.receive", "net.send", NULL, "net.connect", "net.accept"},
    [IO_PIPE] = {"pipe.read", "pipe.write", NULL, NULL, NULL},
    [IO_OTHER] = {"other.read", "other.write", NULL, NULL, NULL},
};

const char *io_caliper_name(io_kind kind, io_way way) {
  return names[kind][way];
}

/* A word names a caliper, or all of a kind: "net" is "net.*". */
static bool fits(const char *word, size_t bytes, const char *name) {
  return strncmp(word, name, bytes) == 0 && (name[bytes] == '\0' || name[bytes] == '.');
}

static bool choose(io_settings *settings, const char *word, size_t bytes) {
  bool all = bytes == 3 && strncmp(word, "all", 3) == 0, known = all;
  bool sync = bytes == 5 && strncmp(word, "fsync", 5) == 0;
  for (int kind = 1; kind < IO_KINDS; kind++)
    for (int way = 0; way < IO_WAYS; way++) {
      if (names[kind][way] == NULL) continue;
      if (!all && !fits(word, bytes, names[kind][way]) && !(sync && way == IO_SYNC)) continue;
      settings->measured[kind][way] = known = true;
    }
  if (!all && !fits(word, bytes, IO_WAIT_NAME)) return known;
  return settings->waits = true;
}

bool io_settings_for(io_settings *settings, const char *list, char *why, size_t why_bytes) {
  memset(settings->measured, 0, sizeof settings->measured);
  settings->waits = false;
  for (const char *word = list; *word != '\0';) {
    size_t bytes = strcspn(word, ",");
    if (bytes > 0 && !choose(settings, word, bytes)) {
      snprintf(
          why, why_bytes,
          "unknown operation \"%.*s\": it must be disk, net, pipe, other, wait, fsync, all or the name of a caliper",
          bytes < 40 ? (int)bytes : 40, word);
      return false;
    }
    word += bytes + (word[bytes] == ',');
  }
  return true;
}

bool io_settings_key(uint64_t key[2], const char *digits) {
  char half[17] = "", *end;
  if (strlen(digits) != 32 || strspn(digits, "0123456789abcdef") != 32) return false;
  for (int i = 0; i < 2; i++) {
    memcpy(half, digits + i * 16, 16);
    key[i] = strtoull(half, &end, 16);
  }
  return true;
}

static bool load_names(io_settings *settings, const char *word, const char *key, char *why, size_t why_bytes) {
  static const char *const words[] = {"full", "hash", "none"};
  for (unsigned i = 0; i < 3; i++)
    if (strcmp(word, words[i]) == 0) {
      settings->names = (io_names)i;
      if (i != IO_NAMES_HASH || (key != NULL && io_settings_key(settings->key, key))) return true;
      snprintf(why, why_bytes, "LIFELINE_RUN_KEY must be 32 hexadecimal digits");
      return false;
    }
  snprintf(why, why_bytes, "LIFELINE_RUN_NAMES must be full, hash or none");
  return false;
}

/* A list that does not fit must not end as names that are not hidden. */
static bool load_redact(io_settings *settings, const char *list, char *why, size_t why_bytes) {
  size_t bytes = strlen(list);
  if (bytes + 2 > sizeof settings->redact) {
    snprintf(why, why_bytes, "LIFELINE_RUN_REDACT is longer than %d bytes", IO_REDACT_BYTES - 2);
    return false;
  }
  char *to = settings->redact;
  for (const char *c = list; *c != '\0'; c++)
    if (*c != ':')
      *to++ = *c;
    else if (to > settings->redact && to[-1] != '\0')
      *to++ = '\0';
  to[0] = to[1] = '\0';
  return true;
}

bool io_settings_load(io_settings *settings, char *(*get)(const char *variable), char *why, size_t why_bytes) {
  memset(settings, 0, sizeof *settings);
  const char *url = get("LIFELINE_URL"), *lifeline = get("LIFELINE"), *list = get("LIFELINE_RUN_FOR");
  const char *word = get("LIFELINE_RUN_NAMES"), *redact = get("LIFELINE_RUN_REDACT"),
             *most = get("LIFELINE_RUN_TARGETS");
  settings->targets = IO_TARGETS_DEFAULT;
  if (url == NULL || *url == '\0' || (lifeline != NULL && strcmp(lifeline, "off") == 0)) return true;
  if (!io_settings_for(settings, list != NULL && *list != '\0' ? list : "all", why, why_bytes)) return false;
  if (word != NULL && *word != '\0' && !load_names(settings, word, get("LIFELINE_RUN_KEY"), why, why_bytes))
    return false;
  if (redact != NULL && !load_redact(settings, redact, why, why_bytes)) return false;
  if (most != NULL && *most != '\0') {
    char *end;
    unsigned long number = strtoul(most, &end, 10);
    if (*end != '\0' || *most < '0' || *most > '9' || number > IO_TARGETS_MOST) {
      snprintf(why, why_bytes, "LIFELINE_RUN_TARGETS must be a number from 0 to %d", IO_TARGETS_MOST);
      return false;
    }
    settings->targets = (uint32_t)number;
  }
  const char *page = get("LIFELINE_RUN_PAGE");
  if (page != NULL && strlen(page) < sizeof settings->page) strcpy(settings->page, page);
  return settings->on = true;
}

#include "tracepoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool tracefs_find(char *path, size_t path_bytes, char *why, size_t why_bytes) {
  char line[1024], where[512], type[64];
  FILE *mounts = fopen("/proc/self/mounts", "re");
  bool found = false;
  while (mounts != NULL && !found && fgets(line, sizeof line, mounts) != NULL)
    found = sscanf(line, "%*s %511s %63s", where, type) == 2 && strcmp(type, "tracefs") == 0 &&
            snprintf(path, path_bytes, "%s", where) < (int)path_bytes;
  if (mounts != NULL) fclose(mounts);
  if (!found) snprintf(why, why_bytes, "tracefs is not mounted: mount -t tracefs none /sys/kernel/tracing");
  return found;
}

static bool read_file(const char *path, char *text, size_t bytes, char *why, size_t why_bytes) {
  FILE *file = fopen(path, "re");
  size_t length = file == NULL ? 0 : fread(text, 1, bytes - 1, file);
  if (length == 0) snprintf(why, why_bytes, "%s cannot be read: %s", path, strerror(errno));
  if (file != NULL) fclose(file);
  text[length] = '\0';
  return length > 0;
}

/* A line of the description: "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;". */
static bool find_field(const char *text, tracepoint_field *field) {
  size_t length = strlen(field->name);
  for (const char *at = text; (at = strstr(at, field->name)) != NULL; at += length) {
    unsigned offset, bytes;
    if (at == text || at[-1] != ' ' || sscanf(at + length, "; offset:%u; size:%u;", &offset, &bytes) != 2) continue;
    field->offset = (uint16_t)offset;
    field->bytes = (uint16_t)bytes;
    return offset < 4096 && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  }
  return false;
}

bool tracepoint_read(const char *tracefs, const char *name, uint64_t *id, tracepoint_field *fields, unsigned count,
                     char *why, size_t why_bytes) {
  char path[1024], text[8192];
  unsigned long long number;
  snprintf(path, sizeof path, "%s/events/%s/id", tracefs, name);
  if (!read_file(path, text, sizeof text, why, why_bytes) || sscanf(text, "%llu", &number) != 1) return false;
  snprintf(path, sizeof path, "%s/events/%s/format", tracefs, name);
  if (!read_file(path, text, sizeof text, why, why_bytes)) return false;
  *id = number;
  for (unsigned i = 0; i < count; i++) {
    if (find_field(text, &fields[i])) continue;
    snprintf(why, why_bytes, "the tracepoint %s has no field %s", name, fields[i].name);
    return false;
  }
  return true;
}

uint64_t tracepoint_value(const void *record, size_t bytes, const tracepoint_field *field) {
  const char *at = (const char *)record + field->offset;
  uint8_t one;
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  if ((size_t)field->offset + field->bytes > bytes) return 0;
  switch (field->bytes) {
  case 1: memcpy(&one, at, sizeof one); return one;
  case 2: memcpy(&two, at, sizeof two); return two;
  case 4: memcpy(&four, at, sizeof four); return four;
  default: memcpy(&eight, at, sizeof eight); return eight;
  }
}

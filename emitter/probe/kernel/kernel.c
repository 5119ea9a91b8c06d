#include "kernel.h"

#include "emit.h"
#include "family.h"
#include "load.h"
#include "source.h"

#include <errno.h>
#include <lifeline/lifeline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel {
  const kernel_source *source;
  void *opened;
  unsigned views;
  kernel_emitter emitter;
  family fresh; /* watched since the last kernel_watch_children */
};

static const struct {
  const char *name;
  unsigned view;
} names[] = {{"sched", KERNEL_SCHED},
             {"offcpu", KERNEL_OFFCPU},
             {"block", KERNEL_BLOCK},
             {"net", KERNEL_NET},
             {"syscalls", KERNEL_SYSCALLS}};
enum { NAMES = sizeof names / sizeof names[0] };

/* Lists are words with commas between them. */
static bool is_next_word(const char *list, const char *word) {
  size_t length = strcspn(list, ",");
  return strlen(word) == length && strncmp(list, word, length) == 0;
}

/* False: that was the last word. */
static bool skip_word(const char **list) {
  *list += strcspn(*list, ",");
  return *(*list)++ == ',';
}

unsigned kernel_views_of(const char *list) {
  unsigned views = 0;
  do {
    size_t i = 0;
    while (i < NAMES && !is_next_word(list, names[i].name))
      i++;
    if (i == NAMES) return 0;
    views |= names[i].view;
  } while (skip_word(&list));
  return views;
}

static bool is_wanted(const char *sources, const char *name) {
  if (sources == NULL) return true;
  do {
    if (is_next_word(sources, name)) return true;
  } while (skip_word(&sources));
  return false;
}

bool kernel_sources_are_valid(const char *list) {
  do {
    if (!is_next_word(list, "ebpf") && !is_next_word(list, "proc")) return false;
  } while (skip_word(&list));
  return true;
}

static void name_views(unsigned views, char *list, size_t list_bytes) {
  list[0] = '\0';
  for (size_t i = 0; i < NAMES; i++) {
    size_t used = strlen(list);
    if ((views & names[i].view) != 0)
      snprintf(list + used, list_bytes - used, "%s%s", used > 0 ? ", " : "", names[i].name);
  }
}

/* --- opening --- */

/* One line: which source is used, why no better one, what is missing. */
static void tell(void (*log)(const char *line), const kernel_source *source, unsigned missing, const char *why) {
  char line[1400], lost[64];
  name_views(missing, lost, sizeof lost);
  if (missing == 0 && why[0] == '\0') return;
  snprintf(line, sizeof line, "kernel events come from %s%s%s%s%s", source->name, missing != 0 ? ", without " : "",
           lost, why[0] != '\0' ? ": " : "", why);
  log(line);
}

static bool try_source(kernel *made, const kernel_source *source, unsigned views, char *why, size_t why_bytes) {
  char refused[512] = "";
  size_t used = strlen(why);
  unsigned can = views & source->views;
  if (source->abi != KERNEL_SOURCE_ABI || can == 0) return false;
  bool opened = source->open(&can, &made->opened, refused, sizeof refused) == 0;
  if (refused[0] != '\0')
    snprintf(why + used, why_bytes - used, "%s%s: %s", used > 0 ? "; " : "", source->name, refused);
  if (!opened) return false;
  made->source = source;
  made->views = can;
  return true;
}

int kernel_open(unsigned views, const char *sources, void (*log)(const char *line), kernel **opened) {
  char why[1200] = "";
  kernel *made = calloc(1, sizeof *made);
  if (made == NULL) return ENOMEM;
  if (is_wanted(sources, "ebpf")) {
    const kernel_source *ebpf = load_ebpf(why, sizeof why);
    if (ebpf != NULL) try_source(made, ebpf, views, why, sizeof why);
  }
  if (made->source == NULL && is_wanted(sources, "proc")) try_source(made, &kernel_proc, views, why, sizeof why);
  if (made->source == NULL) {
    char line[1400];
    snprintf(line, sizeof line, "there are no kernel events: %s", why[0] != '\0' ? why : "no source measures these");
    log(line);
    free(made);
    return EINVAL;
  }
  tell(log, made->source, views & ~made->views, why);
  emitter_open(&made->emitter, made->source->name, made->views);
  *opened = made;
  return 0;
}

/* --- processes --- */

int kernel_watch(kernel *on, uint32_t pid, const uint8_t *session) {
  uint32_t number;
  int error = on->source->watch(on->opened, pid, &number);
  if (error == 0) family_add(&on->fresh, pid);
  if (error != 0 && error != EEXIST) return error;
  emitter_set_session(&on->emitter, number, session);
  return 0;
}

static void watch_child(void *ctx, uint32_t pid, uint32_t parent) {
  kernel *on = ctx;
  struct kernel_process child = {.pid = pid};
  uint32_t number;
  int error = on->source->watch(on->opened, parent, &child.parent);
  if (error != 0 && error != EEXIST) return;
  error = on->source->watch(on->opened, pid, &number);
  if (error == 0 || error == EEXIST) emitter_process(&on->emitter, number, &child);
}

void kernel_watch_children(kernel *on) {
  if (on->fresh.count > 0) family_each_descendant(&on->fresh, watch_child, on);
  on->fresh.count = 0;
}

void kernel_forget(kernel *on, uint32_t pid) {
  on->source->forget(on->opened, pid);
}

/* --- measuring --- */

static kernel_taker taker_of(kernel *on) {
  return (kernel_taker){.process = emitter_process,
                        .ended = emitter_ended,
                        .sum = emitter_sum,
                        .single = emitter_single,
                        .ctx = &on->emitter};
}

void kernel_sample(kernel *on) {
  uint64_t lost[KERNEL_LOSSES] = {0};
  kernel_taker taker = taker_of(on);
  on->source->set_singles(on->opened, emitter_singles());
  emitter_begin(&on->emitter);
  on->source->read(on->opened, &taker);
  emitter_end(&on->emitter);
  on->source->losses(on->opened, lost);
  emitter_losses(&on->emitter, lost);
}

int kernel_descriptor(kernel *on) {
  return on->source->descriptor(on->opened);
}

void kernel_drain(kernel *on) {
  kernel_taker taker = taker_of(on);
  on->source->drain(on->opened, &taker);
}

void kernel_close(kernel *on) {
  if (on == NULL) return;
  kernel_drain(on);
  kernel_sample(on);
  on->source->close(on->opened);
  emitter_close(&on->emitter);
  family_free(&on->fresh);
  free(on);
}

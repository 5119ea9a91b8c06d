/* A sink for tests of the host with brokers in any mood: test:///path/of/file.llb?MOOD
 *
 *   later     writes, and acknowledges 3 ms afterwards from a thread of its own
 *   never     takes everything and acknowledges nothing
 *   busy      takes nothing
 *   refuse    refuses everything
 *   odd       refuses odd sequences, writes and acknowledges the others
 *   retry     asks for each batch a second time, then writes and acknowledges it
 *   small     like `odd` without refusals, but takes at most 8,000 bytes
 *   shy       like `tide`, but takes at most 330,000 bytes, and says so only once it was polled and was there
 *   sly       like `tide`, but takes at most 330,000 bytes, and says so only once it has refused a batch
 *   fail      says that no batch can ever be sent
 *   tide      takes nothing while the file <path>.away exists, then writes and acknowledges
 *   neap      like `tide`, but then refuses odd sequences
 *   wreck     like `tide`, but then refuses everything
 *   ebb       while that file exists, writes half of the batches, and asks to send all of them again
 */
#include "base/format.h"
#include "sink/sink.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAITING_MAX = 4096, SMALL_BYTES = 8000, SHY_BYTES = 330000 };

struct ll_sink {
  const ll_sink_host *host;
  char path[512];
  const char *mood;
  uint64_t asked[WAITING_MAX]; /* sequences that were sent back once */
  unsigned asked_count;
  pthread_t thread;
  pthread_mutex_t lock;
  uint64_t waiting[WAITING_MAX];
  unsigned waiting_count;
  bool closing;
  bool met; /* a shy one was polled while it was there, a sly one has refused a batch */
};

static void *acknowledge(void *of) {
  ll_sink *sink = of;
  bool closing = false;
  while (!closing) {
    usleep(3000);
    pthread_mutex_lock(&sink->lock);
    uint64_t tokens[WAITING_MAX];
    unsigned count = sink->waiting_count;
    memcpy(tokens, sink->waiting, count * sizeof tokens[0]);
    sink->waiting_count = 0;
    closing = sink->closing;
    pthread_mutex_unlock(&sink->lock);
    for (unsigned i = 0; i < count; i++)
      sink->host->done(sink->host->ctx, tokens[i], LL_SINK_ACKED, NULL);
  }
  return NULL;
}

/* Cuts off half a batch that a killed process has left, since a broker would not keep it. */
static void cut_off_what_is_torn(const char *path) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  off_t whole = 0, size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
  uint32_t length;
  while (whole < size &&
         pread(fd, &length, sizeof length, whole + (off_t)offsetof(ll_batch_head, total_bytes)) ==
             (ssize_t)sizeof length &&
         length > 0 && whole + (off_t)length <= size)
    whole += length;
  if (whole < size && ftruncate(fd, whole) != 0) abort();
  if (fd >= 0) close(fd);
}

static ll_sink *test_open(const ll_sink_host *host, char *error, size_t error_bytes) {
  const char *path = host->url + strlen("test://"), *mood = strchr(path, '?');
  if (mood == NULL) {
    snprintf(error, error_bytes, "the test sink has no mood");
    return NULL;
  }
  ll_sink *sink = calloc(1, sizeof *sink);
  if (sink == NULL) return NULL;
  sink->host = host;
  snprintf(sink->path, sizeof sink->path, "%.*s", (int)(mood - path), path);
  sink->mood = mood + 1;
  cut_off_what_is_torn(sink->path);
  pthread_mutex_init(&sink->lock, NULL);
  if (strcmp(sink->mood, "later") == 0) pthread_create(&sink->thread, NULL, acknowledge, sink);
  return sink;
}

static bool store(const ll_sink *sink, const uint8_t *batch, size_t bytes) {
  int fd = open(sink->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  bool written = fd >= 0 && write(fd, batch, bytes) == (ssize_t)bytes;
  close(fd);
  return written;
}

static bool was_asked(ll_sink *sink, uint64_t sequence) {
  for (unsigned i = 0; i < sink->asked_count; i++)
    if (sink->asked[i] == sequence) return true;
  sink->asked[sink->asked_count++ % WAITING_MAX] = sequence;
  return false;
}

static bool is_away(const ll_sink *sink) {
  char path[600];
  snprintf(path, sizeof path, "%s.away", sink->path);
  return access(path, F_OK) == 0;
}

static ll_sink_status test_send(ll_sink *sink, uint64_t token, const uint8_t *batch, size_t bytes, uint16_t route,
                                uint64_t sequence) {
  (void)route;
  const ll_sink_host *host = sink->host;
  ll_sink_outcome outcome = LL_SINK_ACKED;
  if (strcmp(sink->mood, "busy") == 0) return LL_SINK_BUSY;
  if (strcmp(sink->mood, "fail") == 0) return LL_SINK_FAILED;
  if (strcmp(sink->mood, "never") == 0) return LL_SINK_OK;
  bool wrecks = strcmp(sink->mood, "wreck") == 0, shy = strcmp(sink->mood, "shy") == 0;
  bool sly = strcmp(sink->mood, "sly") == 0;
  bool tidal = wrecks || shy || sly || strcmp(sink->mood, "tide") == 0 || strcmp(sink->mood, "neap") == 0;
  if ((tidal && is_away(sink)) || (shy && !sink->met)) return LL_SINK_BUSY;
  if (strcmp(sink->mood, "ebb") == 0 && is_away(sink)) {
    if (sequence % 2 == 0) store(sink, batch, bytes);
    outcome = LL_SINK_RETRY;
  }
  if (strcmp(sink->mood, "refuse") == 0 || wrecks ||
      (sequence % 2 == 1 && (strcmp(sink->mood, "odd") == 0 || strcmp(sink->mood, "neap") == 0)))
    outcome = LL_SINK_REFUSED;
  if (strcmp(sink->mood, "retry") == 0 && !was_asked(sink, sequence)) outcome = LL_SINK_RETRY;
  if (strcmp(sink->mood, "small") == 0 && bytes > SMALL_BYTES) outcome = LL_SINK_REFUSED;
  if ((shy || sly) && bytes > SHY_BYTES) outcome = LL_SINK_REFUSED;
  if (sly && bytes > SHY_BYTES) sink->met = true;
  if (outcome == LL_SINK_ACKED && !store(sink, batch, bytes)) return LL_SINK_BUSY;
  if (strcmp(sink->mood, "later") != 0) {
    host->done(host->ctx, token, outcome, "the test wants it so");
    return LL_SINK_OK;
  }
  pthread_mutex_lock(&sink->lock);
  sink->waiting[sink->waiting_count++] = token;
  pthread_mutex_unlock(&sink->lock);
  return LL_SINK_OK;
}

static void test_poll(ll_sink *sink, int timeout_ms) {
  (void)timeout_ms;
  if (strcmp(sink->mood, "shy") == 0 && !is_away(sink)) sink->met = true;
}

static size_t test_max_batch_bytes(ll_sink *sink) {
  if (strcmp(sink->mood, "shy") == 0) return sink->met ? SHY_BYTES : 0;
  if (strcmp(sink->mood, "sly") == 0 && sink->met) return SHY_BYTES;
  return strcmp(sink->mood, "small") == 0 ? SMALL_BYTES : LL_BATCH_MOST;
}

static void test_close(ll_sink *sink) {
  if (strcmp(sink->mood, "later") == 0) {
    pthread_mutex_lock(&sink->lock);
    sink->closing = true;
    pthread_mutex_unlock(&sink->lock);
    pthread_join(sink->thread, NULL);
  }
  free(sink);
}

__attribute__((visibility("default"))) const ll_sink_plugin LL_SINK_ENTRY = {
    .abi = LL_SINK_ABI,
    .scheme = "test",
    .open = test_open,
    .send = test_send,
    .poll = test_poll,
    .max_batch_bytes = test_max_batch_bytes,
    .close = test_close,
};

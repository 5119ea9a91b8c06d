#include "send.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block_queue.h"
#include "crc32c.h"
#include "emit.h"
#include "endpoint.h"
#include "failure.h"
#include "report.h"
#include "wire.h"

struct sender {
  const struct options *options;
  struct block_queue *queue;
  struct failure failure;
  int socket;
  uint64_t transfer; /* upper half of every block's id */
  uint64_t next_block;
  uint64_t bytes_expected;
  uint64_t bytes_read;
};

/* The path as it travels: relative, without "./" before it. */
static const char *wire_path(const char *path) {
  while (path[0] == '/' || (path[0] == '.' && path[1] == '/'))
    path++;
  return path;
}

static bool check_file(struct sender *sender, const char *path) {
  struct stat status;
  if (stat(path, &status) != 0)
    failure_set(&sender->failure, "cannot send %s: %s", path, strerror(errno));
  else if (!S_ISREG(status.st_mode))
    failure_set(&sender->failure, "cannot send %s: not a regular file", path);
  else if (strlen(wire_path(path)) > WIRE_MAX_PATH_BYTES ||
           !wire_path_is_safe(wire_path(path), strlen(wire_path(path))))
    failure_set(&sender->failure, "cannot send %s: the path holds '..' or '//' or is too long; give it in full", path);
  else
    sender->bytes_expected += (uint64_t)status.st_size;
  return !failure_is_set(&sender->failure);
}

/* A file system that cannot do direct I/O says so at open or at the first read. */
static int open_for_reading(const char *path, bool direct) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
  if (fd < 0 && direct && errno == EINVAL) fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd;
}

static ssize_t read_at(int fd, unsigned char *data, size_t nbytes, off_t offset) {
  ssize_t got = pread(fd, data, nbytes, offset);
  if (got < 0 && errno == EINVAL) {
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_DIRECT) && fcntl(fd, F_SETFL, flags & ~O_DIRECT) == 0)
      got = pread(fd, data, nbytes, offset);
  }
  return got;
}

/* The bytes read: nbytes, or fewer where the file ends, or -1. */
static ssize_t read_block(int fd, unsigned char *data, size_t nbytes, uint64_t offset) {
  size_t have = 0;
  while (have < nbytes) {
    ssize_t got = read_at(fd, data + have, nbytes - have, (off_t)(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    have += (size_t)got;
    if (have % WIRE_ALIGNMENT != 0) break; /* direct I/O returns a part of a page only at the end of the file */
  }
  return (ssize_t)have;
}

static bool queue_frame(struct sender *sender, struct wire_frame frame, const void *payload) {
  struct block *block = block_queue_take_empty(sender->queue);
  if (block == NULL) return false;
  block->frame = frame;
  if (payload != NULL) memcpy(block->data, payload, frame.nbytes);
  block_queue_put(sender->queue, block);
  return true;
}

static bool queue_blocks(struct sender *sender, int fd, const char *path, uint64_t size) {
  uint32_t crc = 0;
  for (uint64_t offset = 0; offset < size;) {
    struct block *block = block_queue_take_empty(sender->queue);
    if (block == NULL) return false;
    uint64_t left = size - offset;
    uint32_t want = left < sender->options->block_bytes ? (uint32_t)left : sender->options->block_bytes;
    uint64_t id = sender->transfer << 32 | sender->next_block++;

    EMIT(disk_read_start, id, offset);
    /* a whole block is asked for even at the end, because direct I/O reads whole pages */
    ssize_t got = read_block(fd, block->data, sender->options->block_bytes, offset);
    EMIT(disk_read_end, id, got > 0 ? (uint64_t)got : 0);

    if (got < (ssize_t)want) {
      failure_set(&sender->failure, "cannot read %s: %s", path, got < 0 ? strerror(errno) : "it shrank meanwhile");
      block_queue_give_back(sender->queue, block);
      return false;
    }
    crc = crc32c(crc, block->data, want);
    block->frame = (struct wire_frame){WIRE_BLOCK, want, id, offset, want == left};
    block_queue_put(sender->queue, block);
    offset += want;
    sender->bytes_read += want;
  }
  return queue_frame(sender, (struct wire_frame){.kind = WIRE_FILE_END, .offset = size, .value = crc}, NULL);
}

static bool queue_file(struct sender *sender, const char *path) {
  int fd = open_for_reading(path, sender->options->direct_io);
  struct stat status;
  bool ok = false;
  if (fd < 0 || fstat(fd, &status) != 0) {
    failure_set(&sender->failure, "cannot read %s: %s", path, strerror(errno));
  } else {
    const char *name = wire_path(path);
    struct wire_frame file = {.kind = WIRE_FILE, .nbytes = (uint32_t)strlen(name), .value = status.st_mode & 0777};
    ok = queue_frame(sender, file, name) && queue_blocks(sender, fd, path, (uint64_t)status.st_size);
  }
  if (fd >= 0) close(fd);
  return ok;
}

static void *read_disk(void *argument) {
  struct sender *sender = argument;
  bool ok = true;
  for (size_t i = 0; ok && i < sender->options->file_count; i++)
    ok = queue_file(sender, sender->options->files[i]);
  if (ok) {
    struct wire_frame done = {.kind = WIRE_DONE, .id = sender->options->file_count, .offset = sender->bytes_read};
    queue_frame(sender, done, NULL);
  } else {
    block_queue_stop(sender->queue);
  }
  return NULL;
}

/* Sends what the queue holds until all is sent; false when it was stopped or the connection broke. */
static bool send_queue(struct sender *sender) {
  struct block *block;
  bool done = false, ok = true;
  while (ok && !done && (block = block_queue_take(sender->queue)) != NULL) {
    bool is_data = block->frame.kind == WIRE_BLOCK;
    done = block->frame.kind == WIRE_DONE;
    if (is_data) EMIT(net_send_start, block->frame.id);
    ok = wire_send(sender->socket, &block->frame, block->data, true);
    if (is_data) {
      EMIT(net_send_end, block->frame.id, (uint64_t)(ok ? block->frame.nbytes : 0));
      emit_socket_sample(sender->socket, block->frame.id);
    }
    block_queue_give_back(sender->queue, block);
  }
  return ok && done;
}

/* The receiver's last word. It also explains a connection that it cut. */
static bool receive_result(struct sender *sender, bool all_sent, int send_error) {
  struct wire_frame result;
  char message[WIRE_MAX_MESSAGE_BYTES + 1];
  bool have = wire_receive_frame(sender->socket, &result) && result.kind == WIRE_RESULT &&
              wire_receive(sender->socket, message, result.nbytes);
  if (!have) {
    failure_set(&sender->failure, "the connection to %s broke: %s", sender->options->to,
                strerror(all_sent ? errno : send_error));
    return false;
  }
  message[result.nbytes] = '\0';
  report_make_printable(message);
  if (result.value != 0) {
    failure_set(&sender->failure, "the receiver refused: %s", message);
  } else if (result.id != sender->options->file_count || result.offset != sender->bytes_read) {
    failure_set(&sender->failure, "the receiver confirmed another number of files or bytes");
  }
  return !failure_is_set(&sender->failure);
}

static bool run_transfer(struct sender *sender) {
  pthread_t reader;
  struct wire_frame hello = {.kind = WIRE_HELLO,
                             .id = sender->transfer,
                             .offset = sender->bytes_expected,
                             .value = sender->options->block_bytes};
  if (!wire_send(sender->socket, &hello, NULL, true)) {
    failure_set(&sender->failure, "cannot send to %s: %s", sender->options->to, strerror(errno));
    return false;
  }
  if (pthread_create(&reader, NULL, read_disk, sender) != 0) {
    failure_set(&sender->failure, "cannot start a thread");
    return false;
  }
  bool all_sent = send_queue(sender);
  int send_error = errno;
  block_queue_stop(sender->queue);
  pthread_join(reader, NULL);
  if (failure_is_set(&sender->failure)) return false;
  return receive_result(sender, all_sent, send_error);
}

int send_files(const struct options *options) {
  struct sender sender = {.options = options, .failure = FAILURE_INIT, .socket = -1};
  struct report report = {.role = "send"};
  for (size_t i = 0; i < options->file_count; i++)
    if (!check_file(&sender, options->files[i])) break;

  uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) failure_set(&sender.failure, "getrandom failed");
  sender.transfer = random >> 1 | 1; /* 31 bits, so that ids fit a signed integer too */
  sender.queue = block_queue_new(options->queue_blocks, options->block_bytes);
  if (sender.queue == NULL) failure_set(&sender.failure, "no memory for %u blocks", options->queue_blocks);
  if (!failure_is_set(&sender.failure))
    sender.socket = endpoint_connect(options->to, options->timeout_seconds, &sender.failure);

  if (sender.socket >= 0) {
    endpoint_local_name(sender.socket, report.source, sizeof report.source);
    endpoint_peer_name(sender.socket, report.destination, sizeof report.destination);
    report_begin(&report, sender.transfer);
    EMIT(transfer_start, sender.transfer << 32, report.source, report.destination, sender.bytes_expected);
    report.ok = run_transfer(&sender);
    EMIT(transfer_end, sender.transfer << 32, sender.bytes_read, report.ok);
    close(sender.socket);
  }
  report.files = report.ok ? options->file_count : 0;
  report.bytes = sender.bytes_read;
  report_end(&report);
  report_print(&report, options->json, report.ok ? NULL : sender.failure.text);
  block_queue_free(sender.queue);
  return report.ok ? 0 : 1;
}

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

static const char HELP[] =
    "Copies files over TCP, block by block, and tells Lifeline about every step.\n"
    "\n"
    "Usage: remote-copy serve --into DIR [--listen HOST:PORT] [options]\n"
    "       remote-copy send --to HOST:PORT [options] FILE...\n"
    "\n"
    "serve:\n"
    "  --into DIR          where the files go, below their own paths\n"
    "  --listen HOST:PORT  default 127.0.0.1:0; port 0 takes a free one, which the first line of output names\n"
    "  --once              end after one transfer\n"
    "  --through COMMAND   pipe each file through a shell command on its way to disk, as `zstd -q` or `cat`\n"
    "send:\n"
    "  --to HOST:PORT      the server\n"
    "  --files-from FILE   more files to send, one path per line; - is standard input\n"
    "  --block BYTES       size of a block, a multiple of 4096 up to 4194304; default 262144\n"
    "both:\n"
    "  --io direct|buffered  direct (default) goes round the page cache where the file system can, so that the time\n"
    "                      of a read or write is the disk's and not a copy in memory\n"
    "  --queue BLOCKS      blocks between the disk thread and the network thread; default 8\n"
    "  --timeout SECONDS   give up on a peer that makes no progress for so long; default 60\n"
    "  --json              results as one JSON object per line\n"
    "  --help\n"
    "\n"
    "Instrumentation is off unless LIFELINE_URL says where events go, as nats://127.0.0.1:4222.\n"
    "Exit status: 0 all files copied and verified, 1 something failed, 2 wrong usage.\n";

static _Noreturn void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void usage_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("remote-copy: ", stderr);
  vfprintf(stderr, format, arguments);
  fputs("; see remote-copy --help\n", stderr);
  va_end(arguments);
  exit(2);
}

static unsigned parse_number(const char *option, const char *text, unsigned long min, unsigned long max) {
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < min || value > max)
    usage_error("--%s takes a number from %lu to %lu, not '%s'", option, min, max, text);
  return (unsigned)value;
}

static void add_file(struct options *options, const char *path) {
  char **files = realloc(options->files, (options->file_count + 1) * sizeof *files);
  char *copy = strdup(path);
  if (files == NULL || copy == NULL) {
    fputs("remote-copy: out of memory\n", stderr);
    exit(1);
  }
  options->files = files;
  options->files[options->file_count++] = copy;
}

static void add_files_from(struct options *options, const char *list) {
  bool is_stdin = strcmp(list, "-") == 0;
  FILE *file = is_stdin ? stdin : fopen(list, "re");
  if (file == NULL) usage_error("cannot read --files-from %s: %s", list, strerror(errno));
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  while ((length = getline(&line, &capacity, file)) > 0) {
    if (line[length - 1] == '\n') line[length - 1] = '\0';
    if (line[0] != '\0') add_file(options, line);
  }
  free(line);
  if (!is_stdin) fclose(file);
}

enum {
  OPT_HELP = 1,
  OPT_JSON,
  OPT_IO,
  OPT_QUEUE,
  OPT_TIMEOUT,
  OPT_TO,
  OPT_FROM,
  OPT_BLOCK,
  OPT_LISTEN,
  OPT_INTO,
  OPT_THROUGH,
  OPT_ONCE
};

static const struct option SERVE_OPTIONS[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"json", no_argument, NULL, OPT_JSON},
    {"io", required_argument, NULL, OPT_IO},
    {"queue", required_argument, NULL, OPT_QUEUE},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"into", required_argument, NULL, OPT_INTO},
    {"through", required_argument, NULL, OPT_THROUGH},
    {"once", no_argument, NULL, OPT_ONCE},
    {0},
};

static const struct option SEND_OPTIONS[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"json", no_argument, NULL, OPT_JSON},
    {"io", required_argument, NULL, OPT_IO},
    {"queue", required_argument, NULL, OPT_QUEUE},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"to", required_argument, NULL, OPT_TO},
    {"files-from", required_argument, NULL, OPT_FROM},
    {"block", required_argument, NULL, OPT_BLOCK},
    {0},
};

static void apply(struct options *options, int option, const char *value) {
  switch (option) {
  case OPT_HELP: fputs(HELP, stdout); exit(0);
  case OPT_JSON: options->json = true; break;
  case OPT_IO:
    options->direct_io = strcmp(value, "direct") == 0;
    if (!options->direct_io && strcmp(value, "buffered") != 0)
      usage_error("--io takes direct or buffered, not '%s'", value);
    break;
  case OPT_QUEUE: options->queue_blocks = parse_number("queue", value, 1, 1024); break;
  case OPT_TIMEOUT: options->timeout_seconds = (int)parse_number("timeout", value, 1, 86400); break;
  case OPT_TO: options->to = value; break;
  case OPT_FROM: add_files_from(options, value); break;
  case OPT_BLOCK:
    options->block_bytes = parse_number("block", value, WIRE_ALIGNMENT, WIRE_MAX_BLOCK_BYTES);
    if (options->block_bytes % WIRE_ALIGNMENT != 0)
      usage_error("--block %u is no multiple of %d", options->block_bytes, WIRE_ALIGNMENT);
    break;
  case OPT_LISTEN: options->listen = value; break;
  case OPT_INTO: options->into = value; break;
  case OPT_THROUGH: options->through = value; break;
  case OPT_ONCE: options->once = true; break;
  }
}

void options_parse(struct options *options, int argc, char **argv) {
  *options = (struct options){
      .direct_io = true,
      .block_bytes = 256 << 10,
      .queue_blocks = 8,
      .timeout_seconds = 60,
      .listen = "127.0.0.1:0",
  };
  const char *verb = argc > 1 ? argv[1] : "";
  if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 || strcmp(verb, "help") == 0) apply(options, OPT_HELP, "");
  options->serve = strcmp(verb, "serve") == 0;
  if (!options->serve && strcmp(verb, "send") != 0) usage_error("say `serve` or `send`");

  int option;
  opterr = 0;
  while ((option = getopt_long(argc - 1, argv + 1, ":", options->serve ? SERVE_OPTIONS : SEND_OPTIONS, NULL)) != -1) {
    if (option == '?' || option == ':')
      usage_error(option == '?' ? "%s has no option %s" : "%s: %s lacks its value", verb, argv[optind]);
    apply(options, option, optarg);
  }
  for (int i = optind + 1; i < argc; i++)
    add_file(options, argv[i]);

  if (options->serve) {
    if (options->into == NULL) usage_error("serve needs --into DIR");
    if (options->file_count > 0) usage_error("serve takes no files, but got '%s'", options->files[0]);
  } else {
    if (options->to == NULL) usage_error("send needs --to HOST:PORT");
    if (options->file_count == 0) usage_error("send needs files");
  }
}

void options_free(struct options *options) {
  for (size_t i = 0; i < options->file_count; i++)
    free(options->files[i]);
  free(options->files);
}

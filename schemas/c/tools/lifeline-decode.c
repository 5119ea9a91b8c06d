/* lifeline-decode: reads batches from standard input, and prints them as JSON. */
#include <stdlib.h>
#include <string.h>

#include <lifeline/batch_json.h>

#include "input.h"

static const char usage[] = "Usage: lifeline-decode [--stream | --concatenated] < BATCH > JSON\n"
                            "\n"
                            "Prints the contents of a Lifeline batch as JSON on one line (schemas/FORMAT.md,\n"
                            "section 13).\n"
                            "\n"
                            "  --concatenated  read concatenated batches, as the sink file:// writes them; one\n"
                            "                  line per batch\n"
                            "  --stream        read messages, each preceded by its length as a u32 in\n"
                            "                  little-endian order; one line per message: its JSON, or\n"
                            "                  {\"rejected\":\"<code>\",\"offset\":N,\"message\":\"...\"}\n"
                            "  --help          print this text\n"
                            "  --version       print the version\n"
                            "\n"
                            "Exit status: 0 decoded; 1 rejected, with `rejected: <code> at <offset>: <sentence>`\n"
                            "on standard error; 2 wrong usage or unreadable input. With --stream, rejections are\n"
                            "output, not failures.\n";

static bool decode(const void *message, size_t size, llb_rejection *rejection) {
  llb_batch *batch = llb_read(message, size, rejection);
  if (!batch) return false;
  llb_json_print(batch, stdout);
  putchar('\n');
  llb_batch_free(batch);
  return true;
}

static int rejected(const llb_rejection *rejection, size_t start) {
  fprintf(stderr, "rejected: %s at %zu: %s\n", llb_code_name(rejection->code), start + rejection->offset,
          rejection->message);
  return 1;
}

static int unreadable(void) {
  fputs("lifeline-decode: standard input cannot be read, or ends inside of a message\n", stderr);
  return 2;
}

static int decode_stream(void) {
  char *message = NULL;
  size_t size;
  bool broken;
  while (input_framed(stdin, &message, &size, &broken)) {
    llb_rejection rejection;
    if (!decode(message, size, &rejection)) {
      llb_json_print_rejection(&rejection, stdout);
      putchar('\n');
    }
    fflush(stdout);
  }
  free(message);
  return broken ? unreadable() : 0;
}

static int decode_all(bool concatenated) {
  size_t size;
  char *bytes = input_all(stdin, &size);
  if (!bytes) return unreadable();
  int status = 0;
  size_t at = 0;
  do {
    size_t frame = concatenated ? llb_frame_bytes(bytes + at, size - at) : 0;
    if (frame == 0 || frame > size - at) /* if no batch starts here, the rest is rejected as a whole */
      frame = size - at;
    llb_rejection rejection;
    if (!decode(bytes + at, frame, &rejection)) status = rejected(&rejection, at);
    at += frame;
  } while (status == 0 && at < size);
  free(bytes);
  return status;
}

int main(int argc, char **argv) {
  const char *option = argc > 1 ? argv[1] : "";
  int status;
  if (argc == 2 && strcmp(option, "--help") == 0) {
    fputs(usage, stdout);
    status = 0;
  } else if (argc == 2 && strcmp(option, "--version") == 0) {
    puts("lifeline-decode " LIFELINE_VERSION);
    status = 0;
  } else if (argc == 1 || (argc == 2 && strcmp(option, "--concatenated") == 0)) {
    status = decode_all(argc == 2);
  } else if (argc == 2 && strcmp(option, "--stream") == 0) {
    status = decode_stream();
  } else {
    fprintf(stderr, "lifeline-decode: unexpected argument '%s' (try --help)\n", argv[argc - 1]);
    return 2;
  }
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fputs("lifeline-decode: cannot write to standard output\n", stderr);
    return 2;
  }
  return status;
}

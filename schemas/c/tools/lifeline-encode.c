/* lifeline-encode: reads JSON from standard input, and writes the batch's bytes. */
#include <stdlib.h>
#include <string.h>

#include <lifeline/batch_json.h>

#include "input.h"

static const char usage[] = "Usage: lifeline-encode [--stream] < JSON > BATCH\n"
                            "\n"
                            "Writes the Lifeline batch that JSON describes (schemas/FORMAT.md, section 13). Byte\n"
                            "order, compression and shuffle are taken from the JSON; lengths, hashes and the CRC\n"
                            "are computed.\n"
                            "\n"
                            "  --stream   read one JSON object per line; write each batch after its length as a\n"
                            "             u32 in little-endian order. A rejected one has the length 0, and the\n"
                            "             reason is printed on standard error\n"
                            "  --help     print this text\n"
                            "  --version  print the version\n"
                            "\n"
                            "Exit status: 0 encoded; 1 rejected, with `rejected: <code> at <offset>: <sentence>`\n"
                            "on standard error; 2 wrong usage or unreadable input.\n";

/* Returns the batch's bytes for free(); NULL after printing an error. */
static uint8_t *encode(const char *json, size_t json_size, size_t *size) {
  llb_rejection rejection;
  llb_batch *batch = llb_json_parse(json, json_size, &rejection);
  uint8_t *bytes = batch ? llb_write(batch, size, &rejection) : NULL;
  llb_batch_free(batch);
  if (!bytes)
    fprintf(stderr, "rejected: %s at %zu: %s\n", llb_code_name(rejection.code), rejection.offset, rejection.message);
  return bytes;
}

static int encode_all(void) {
  size_t json_size, size = 0;
  char *json = input_all(stdin, &json_size);
  if (!json) {
    fputs("lifeline-encode: standard input cannot be read\n", stderr);
    return 2;
  }
  uint8_t *bytes = encode(json, json_size, &size);
  int status = bytes ? 0 : 1;
  if (bytes) fwrite(bytes, 1, size, stdout);
  free(bytes);
  free(json);
  return status;
}

static int encode_stream(void) {
  char *line = NULL;
  size_t capacity = 0;
  for (ssize_t length; (length = getline(&line, &capacity, stdin)) > 0;) {
    size_t size = 0;
    uint8_t *bytes = encode(line, (size_t)length, &size);
    output_framed(stdout, bytes, bytes ? size : 0);
    fflush(stdout);
    free(bytes);
  }
  free(line);
  return ferror(stdin) ? 2 : 0;
}

int main(int argc, char **argv) {
  int status;
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    fputs(usage, stdout);
    status = 0;
  } else if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts("lifeline-encode " LIFELINE_VERSION);
    status = 0;
  } else if (argc == 2 && strcmp(argv[1], "--stream") == 0) {
    status = encode_stream();
  } else if (argc == 1) {
    status = encode_all();
  } else {
    fprintf(stderr, "lifeline-encode: unexpected argument '%s' (try --help)\n", argv[argc - 1]);
    return 2;
  }
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fputs("lifeline-encode: cannot write to standard output\n", stderr);
    return 2;
  }
  return status;
}

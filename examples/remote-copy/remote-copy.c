/* The application of NetLogger's Figure 2, for real: a server and a client that copy files over TCP in blocks, where
 * every block's way from disk to disk can be followed by its events. */
#include "emit.h"
#include "options.h"
#include "report.h"
#include "send.h"
#include "serve.h"

int main(int argc, char **argv) {
  struct options options;
  options_parse(&options, argc, argv);
  emit_begin();
  int status = options.serve ? serve(&options) : send_files(&options);
  report_print_events(options.serve ? "serve" : "send", options.json);
  options_free(&options);
  return status;
}

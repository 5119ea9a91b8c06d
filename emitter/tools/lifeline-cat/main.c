/* lifeline-cat: prints the events of batches as text, and reports missing ones. */
#include "account.h"
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TOLD_MAX = 10 }; /* maximum of lines about damage and about conflicts; the report has the totals */

typedef struct run {
  options opts;
  account *books;
  out text;
  bool failed; /* an input failed */
  unsigned damage_told, conflicts_told;
} run;

static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
  (void)signal;
  interrupted = 1;
}

static const char *called(const char *input) {
  return strcmp(input, "-") == 0 ? "standard input" : input;
}

static void damaged(void *ctx, const char *name, const damage *stretch) {
  run *all = ctx;
  account_damage(all->books, stretch->to - stretch->from);
  if (++all->damage_told > TOLD_MAX) return;
  fprintf(stderr, "lifeline-cat: %s: bytes %" PRIu64 " to %" PRIu64 " are not a batch: %s: %s%s\n", called(name),
          stretch->from, stretch->to - 1, llb_code_name(stretch->why.code), stretch->why.message,
          all->damage_told == TOLD_MAX ? " (more are only counted)" : "");
}

/* Shows the output so far while waiting for more. */
static void waits(void *ctx) {
  out_flush(&((run *)ctx)->text);
}

static void failed(void *ctx, const char *name, int error) {
  ((run *)ctx)->failed = true;
  fprintf(stderr, "lifeline-cat: %s: %s\n", called(name), strerror(error));
}

static bool accept_batch(void *ctx, const char *name, const found_batch *found) {
  run *all = ctx;
  switch (account_add(all->books, found->batch)) {
  case VERDICT_NEW: return true;
  case VERDICT_REPEAT: return false;
  case VERDICT_CONFLICT:
    if (++all->conflicts_told <= TOLD_MAX)
      fprintf(stderr,
              "lifeline-cat: %s: the batch at byte %" PRIu64 " has the sequence of an earlier one, %" PRIu64
              ", and other bytes; it is skipped\n",
              called(name), found->offset, found->batch->sequence);
    return false;
  default: failed(all, name, ENOMEM); return false;
  }
}

static void print(void *ctx, ordered *batch, const ordered_event *at) {
  run *all = ctx;
  print_event(&all->text, all->opts.as, &all->opts.filter, batch, at);
}

static bool stopped(void *ctx) {
  return interrupted || ((run *)ctx)->text.error != 0;
}

static void report(const run *all, const merge_result *result) {
  bool incomplete;
  const char *types = print_unmatched(&incomplete);
  if (types)
    fprintf(stderr, "lifeline-cat: no event is of a type that --type names; the types are %s%s\n", types,
            incomplete ? " and others" : "");
  if (result->late > 0 && all->opts.as != FORMAT_NONE)
    fprintf(stderr,
            "lifeline-cat: %" PRIu64 " events were outside of the window and printed out of order (use --sort)\n",
            result->late);
  if (all->opts.quiet && account_is_whole(all->books)) return;
  if (all->opts.json)
    account_print_json(all->books, stderr);
  else
    fputs("lifeline-cat: ", stderr), account_print(all->books, stderr);
}

static int cat(run *all) {
  const options *opts = &all->opts;
  merge_calls calls = {{damaged, waits, all}, accept_batch, print, failed, stopped, all};
  merge_result result = {0};
  if (opts->follow) {
    struct sigaction action = {.sa_handler = interrupt}; /* without SA_RESTART, so that a read is interrupted */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    merge_follow(opts->inputs, opts->input_count, &calls);
  } else {
    result = merge_inputs(opts->inputs, opts->input_count, opts->by, opts->window_bytes, &calls);
  }
  out_flush(&all->text);
  if (all->text.error != 0) {
    fprintf(stderr, "lifeline-cat: cannot write to standard output: %s\n", strerror(all->text.error));
    return 2;
  }
  report(all, &result);
  return all->failed ? 2 : account_is_whole(all->books) ? 0 : 1;
}

int main(int argc, char **argv) {
  static run all = {.text = {.fd = STDOUT_FILENO}};
  int status = options_parse(&all.opts, argc, argv);
  if (status >= 0) {
    if (fflush(stdout) != 0) status = 2;
  } else if ((all.books = account_open()) == NULL) {
    failed(&all, "the books", ENOMEM);
    status = 2;
  } else {
    status = cat(&all);
  }
  account_close(all.books);
  options_free(&all.opts);
  return status;
}

/* lifeline-activate: changes what running programs emit, with lines of schemas/ACTIVATION.md on the control topic or in
 * a trigger file. */
#include <getopt.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "json.h"
#include "resolution/rules.h"
#include "store.h"

static const char usage[] = "Usage: lifeline-activate [options] set [--for TIME] [--id ID] [--dry-run] 'LINE'\n"
                            "       lifeline-activate [options] list\n"
                            "       lifeline-activate [options] end ID... | --all\n"
                            "\n"
                            "Changes temporarily what running programs emit. LINE selects events and sets\n"
                            "their resolution; share/doc/lifeline/ACTIVATION.md has the grammar.\n"
                            "\n"
                            "  lifeline-activate set 'disk.* summary interval=1s'\n"
                            "  lifeline-activate set --for 5m 'net.send.end sample:100 program=remote-copy'\n"
                            "  lifeline-activate set 'disk.read.end full when nbytes>65536'\n"
                            "  lifeline-activate set '* off level>=debug'\n"
                            "\n"
                            "  --url URL   where activations are stored (default: $LIFELINE_URL if it is a\n"
                            "              broker, otherwise the file $LIFELINE_TRIGGERS):\n"
                            "              nats://host:port or kafka://host:port[,host:port]: the control topic,\n"
                            "              which every emitter of that broker reads; control=NAME selects\n"
                            "              another name;\n"
                            "              a path: a trigger file, read by programs with LIFELINE_TRIGGERS\n"
                            "  --for TIME  expiry: 90s, 10m, 2h (default 10m)\n"
                            "  --id ID     its id (default: random). Replaces an activation of the same id\n"
                            "  --dry-run   set: only check the line, and print what would be stored\n"
                            "  --all       end: end all activations\n"
                            "  --json      print JSON instead of lines\n"
                            "  --help      print this text\n"
                            "  --version   print the version\n"
                            "\n"
                            "Credentials and TLS are set as for an emitter: LIFELINE_USER,\n"
                            "LIFELINE_PASSWORD_FILE, LIFELINE_NATS_CREDS, LIFELINE_TLS_CA, LIFELINE_TLS_CERT,\n"
                            "LIFELINE_TLS_KEY, or in the URL, but the user needs permission to write the\n"
                            "control topic, which emitters do not have.\n"
                            "\n"
                            "Exit status: 0 done; 1 it failed, or there is no such activation; 2 wrong usage.\n";

enum { DEFAULT_FOR_MS = 600000, TIDY_AFTER_MS = 3600000, MOST_ACTIVATIONS = 256 };

typedef struct wishes {
  const char *url;
  const char *time;
  const char *id;
  bool all;
  bool dry;
  bool json;
  char **words; /* arguments of the command */
  int count;
} wishes;

static int wrong(const char *what) {
  fprintf(stderr, "lifeline-activate: %s (try --help)\n", what);
  return 2;
}

static int failed(const char *what) {
  fprintf(stderr, "lifeline-activate: %s\n", what);
  return 1;
}

static int64_t now_ms(void) {
  return (int64_t)(ll_now_ns(CLOCK_REALTIME) / 1000000);
}

/* State of a line read from the store, which anybody may have written. */
typedef struct known {
  bool legal;
  bool dated; /* has issued=; else its time starts when an emitter reads it */
  int64_t remaining_ms;
  ll_rule rule;  /* if legal */
  char why[256]; /* if not */
} known;

static known look_at(const char *line) {
  known k = {0};
  k.legal = ll_rule_parse(&k.rule, line, strlen(line), k.why, sizeof k.why);
  k.dated = k.legal && k.rule.has_issued;
  k.remaining_ms = k.legal && k.rule.for_ns ? (int64_t)(k.rule.for_ns / 1000000) : DEFAULT_FOR_MS;
  int64_t passed_ms = k.dated ? now_ms() - k.rule.issued_ms : 0;
  if (passed_ms > 0) k.remaining_ms -= passed_ms;
  return k;
}

static void print_time(int64_t ms) {
  int64_t s = (ms + 999) / 1000;
  if (s >= 86400) printf("%" PRId64 "d", s / 86400);
  if (s >= 3600) printf("%" PRId64 "h", s / 3600 % 24);
  if (s >= 60 && s < 86400) printf("%" PRId64 "m", s / 60 % 60);
  if (s < 3600) printf("%" PRId64 "s", s % 60);
}

static void print_glob(const char *name, const ll_rule *rule, const ll_glob *glob) {
  char text[LL_RULE_BYTES_MAX + 2];
  bool any = !glob->text.bytes;
  snprintf(text, sizeof text, "%.*s%s", glob->text.bytes, rule->text + glob->text.at, any || glob->prefix ? "*" : "");
  printf(",\"%s\":", name);
  json_print_text(text);
}

/* What the line selects, for programs that would have to parse it otherwise. */
static void print_selection(const ll_rule *rule) {
  static const char *const resolutions[] = {
      [LL_RESOLUTION_OFF] = "off",
      [LL_RESOLUTION_SUMMARY] = "summary",
      [LL_RESOLUTION_SAMPLE] = "sample",
      [LL_RESOLUTION_FULL] = "full",
  };
  print_glob("pattern", rule, &rule->name);
  print_glob("program", rule, &rule->program);
  print_glob("host", rule, &rule->host);
  printf(",\"resolution\":\"%s\"", resolutions[rule->resolution]);
  if (rule->resolution == LL_RESOLUTION_SAMPLE) printf(",\"sample\":%" PRIu32, rule->sample);
}

static void print_as_json(const char *id, const char *line, const known *k) {
  printf("{\"id\":");
  json_print_text(id);
  printf(",\"line\":");
  json_print_text(line);
  if (!k->legal) {
    printf(",\"state\":\"illegal\",\"why\":");
    json_print_text(k->why);
  } else if (k->remaining_ms <= 0) {
    printf(",\"state\":\"over\"");
  } else {
    printf(",\"state\":\"running\"");
    if (k->dated) printf(",\"remaining_ms\":%" PRId64, k->remaining_ms);
  }
  if (k->legal) print_selection(&k->rule);
  putchar('}');
}

static void print_as_text(const char *id, const char *line, const known *k) {
  plain_print_text(id);
  printf("  ");
  if (!k->legal)
    printf("illegal");
  else if (k->remaining_ms <= 0)
    printf("over");
  else
    print_time(k->remaining_ms);
  printf("%s  ", k->legal && !k->dated ? " from when it is seen" : "");
  plain_print_text(line);
  if (!k->legal) {
    printf("  (");
    plain_print_text(k->why);
    putchar(')');
  }
  putchar('\n');
}

static bool read_all(const store_kind *kind, store *s, activations *all, char error[ERROR_BYTES]) {
  bool good = kind->read(s, all, error);
  activations_settle(all);
  return good;
}

/* --- set --- */

static bool legal_id(const char *id) {
  size_t length = strlen(id);
  return length > 0 && length <= 64 &&
         strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == length;
}

static const char *random_id(void) {
  static char id[16];
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = (uint32_t)now_ms();
  snprintf(id, sizeof id, "%08" PRIx32, number);
  return id;
}

static bool join(const wishes *w, char *line, size_t bytes) {
  size_t used = 0;
  for (int i = 0; i < w->count && used < bytes; i++)
    used += (size_t)snprintf(line + used, bytes - used, "%s%s", i ? " " : "", w->words[i]);
  return used < bytes;
}

/* Composes the complete line. Returns false with one line in error if it is illegal. */
static bool compose(const wishes *w, const store_kind *kind, const char *id, char line[LL_RULE_BYTES_MAX + 1],
                    char error[ERROR_BYTES]) {
  ll_rule rule;
  char asked[LL_RULE_BYTES_MAX + 1];
  if (!join(w, asked, sizeof asked)) {
    snprintf(error, ERROR_BYTES, "the line is longer than %d bytes", LL_RULE_BYTES_MAX);
    return false;
  }
  if (!ll_rule_parse(&rule, asked, strlen(asked), error, ERROR_BYTES)) return false;
  if (rule.id.bytes || rule.has_issued || (w->time && rule.for_ns)) {
    snprintf(error, ERROR_BYTES, "%s",
             rule.id.bytes     ? "give the id with --id, not in the line"
             : rule.has_issued ? "issued= is set by this command"
                               : "give either --for or for= in the line");
    return false;
  }
  int used = snprintf(line, LL_RULE_BYTES_MAX + 1, "%s%s%s issued=%" PRId64 "%s%s", asked, w->time ? " for=" : "",
                      w->time ? w->time : "", now_ms(), kind->id_in_line ? " id=" : "", kind->id_in_line ? id : "");
  if (used <= LL_RULE_BYTES_MAX) return ll_rule_parse(&rule, line, strlen(line), error, ERROR_BYTES);
  snprintf(error, ERROR_BYTES, "the line is too long: %d bytes with what is added, of %d", used, LL_RULE_BYTES_MAX);
  return false;
}

/* Removes activations that ended over an hour ago: an emitter keeps at most 256. */
static bool tidy(const store_kind *kind, store *s, const activations *all, const char *id, char error[ERROR_BYTES]) {
  size_t others = 0;
  for (size_t i = 0; i < all->count; i++) {
    known k = look_at(all->at[i].line);
    if (strcmp(all->at[i].id, id) == 0) continue;
    if (k.dated && k.remaining_ms < -TIDY_AFTER_MS) {
      if (!kind->remove(s, all->at[i].id, error)) return false;
    } else {
      others++;
    }
  }
  if (others < MOST_ACTIVATIONS) return true;
  snprintf(error, ERROR_BYTES, "there are %zu activations already, of at most %d; end some", others, MOST_ACTIVATIONS);
  return false;
}

static int print_set(const wishes *w, const char *id, const char *line) {
  known k = look_at(line);
  (w->json ? print_as_json : print_as_text)(id, line, &k);
  if (w->json) putchar('\n');
  return 0;
}

static int set(const wishes *w, const store_kind *kind, store *s) {
  char error[ERROR_BYTES], line[LL_RULE_BYTES_MAX + 1];
  const char *id = w->id ? w->id : random_id();
  activations all = {0};
  bool good = compose(w, kind, id, line, error) && read_all(kind, s, &all, error) && tidy(kind, s, &all, id, error) &&
              kind->put(s, id, line, error);
  activations_free(&all);
  return good ? print_set(w, id, line) : failed(error);
}

/* --- list and end --- */

static int list(const wishes *w, const store_kind *kind, store *s) {
  char error[ERROR_BYTES];
  activations all = {0};
  if (!read_all(kind, s, &all, error)) return failed(error);
  if (w->json) putchar('[');
  for (size_t i = 0; i < all.count; i++) {
    known k = look_at(all.at[i].line);
    if (w->json && i) putchar(',');
    (w->json ? print_as_json : print_as_text)(all.at[i].id, all.at[i].line, &k);
  }
  if (w->json) puts("]");
  activations_free(&all);
  return 0;
}

static bool is_named(const wishes *w, const char *id) {
  bool named = w->all;
  for (int i = 0; i < w->count; i++)
    named |= strcmp(w->words[i], id) == 0;
  return named;
}

static bool is_there(const activations *all, const char *id) {
  for (size_t i = 0; i < all->count; i++)
    if (strcmp(all->at[i].id, id) == 0) return true;
  return false;
}

static int end(const wishes *w, const store_kind *kind, store *s) {
  char error[ERROR_BYTES];
  activations all = {0};
  if (!read_all(kind, s, &all, error)) return failed(error);
  int status = 0;
  for (int i = 0; i < w->count; i++)
    if (!is_there(&all, w->words[i])) {
      snprintf(error, sizeof error, "there is no activation %s; see list", w->words[i]);
      status = failed(error);
    }
  if (w->json) putchar('[');
  for (size_t i = 0, ended = 0; i < all.count; i++) {
    if (!is_named(w, all.at[i].id)) continue;
    if (!kind->remove(s, all.at[i].id, error)) {
      status = failed(error);
      break;
    }
    if (!w->json) {
      printf("ended ");
      plain_print_text(all.at[i].id);
      putchar('\n');
      continue;
    }
    printf("%s{\"ended\":", ended++ ? "," : "");
    json_print_text(all.at[i].id);
    putchar('}');
  }
  if (w->json) puts("]");
  activations_free(&all);
  return status;
}

/* --- the command line --- */

static int parse_options(int argc, char **argv, wishes *w) {
  static const struct option options[] = {
      {"url", required_argument, NULL, 'u'},
      {"for", required_argument, NULL, 'f'},
      {"id", required_argument, NULL, 'i'},
      {"dry-run", no_argument, NULL, 'd'},
      {"all", no_argument, NULL, 'a'},
      {"json", no_argument, NULL, 'j'},
      {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'v'},
      {NULL, 0, NULL, 0},
  };
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
    case 'u': w->url = optarg; break;
    case 'f': w->time = optarg; break;
    case 'i': w->id = optarg; break;
    case 'd': w->dry = true; break;
    case 'a': w->all = true; break;
    case 'j': w->json = true; break;
    case 'h': fputs(usage, stdout); return 0;
    case 'v': puts("lifeline-activate " LIFELINE_VERSION); return 0;
    default: return 2; /* getopt has printed the error */
    }
  }
  w->words = argv + optind;
  w->count = argc - optind;
  return -1;
}

typedef int (*command)(const wishes *w, const store_kind *kind, store *s);

/* Returns NULL with an error text in *what. */
static command choose(wishes *w, const char **what) {
  static const struct {
    const char *name;
    command run;
  } commands[] = {{"set", set}, {"list", list}, {"end", end}};
  const char *name = w->count ? w->words[0] : "";
  command chosen = NULL;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(commands[i].name, name) == 0) chosen = commands[i].run;
  w->words++;
  w->count--;
  uint64_t ns;
  *what = !chosen                                         ? "no command: give set, list or end"
          : chosen == set && w->count < 1                 ? "set needs a line"
          : chosen == list && w->count > 0                ? "list accepts no arguments"
          : chosen == end && (w->count > 0) == w->all     ? "end needs ids, or --all"
          : chosen != set && (w->time || w->id || w->dry) ? "--for, --id and --dry-run are valid only with set"
          : chosen != end && w->all                       ? "--all is valid only with end"
          : w->id && !legal_id(w->id)                     ? "--id must be 1 to 64 letters, digits, _ and -"
          : w->time && !ll_duration_parse(w->time, strlen(w->time), &ns) ? "--for must be a time such as 90s, 10m or 2h"
          : !w->url || !*w->url ? "no place for activations: give --url, or set LIFELINE_URL or LIFELINE_TRIGGERS"
                                : NULL;
  return *what ? NULL : chosen;
}

static const store_kind *kind_of(const char *url) {
  if (strncmp(url, "nats://", 7) == 0) return &store_nats;
  if (strncmp(url, "kafka://", 8) == 0) return &store_kafka;
  return strncmp(url, "file:///", 8) == 0 || !strstr(url, ":") ? &store_file : NULL;
}

/* A file:// URL in LIFELINE_URL names a file of batches, not a trigger file. */
static const char *standard_url(void) {
  const char *url = getenv("LIFELINE_URL");
  const store_kind *kind = url ? kind_of(url) : NULL;
  return kind && kind != &store_file ? url : getenv("LIFELINE_TRIGGERS");
}

int main(int argc, char **argv) {
  wishes w = {.url = standard_url()};
  int status = parse_options(argc, argv, &w);
  if (status >= 0) return status;
  const char *what;
  command run = choose(&w, &what);
  if (!run) return wrong(what);
  const store_kind *kind = kind_of(w.url);
  if (!kind) return wrong("the URL must be nats://, kafka:// or the path of a trigger file");
  char error[ERROR_BYTES] = "";
  if (run == set) { /* check the line before connecting */
    char line[LL_RULE_BYTES_MAX + 1];
    if (!compose(&w, kind, w.id ? w.id : "id", line, error)) return wrong(error);
    if (w.dry) return output_end("lifeline-activate", print_set(&w, w.id ? w.id : "id", line));
  }
  store *s = kind->open(w.url, error);
  if (!s) return failed(error);
  status = run(&w, kind, s);
  kind->close(s);
  return output_end("lifeline-activate", status);
}

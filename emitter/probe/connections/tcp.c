#include "tcp.h"

#include "base/say.h"

#include <lifeline/events.h>

#include <errno.h>
#include <string.h>
#include <time.h>

enum { BUDGET = 50, ASK_MAX = 256 };

#define LIST_LONGEST_NS UINT64_C(900000000) /* a little less than the usual period */
#define END_LATEST_NS UINT64_C(5000000000)  /* the kernel unlists a connection before it notifies its end */
#define ASK_MORE_NS UINT64_C(1500)          /* what a question costs more than a place in a list, measured */

/* Context of what the kernel calls back with. */
typedef struct looking {
  tcp *all;
  uint64_t space, now_ns, listed;
  bool finding; /* sockets that are not known yet are looked for */
} looking;

/* What a task costs: CPU time, without waiting for a CPU. */
static uint64_t spent_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void emit(const connection *one, const char *state) {
  const diag_look *look = &one->look;
  const struct tcp_info *info = &look->info;
  char local[DIAG_END_BYTES], remote[DIAG_END_BYTES];
  ll_bytes session = {one->session, one->has_session ? SESSION_BYTES : 0};
  diag_ends(look, local, remote);
  ll_emit(tcp_info, look->cookie, session, one->pid, (uint64_t)look->inode, local, remote, state, look->congestion,
          info->tcpi_snd_cwnd, info->tcpi_snd_ssthresh, info->tcpi_snd_mss, info->tcpi_rtt, info->tcpi_rttvar,
          info->tcpi_min_rtt != UINT32_MAX ? info->tcpi_min_rtt : 0, info->tcpi_rto, info->tcpi_total_retrans,
          info->tcpi_lost, info->tcpi_unacked, info->tcpi_notsent_bytes, look->queued, look->unread, info->tcpi_snd_wnd,
          info->tcpi_pacing_rate, info->tcpi_delivery_rate, info->tcpi_delivery_rate_app_limited != 0,
          info->tcpi_bytes_sent, info->tcpi_bytes_acked, info->tcpi_bytes_received, info->tcpi_bytes_retrans,
          info->tcpi_busy_time, info->tcpi_rwnd_limited, info->tcpi_sndbuf_limited);
}

/* An anomaly raises the rate of the whole process: what slows one of its connections may slow the others. */
static void check(tcp *all, connection *one, uint64_t now_ns) {
  anomaly found = watch_add(&one->watch, &one->look.info, now_ns, all->targets->raise_ns);
  if (found.kind == NULL) return;
  ll_bytes session = {one->session, one->has_session ? SESSION_BYTES : 0};
  target *owner = targets_find(all->targets, one->pid);
  ll_emit(tcp_anomaly, one->look.cookie, session, one->pid, found.kind, found.before, found.now);
  if (owner != NULL) owner->raised_until_ns = now_ns + all->targets->raise_ns;
}

static void take_session(connection *one, const target *from) {
  one->has_session = from->has_session;
  memcpy(one->session, from->session, SESSION_BYTES);
}

static void on_look(void *ctx, const diag_look *look) {
  looking *of = ctx;
  tcp *all = of->all;
  connection *known = table_find(&all->table, look->cookie, of->space);
  of->listed++;
  if (of->finding) {
    uint32_t pid = look->inode != 0 ? owners_find(&all->owners, look->inode, known != NULL ? known->pid : 0) : 0;
    if (known == NULL && pid == 0) return;
    if (known == NULL) {
      known = table_add(&all->table, look, of->space);
      if (known == NULL) return;
      known->due = true;
      all->opened++;
    }
    const target *owner = targets_find(all->targets, pid);
    if (pid != 0) known->pid = pid;
    if (owner != NULL) take_session(known, owner);
    known->seen_ns = of->now_ns;
  }
  if (known == NULL || !look->has_info || !known->due) return;
  known->look = *look;
  known->due = false;
  emit(known, diag_state_name(look->state));
  check(all, known, of->now_ns);
}

/* How long after a list without it the end of a connection may still be notified. */
static uint64_t wait_for_end(const tcp *all, uint64_t inode) {
  for (unsigned i = 0; i < all->spaces.count; i++)
    if (all->spaces.all[i].inode == inode && all->spaces.all[i].ends >= 0) return END_LATEST_NS;
  return 0;
}

/* Notices those that are not listed: they have ended, and no more is heard of those whose end was not notified. */
static void miss(tcp *all, uint64_t now_ns) {
  for (uint32_t i = 0; i < all->table.end; i++) {
    connection *one = &all->table.all[i];
    if (!one->used || one->seen_ns == now_ns)
      one->missed_ns = 0;
    else if (one->missed_ns == 0)
      one->missed_ns = now_ns;
    if (one->missed_ns == 0 || now_ns - one->missed_ns < wait_for_end(all, one->space)) continue;
    all->closed++;
    table_remove(&all->table, one);
  }
}

/* Lists all sockets. Those known that are not listed have ended, unless the list may have gaps. */
static bool list_all(tcp *all, bool finding, diag_detail detail, uint64_t now_ns) {
  bool good = true, whole = finding;
  all->listed = 0;
  for (unsigned i = 0; i < all->spaces.count; i++) {
    looking of = {all, all->spaces.all[i].inode, now_ns, 0, finding};
    int error = diag_dump(all->spaces.all[i].fd, detail, on_look, &of);
    all->listed += of.listed;
    if (error != 0) whole = false;
    if (error == 0 || error == EINTR) continue;
    SAY_ONCE("the kernel does not list TCP sockets: %s (module tcp_diag); connections are not sampled",
             strerror(error));
    good = false;
  }
  if (whole) miss(all, now_ns);
  return good;
}

/* Asks about the connections that are due and have not been listed with details. */
static bool ask(tcp *all, uint64_t now_ns) {
  static diag_look asked[ASK_MAX];
  bool good = true;
  for (unsigned i = 0; i < all->spaces.count; i++) {
    looking of = {all, all->spaces.all[i].inode, now_ns, 0, false};
    size_t count = 0;
    for (uint32_t at = 0; at <= all->table.end; at++) {
      bool last = at == all->table.end;
      if (!last && all->table.all[at].used && all->table.all[at].due && all->table.all[at].space == of.space)
        asked[count++] = all->table.all[at].look;
      if (count == 0 || (count < ASK_MAX && !last)) continue;
      good = diag_ask(all->spaces.all[i].fd, asked, count, on_look, &of) == 0 && good;
      count = 0;
    }
  }
  return good;
}

/* Marks what is due. Connections whose process has ended but which still send are due with every list. */
static uint32_t mark_due(tcp *all, bool finding, uint64_t now_ns) {
  uint32_t count = 0;
  for (unsigned i = 0; i < all->targets->count; i++) {
    target *one = &all->targets->all[i];
    one->tcp_now = target_is_due(all->targets, one, &one->tcp_due_ns, now_ns);
  }
  for (uint32_t i = 0; i < all->table.end; i++) {
    connection *one = &all->table.all[i];
    one->due = false;
    if (!one->used || one->missed_ns != 0) continue;
    const target *owner = targets_find(all->targets, one->pid);
    one->due = owner != NULL ? owner->tcp_now : finding;
    if (owner != NULL) take_session(one, owner);
    count += one->due;
  }
  return count;
}

/* True if it is time for what took that long the last time. */
static bool affordable(uint64_t last_ns, uint64_t cost_ns, uint64_t now_ns) {
  return last_ns == 0 || now_ns - last_ns >= cost_ns * BUDGET;
}

/* Reads the descriptors of the targets. True if a list is needed to find out about new sockets. */
static bool find_sockets(tcp *all, uint64_t now_ns) {
  if (affordable(all->read_ns, all->read_cost_ns, now_ns)) {
    uint64_t began = spent_ns();
    owners_read(&all->owners, all->targets);
    all->read_ns = now_ns;
    all->read_cost_ns = spent_ns() - began;
  }
  if (!affordable(all->list_ns, all->list_cost_ns, now_ns)) return false;
  return now_ns - all->list_ns >= LIST_LONGEST_NS || owners_are_new(&all->owners, &all->listed_owners);
}

/* Whether a list with details costs less than a question for each connection that is due. */
static bool details_are_cheaper(const tcp *all, uint32_t due, bool finding) {
  return finding ? due > 64 && due > all->listed / 4 : due * ASK_MORE_NS > all->bare_cost_ns;
}

bool tcp_sample(void *ctx, uint64_t now_ns) {
  tcp *all = ctx;
  if (!ll_event_is_on(tcp_info)) return true;
  if (all->targets->count + all->table.count == 0) {
    if (all->spaces.count > 1) spaces_update(&all->spaces, all->targets); /* an open socket keeps a namespace alive */
    return true;
  }
  bool finding = find_sockets(all, now_ns), good = true;
  uint32_t due = mark_due(all, finding, now_ns);
  bool most = details_are_cheaper(all, due, finding);
  if (finding || most) {
    uint64_t began = spent_ns();
    if (finding && !spaces_update(&all->spaces, all->targets)) return false;
    good = list_all(all, finding, most ? DIAG_INFO : DIAG_BARE, now_ns);
    if (finding) {
      all->list_ns = now_ns;
      all->list_cost_ns = spent_ns() - began;
      if (!most) all->bare_cost_ns = all->list_cost_ns;
      owners_copy(&all->listed_owners, &all->owners);
    }
  }
  return ask(all, now_ns) && good;
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

unsigned tcp_poll(const tcp *all, struct pollfd *polled) {
  unsigned count = 0;
  for (unsigned i = 0; i < all->spaces.count; i++)
    if (all->spaces.all[i].ends >= 0)
      polled[count++] = (struct pollfd){.fd = all->spaces.all[i].ends, .events = POLLIN};
  return count;
}

static void on_end(void *ctx, const diag_look *look) {
  looking *of = ctx;
  tcp *all = of->all;
  connection *known = table_find(&all->table, look->cookie, of->space);
  if (known == NULL) {
    all->unowned++;
    return;
  }
  uint32_t inode = known->look.inode;
  if (look->has_info) {
    struct inet_diag_sockid ends = known->look.id; /* a closed socket may have forgotten its addresses */
    known->look = *look;
    known->look.id = ends;
    known->look.inode = inode;
    emit(known, "closed");
    all->last_looks++;
  }
  all->closed++;
  table_remove(&all->table, known);
}

void tcp_read_ends(tcp *all) {
  for (unsigned i = 0; i < all->spaces.count; i++) {
    if (all->spaces.all[i].ends < 0) continue;
    looking of = {all, all->spaces.all[i].inode, 0, 0, false};
    if (diag_read_ends(all->spaces.all[i].ends, on_end, &of) != ENOBUFS) continue;
    all->overflows++;
    SAY_ONCE("more connections end than can be read: last values of some are missing (event probe.connections)");
  }
}

void tcp_report(const tcp *all) {
  uint64_t known = all->table.count;
  for (uint32_t i = 0; i < all->table.end; i++)
    known -= all->table.all[i].used && all->table.all[i].missed_ns != 0; /* has ended, but that was not notified yet */
  if (all->opened > 0 || all->unowned > 0 || all->overflows > 0)
    ll_emit(probe_connections, known, all->opened, all->closed, all->last_looks, all->unowned, all->overflows);
}

void tcp_close(tcp *all) {
  spaces_close(&all->spaces);
  owners_free(&all->owners);
  owners_free(&all->listed_owners);
  table_free(&all->table);
}

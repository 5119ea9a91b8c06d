#include "family.h"

#include "base/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INITIAL_PID_NAMESPACE = 0xeffffffc }; /* its inode, in every Linux */

bool family_add(family *to, uint32_t pid) {
  if (to->count == to->room) {
    uint32_t room = to->room == 0 ? 64 : to->room * 2;
    uint32_t *larger = realloc(to->pids, room * sizeof *larger);
    if (larger == NULL) return false;
    to->pids = larger;
    to->room = room;
  }
  to->pids[to->count++] = pid;
  return true;
}

void family_free(family *made) {
  free(made->pids);
  memset(made, 0, sizeof *made);
}

bool process_lives(uint32_t pid) {
  ll_process_stat stat;
  return ll_process_stat_read(pid, &stat) && !stat.ended;
}

uint64_t process_start(uint32_t pid) {
  ll_process_stat stat;
  return ll_process_stat_read(pid, &stat) ? stat.start_time : 0;
}

void family_read(family *pids, family *parents) {
  DIR *all = opendir("/proc");
  pids->count = parents->count = 0;
  if (all == NULL) return;
  for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
    ll_process_stat stat;
    uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10); /* 0: no process */
    if (pid == 0 || !ll_process_stat_read(pid, &stat) || stat.parent == 0) continue;
    if (family_add(parents, stat.parent) && !family_add(pids, pid)) parents->count--;
  }
  closedir(all);
}

void family_each_descendant(const family *roots, void (*take)(void *ctx, uint32_t pid, uint32_t parent), void *ctx) {
  family pids = {0}, parents = {0}, found = {0};
  family_read(&pids, &parents);
  bool room = true;
  for (uint32_t i = 0; room && i < roots->count; i++)
    room = family_add(&found, roots->pids[i]);
  for (uint32_t next = 0; room && next < found.count; next++) {
    for (uint32_t i = 0; room && i < pids.count; i++) {
      if (parents.pids[i] != found.pids[next]) continue;
      room = family_add(&found, pids.pids[i]);
      take(ctx, pids.pids[i], parents.pids[i]);
      parents.pids[i] = 0; /* once */
    }
  }
  family_free(&pids);
  family_free(&parents);
  family_free(&found);
}

void process_read_program(uint32_t pid, char program[16]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/comm", pid);
  memset(program, 0, 16);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t length = read(file, program, 15);
  close(file);
  if (length > 0 && program[length - 1] == '\n') program[length - 1] = '\0';
}

bool process_is_in_namespace(void) {
  struct stat own;
  return stat("/proc/self/ns/pid", &own) == 0 && own.st_ino != INITIAL_PID_NAMESPACE;
}

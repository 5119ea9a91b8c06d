#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

bool program_is_executable(const char *file) {
  struct stat status;
  return stat(file, &status) == 0 && S_ISREG(status.st_mode) && access(file, X_OK) == 0;
}

/* An empty element of PATH is the current directory. */
static bool find(const char *name, char *file, size_t file_bytes) {
  const char *path = getenv("PATH");
  if (strchr(name, '/') != NULL)
    return snprintf(file, file_bytes, "%s", name) < (int)file_bytes && program_is_executable(file);
  for (path = path != NULL ? path : "/bin:/usr/bin";; path++) {
    size_t bytes = strcspn(path, ":");
    int made = snprintf(file, file_bytes, "%.*s/%s", bytes > 0 ? (int)bytes : 1, bytes > 0 ? path : ".", name);
    if (made > 0 && (size_t)made < file_bytes && program_is_executable(file)) return true;
    path += bytes;
    if (*path == '\0') return false;
  }
}

bool program_find(const char *name, char *file, size_t file_bytes) {
  bool found = find(name, file, file_bytes);
  if (!found) *file = '\0';
  return found;
}

static bool has_privileges(const char *file, const struct stat *status) {
  bool user = (status->st_mode & S_ISUID) != 0 && status->st_uid != getuid();
  bool group = (status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && status->st_gid != getgid();
  return user || group || (getuid() != 0 && getxattr(file, "security.capability", NULL, 0) > 0);
}

/* System calls without libc's functions, which the preload wraps, and which are cancellation points. The file may have
 * become a FIFO since it was looked at. */
static int open_raw(const char *file) {
  return (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static ssize_t pread_raw(int fd, void *to, size_t bytes, uint64_t at) {
  return at <= INT64_MAX ? syscall(SYS_pread64, fd, to, bytes, (off_t)at) : -1;
}

/* Of hostile files, too: every offset is held to what pread returns. */
static bool read_at(int fd, void *to, size_t bytes, uint64_t at) {
  return pread_raw(fd, to, bytes, at) == (ssize_t)bytes;
}

/* False: there is none. The name may be as long as the kernel allows. */
static bool has_interpreter(int fd, const Elf64_Ehdr *header, bool *musl) {
  char name[PATH_MAX + 1];
  for (unsigned i = 0; i < header->e_phnum; i++) {
    Elf64_Phdr segment;
    if (!read_at(fd, &segment, sizeof segment, header->e_phoff + (uint64_t)i * sizeof segment)) return true;
    if (segment.p_type != PT_INTERP) continue;
    size_t bytes = segment.p_filesz < PATH_MAX ? (size_t)segment.p_filesz : PATH_MAX;
    if (!read_at(fd, name, bytes, segment.p_offset)) return true;
    name[bytes] = '\0';
    *musl = strstr(name, "/ld-musl") != NULL;
    return true;
  }
  return false;
}

static bool find_section(int fd, const Elf64_Ehdr *header, const char *wanted, Elf64_Shdr *found) {
  Elf64_Shdr names;
  char name[32];
  size_t bytes = strlen(wanted) + 1;
  if (!read_at(fd, &names, sizeof names, header->e_shoff + (uint64_t)header->e_shstrndx * sizeof names)) return false;
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (!read_at(fd, found, sizeof *found, header->e_shoff + (uint64_t)i * sizeof *found)) return false;
    if (read_at(fd, name, bytes, names.sh_offset + found->sh_name) && memcmp(name, wanted, bytes) == 0) return true;
  }
  return false;
}

/* Go's linker gives every program this section, stripped or not. */
static bool is_go(int fd, const Elf64_Ehdr *header) {
  Elf64_Shdr section;
  return find_section(fd, header, ".go.buildinfo", &section);
}

enum { DYNSTR_MOST = 65536 };

/* gcc's sanitizers are libraries, which end a program that loads another one first. */
static bool has_sanitizer(int fd, const Elf64_Ehdr *header) {
  static const char *const runtimes[] = {"libasan.so", "libtsan.so"};
  char text[4096]; /* read in pieces that overlap */
  Elf64_Shdr section;
  if (!find_section(fd, header, ".dynstr", &section)) return false;
  for (uint64_t at = 0; at < section.sh_size && at < DYNSTR_MOST; at += sizeof text / 2) {
    ssize_t bytes = pread_raw(fd, text, sizeof text, section.sh_offset + at);
    if (bytes <= 0) return false;
    for (int i = 0; i < 2; i++)
      if (memmem(text, (size_t)bytes, runtimes[i], strlen(runtimes[i])) != NULL) return true;
  }
  return false;
}

static const char *unmeasurable_elf(int fd, const Elf64_Ehdr *header, bool *harmful) {
  if (header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
    return "it is of another architecture than the preload; use lifeline-probe";
  if (!has_interpreter(fd, header, harmful))
    return "it is linked statically, so that nothing can be preloaded; use lifeline-probe";
  if (is_go(fd, header)) return "it is written in Go, which makes system calls without libc; use lifeline-probe";
  if (*harmful) return "it is built for musl, and the preload for glibc; use lifeline-probe";
  *harmful = has_sanitizer(fd, header);
  if (*harmful)
    return "it is built with a sanitizer, which has to be loaded first; build it without, or use lifeline-probe";
  return NULL;
}

/* The interpreter of a script; false if it is none. */
static bool interpreter_of(const char *first, char *file, size_t file_bytes) {
  if (strncmp(first, "#!", 2) != 0) return false;
  first += 2 + strspn(first + 2, " \t");
  size_t bytes = strcspn(first, " \t\n");
  return bytes > 0 && (size_t)snprintf(file, file_bytes, "%.*s", (int)bytes, first) < file_bytes;
}

/* Interpreters may be scripts themselves, as deep as the kernel allows. */
static const char *unmeasurable(const char *file, bool *harmful, int depth) {
  char first[256] = "", interpreter[sizeof first];
  Elf64_Ehdr header;
  struct stat status;
  if (stat(file, &status) != 0 || !S_ISREG(status.st_mode)) return NULL;
  if (has_privileges(file, &status))
    return "it runs with the rights of another user, for which the loader ignores LD_PRELOAD; use lifeline-probe";
  int fd = open_raw(file);
  if (fd < 0) return NULL;
  const char *why = NULL;
  ssize_t bytes = pread_raw(fd, first, sizeof first - 1, 0);
  if (bytes > 0 && interpreter_of(first, interpreter, sizeof interpreter))
    why = depth > 0 ? unmeasurable(interpreter, harmful, depth - 1) : NULL;
  else if (read_at(fd, &header, sizeof header, 0) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0)
    why = unmeasurable_elf(fd, &header, harmful);
  syscall(SYS_close, fd);
  return why;
}

const char *program_unmeasurable(const char *file, bool *harmful) {
  *harmful = false;
  return unmeasurable(file, harmful, 4);
}

bool is_interval(const char *text) {
  static const struct {
    const char *name;
    unsigned long seconds;
  } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}};
  size_t digits = strspn(text, "0123456789");
  unsigned long number = digits > 0 && digits < 6 ? strtoul(text, NULL, 10) : 0;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(text + digits, units[i].name) == 0) return number > 0 && number * units[i].seconds <= 3600;
  return false;
}

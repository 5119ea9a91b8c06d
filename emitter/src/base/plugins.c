#include "plugins.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The file that contains this code, according to the kernel or the loader, and what lies below its directory. Not by
 * argv[0], which dladdr returns for a program: it is arbitrary, and may be relative to the working directory. Empty for
 * a file that was removed: what is there now may be anybody's. */
static const char *find_own(char own[PATH_MAX]) {
  static const char here;
  Dl_info self;
  struct link_map *object = NULL;
  if (dladdr1(&here, &self, (void **)&object, RTLD_DL_LINKMAP) == 0 || object == NULL) return "";
  bool in_program = object->l_name[0] == '\0';
  const char *path = in_program ? "/proc/thread-self/exe" : object->l_name;
  if (path[0] == '/' && realpath(path, own) != NULL)
    *strrchr(own, '/') = '\0';
  else
    own[0] = '\0';
  return in_program ? "/../lib/lifeline" : "/lifeline";
}

bool ll_plugin_place(unsigned number, char directory[PATH_MAX]) {
  char own[PATH_MAX] = "";
  const char *given = secure_getenv("LIFELINE_PLUGIN_DIR"), *below_own = "";
  if (getauxval(AT_SECURE) == 0) below_own = find_own(own);
  const struct {
    const char *base, *below;
  } places[LL_PLUGIN_PLACES] = {{given, ""}, {own, below_own}, {LL_INSTALLED_PLUGIN_DIR, ""}};
  const char *base = places[number].base;
  bool alone = given != NULL && given[0] == '/';
  if (base == NULL || base[0] != '/' || (alone && number > 0)) return false;
  int length = snprintf(directory, PATH_MAX, "%s%s", base, places[number].below);
  return length > 0 && length < PATH_MAX;
}

bool ll_plugin_find(const char *name, char path[PATH_MAX]) {
  char directory[PATH_MAX];
  for (unsigned i = 0; i < LL_PLUGIN_PLACES; i++) {
    if (!ll_plugin_place(i, directory)) continue;
    int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);
    if (length > 0 && length < PATH_MAX && access(path, R_OK) == 0) return true;
  }
  return false;
}

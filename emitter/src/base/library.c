#include "library.h"

#include "low.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* One function of each library that sinks need, and the beginning of the name of its file. */
static const struct {
  const char *function, *file;
} usual[] = {
    {"SSL_CTX_new", "libssl.so"},        {"EVP_MD_CTX_new", "libcrypto.so"},    {"rd_kafka_new", "librdkafka.so"},
    {"ZSTD_compressCCtx", "libzstd.so"}, {"LZ4_compress_default", "liblz4.so"}, {"LZ4F_compressBegin", "liblz4.so"},
    {"deflateInit2_", "libz.so"},        {"sasl_client_init", "libsasl2.so"},
};

static bool is_anothers(const char *function, const char *file) {
  Dl_info found;
  void *address = dlsym(RTLD_DEFAULT, function);
  if (address == NULL || dladdr(address, &found) == 0 || found.dli_fname == NULL) return false;
  const char *slash = strrchr(found.dli_fname, '/'), *name = slash != NULL ? slash + 1 : found.dli_fname;
  return strncmp(name, file, strlen(file)) != 0;
}

/* Otherwise not: the flag also hides what an LD_PRELOADed library replaces. A sanitizer does not survive it. */
static bool needs_its_own(void) {
  if (dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") != NULL) return false;
  for (unsigned i = 0; i < sizeof usual / sizeof usual[0]; i++)
    if (is_anothers(usual[i].function, usual[i].file)) return true;
  return false;
}

void *ll_library_open(const char *path) {
  int flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | (needs_its_own() ? RTLD_DEEPBIND : 0);
  return LL_HOLDING_LOW(dlopen(path, flags));
}

/* A program that exports functions of the libraries that sinks use, like one that contains BoringSSL: exports-others.
 * Its own ones must not be called by the sink. */
#include <lifeline/lifeline.h>

#include <stdio.h>
#include <stdlib.h>

LL_EVENT(serial, "test.serial", LL_INFO, (u64, serial, ""), (u32, pid, ""));

#define OWN(name)                                                                                                      \
  void *name(void);                                                                                                    \
  void *name(void) {                                                                                                   \
    fprintf(stderr, "the sink calls the program's %s\n", #name);                                                       \
    abort();                                                                                                           \
  }
OWN(SSL_CTX_new)
OWN(SSL_new)
OWN(TLS_client_method)
OWN(SSL_CTX_ctrl)
OWN(EVP_MD_CTX_new)
OWN(LZ4_compress_default)
OWN(ZSTD_compressCCtx)
OWN(rd_kafka_new)
OWN(rd_kafka_conf_new)
OWN(rd_kafka_topic_new)

int main(void) {
  if (ll_init(NULL) != 0) return 1;
  for (uint64_t i = 1; i <= 1000; i++)
    ll_emit(serial, i, 0);
  ll_statistics now = {.size = sizeof now};
  int error = ll_flush(300000);
  ll_stats(&now);
  return error == 0 && now.batches_acknowledged > 0 && now.dropped_sink == 0 ? 0 : 2;
}

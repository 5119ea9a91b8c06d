#include "faulty.h"

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { HELD_MOST = 1024 };

static int fail_within(X509_STORE_CTX *store, void *ctx) {
  (void)ctx;
  X509_STORE_CTX_set_error(store, X509_V_ERR_OUT_OF_MEM); /* OpenSSL turns it into the alert "internal error" */
  return 0;
}

static void show_certificate(const faulty *f, int connection) {
  static const char greeting[] = "INFO {\"server_id\":\"X\",\"version\":\"2.10.0\",\"proto\":1,\"headers\":true,"
                                 "\"max_payload\":1048576,\"tls_required\":true}\r\n";
  struct timeval patience = {.tv_sec = 1};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (f->greets && write(connection, greeting, strlen(greeting)) < 0) return;
  SSL *tls = SSL_new(f->tls);
  SSL_set_fd(tls, connection);
  SSL_accept(tls);
  SSL_free(tls);
  shutdown(connection, SHUT_WR);
  for (char rest[1024]; read(connection, rest, sizeof rest) > 0;) { /* otherwise a reset would discard the alert */
  }
}

static void *serve(void *of) {
  faulty *f = of;
  int held[HELD_MOST];
  unsigned count = 0;
  while (!__atomic_load_n(&f->ending, __ATOMIC_ACQUIRE)) {
    struct pollfd ready = {.fd = f->listener, .events = POLLIN};
    if (poll(&ready, 1, 20) != 1) continue;
    int connection = accept(f->listener, NULL, NULL);
    if (connection < 0) continue;
    __atomic_add_fetch(&f->connections, 1, __ATOMIC_ACQ_REL);
    if (f->tls) show_certificate(f, connection);
    if (f->manner == ACCEPTS_AND_NEVER_ANSWERS && count < HELD_MOST)
      held[count++] = connection;
    else
      close(connection);
  }
  while (count > 0)
    close(held[--count]);
  return NULL;
}

static void make_certificate(faulty *f, const char *directory, const char *names, int days) {
  char command[1024], certificate[128], key[128];
  snprintf(command, sizeof command,
           "cd %s/tls && echo 'subjectAltName=%s' >names && "
           "openssl req -new -key server.key -subj /CN=faulty -out faulty.csr 2>/dev/null && "
           "openssl x509 -req -in faulty.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days %d -extfile names "
           "-out faulty.pem 2>/dev/null",
           directory, names, days);
  assert_int_equal(system(command), 0);
  if (days == 0) /* openssl cannot issue an expired certificate: this one expires within this second */
    for (time_t made = time(NULL); time(NULL) <= made;)
      usleep(50000);
  snprintf(certificate, sizeof certificate, "%s/tls/faulty.pem", directory);
  snprintf(key, sizeof key, "%s/tls/server.key", directory);
  f->tls = SSL_CTX_new(TLS_server_method());
  assert_int_equal(SSL_CTX_use_certificate_chain_file(f->tls, certificate), 1);
  assert_int_equal(SSL_CTX_use_PrivateKey_file(f->tls, key, SSL_FILETYPE_PEM), 1);
}

void faulty_start(faulty *f, faulty_manner manner, int port, const char *directory, bool greets) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int yes = 1, bound = -1;
  *f = (faulty){.manner = manner, .greets = greets, .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (manner == SHOWS_AN_EXPIRED_CERTIFICATE) make_certificate(f, directory, "DNS:localhost,IP:127.0.0.1", 0);
  if (manner == FAILS_WITH_AN_INTERNAL_ERROR) {
    make_certificate(f, directory, "DNS:localhost,IP:127.0.0.1", 1);
    SSL_CTX_set_verify(f->tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(f->tls, fail_within, NULL);
  }
  if (manner == SHOWS_ANOTHERS_CERTIFICATE) make_certificate(f, directory, "DNS:another.invalid", 1);
  setsockopt(f->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  for (int i = 0; i < 600 && bound != 0; i++, usleep(bound ? 100000 : 0)) /* a client may be using the port */
    bound = bind(f->listener, (struct sockaddr *)&address, size);
  assert_int_equal(bound, 0);
  assert_int_equal(listen(f->listener, 64), 0);
  assert_int_equal(getsockname(f->listener, (struct sockaddr *)&address, &size), 0);
  f->port = ntohs(address.sin_port);
  assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
}

void faulty_stop(faulty *f) {
  __atomic_store_n(&f->ending, true, __ATOMIC_RELEASE);
  pthread_join(f->thread, NULL);
  close(f->listener);
  SSL_CTX_free(f->tls);
}

#include "login.h"

#include "base/low.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CREDENTIALS_MAX_BYTES = 65536, SEED_BYTES = 32, SIGNATURE_BYTES = 64 };

/* The line after "-----BEGIN <what>-----"; false if there is none. */
static bool find_block(const char *file, const char *what, char *line, size_t line_bytes) {
  const char *at = strstr(file, what);
  at = at ? strchr(at, '\n') : NULL;
  if (!at) return false;
  at += strspn(at, "\r\n");
  size_t length = strcspn(at, "\r\n");
  if (length == 0 || length >= line_bytes) return false;
  memcpy(line, at, length);
  line[length] = 0;
  return true;
}

/* Decodes an nkey seed in base32: two prefix bytes, the seed, a checksum. The checksum is not verified, since the
 * server refuses the signature of a wrong seed. */
static bool decode_seed(const char *text, unsigned char seed[SEED_BYTES]) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  unsigned char raw[2 + SEED_BYTES];
  unsigned bits = 0, held = 0;
  size_t count = 0;
  for (; *text && count < sizeof raw; text++) {
    const char *digit = strchr(digits, *text);
    if (!digit) return false;
    held = (held << 5 | (unsigned)(digit - digits)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    raw[count++] = (unsigned char)(held >> bits);
  }
  memcpy(seed, raw + 2, SEED_BYTES);
  explicit_bzero(raw, sizeof raw);
  return count == sizeof raw;
}

/* Writes the signature in base64url without padding. */
static bool sign(const char *seed_text, const char *nonce, char *text) {
  unsigned char seed[SEED_BYTES], signature[SIGNATURE_BYTES];
  size_t bytes = sizeof signature;
  if (!decode_seed(seed_text, seed)) return false;
  EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof seed);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool good = key && context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestSign(context, signature, &bytes, (const unsigned char *)nonce, strlen(nonce)) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(key);
  explicit_bzero(seed, sizeof seed);
  if (!good) return false;
  EVP_EncodeBlock((unsigned char *)text, signature, SIGNATURE_BYTES);
  for (char *c = text; *c; c++)
    *c = *c == '+' ? '-' : *c == '/' ? '_' : *c == '=' ? 0 : *c;
  return true;
}

/* Writes ,"key":"value", escaped for JSON. */
static void put(FILE *out, const char *key, const char *value) {
  if (!value) return;
  fprintf(out, ",\"%s\":\"", key);
  for (const unsigned char *c = (const unsigned char *)value; *c; c++)
    if (*c < 0x20 || *c == '"' || *c == '\\')
      fprintf(out, "\\u%04x", *c);
    else
      fputc(*c, out);
  fputc('"', out);
}

/* Reads the file at every login, since credentials are renewed while programs run. */
static bool put_credentials(FILE *out, const char *path, const char *nonce, char *detail, size_t detail_bytes) {
  char *text = calloc(3, CREDENTIALS_MAX_BYTES), *jwt = text + CREDENTIALS_MAX_BYTES,
       *seed = jwt + CREDENTIALS_MAX_BYTES;
  char signature[SIGNATURE_BYTES * 2];
  FILE *file = text ? LL_HOLDING_LOW(fopen(path, "re")) : NULL;
  bool good = file && fread(text, 1, CREDENTIALS_MAX_BYTES - 1, file) > 0;
  if (!good)
    snprintf(detail, detail_bytes, "the credentials file %s cannot be read: %s", path, strerror(errno));
  else if (!find_block(text, "BEGIN NATS USER JWT", jwt, CREDENTIALS_MAX_BYTES) ||
           !find_block(text, "BEGIN USER NKEY SEED", seed, CREDENTIALS_MAX_BYTES) || !sign(seed, nonce, signature)) {
    snprintf(detail, detail_bytes, "the credentials file %s contains no user JWT and nkey seed", path);
    good = false;
  } else {
    put(out, "jwt", jwt);
    put(out, "sig", signature);
  }
  if (file) fclose(file);
  if (text) explicit_bzero(text, 3 * CREDENTIALS_MAX_BYTES);
  free(text);
  return good;
}

char *login_new(const sink_security *security, const char *name, const char *nonce, bool tls, char *detail,
                size_t detail_bytes) {
  char *text = NULL;
  size_t bytes;
  FILE *out = open_memstream(&text, &bytes);
  snprintf(detail, detail_bytes, "no memory");
  if (!out) return NULL;
  fprintf(out,
          "CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\":%s,\"lang\":\"lifeline\",\"version\":\"%s\","
          "\"protocol\":1,\"echo\":true,\"headers\":true,\"no_responders\":true",
          tls ? "true" : "false", LIFELINE_VERSION);
  put(out, "name", name);
  char *password = sink_security_password(security);
  if (password) {
    put(out, "user", security->user);
    put(out, "pass", password);
  } else {
    put(out, "auth_token", security->user); /* a user without a password is a token, as in all NATS clients */
  }
  bool good = !security->creds || put_credentials(out, security->creds, nonce, detail, detail_bytes);
  sink_security_forget(password);
  fputs("}\r\nPING\r\n", out);
  if (fclose(out) == 0 && good) return text;
  login_free(text);
  return NULL;
}

void login_free(char *login) {
  if (login) explicit_bzero(login, strlen(login));
  free(login);
}

# shellcheck shell=bash
# Temporary credentials for a broker. Secrets are written to files of mode 0600, never passed as arguments.

# make_tls DIR: ca.pem, server.pem, server.key for localhost and 127.0.0.1, and client.pem, client.key; kept when there.
make_tls() {
  local dir=$1 name
  [[ -f $dir/ready ]] && return
  mkdir -p "$dir"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj '/CN=Lifeline test authority' \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign \
    -keyout "$dir/ca.key" -out "$dir/ca.pem" 2>/dev/null || die "openssl could not make a certificate authority in $dir"
  for name in server client; do
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=lifeline-$name" \
      -keyout "$dir/$name.key" -out "$dir/$name.csr" 2>/dev/null || die "openssl could not make a key in $dir"
    openssl x509 -req -in "$dir/$name.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -CAcreateserial -days 30 \
      -extfile <(printf '%s\n' 'subjectAltName=DNS:localhost,IP:127.0.0.1' 'extendedKeyUsage=serverAuth,clientAuth') \
      -out "$dir/$name.pem" 2>/dev/null || die "openssl could not sign a certificate in $dir"
    rm "$dir/$name.csr"
  done
  touch "$dir/ready"
}

# make_passwords DIR USER...: DIR/USER.password with a random one each; kept when there.
make_passwords() {
  local dir=$1 user
  shift
  mkdir -p "$dir"
  for user in "$@"; do
    [[ -f $dir/$user.password ]] || openssl rand -hex 16 >"$dir/$user.password"
  done
}

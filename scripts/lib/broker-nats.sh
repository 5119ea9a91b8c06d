# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with scripts/broker
# nats-server with JetStream on a file store, built from its Go module.

broker_install() {
  local target=$DEPS/bin/nats-server
  [[ -x $target && $("$target" --version) == "nats-server: v$NATS_SERVER_VERSION" ]] && return
  command -v go >/dev/null || die "go is missing: run scripts/setup"
  say "building nats-server $NATS_SERVER_VERSION from its Go module ..."
  mkdir -p "$DEPS/bin"
  GOBIN=$DEPS/bin retried go install -trimpath "github.com/nats-io/nats-server/v2@v$NATS_SERVER_VERSION" ||
    die "nats-server could not be built: is the Go module proxy reachable?"
}

# Each emitter has a consumer of the bucket with the activations: nats-server admits 1,000 per stream unless it is told otherwise.
broker_configure() {
  {
    printf 'server_name: %s\nlisten: "127.0.0.1:%s"\nmax_payload: 1MB\n' "$NAME" "$PORT"
    printf 'jetstream {\n  store_dir: "%s/data", max_memory_store: 256MB, max_file_store: 64GB\n' "$DIR"
    printf '  limits { default_max_consumers: -1 }\n}\n'
    if ((TLS)); then
      printf 'tls { cert_file: "%s/tls/server.pem", key_file: "%s/tls/server.key", ca_file: "%s/tls/ca.pem"' \
        "$DIR" "$DIR" "$DIR"
      ((MTLS == 0)) || printf ', verify: true'
      printf ' }\n'
    fi
    ((AUTH == 0)) || nats_users
  } >"$DIR/nats.conf"
}

# The emitter's user has exactly the permissions that the project ships for emitters.
nats_users() {
  cp "$ROOT/emitter/sinks/permissions/nats.conf" "$DIR/emitter-permissions.conf"
  cat <<CONF
authorization {
  users: [
    { user: lifeline, password: "$(<"$DIR/auth/lifeline.password")" }
    { user: emitter, password: "$(<"$DIR/auth/emitter.password")", include emitter-permissions.conf }
  ]
}
CONF
}

broker_command() { command=("$DEPS/bin/nats-server" --config "$DIR/nats.conf"); }

# The server greets every connection with its name, before TLS and before any credentials.
broker_answers() {
  local greeting=''
  { exec 7<>"/dev/tcp/127.0.0.1/$PORT"; } 2>/dev/null || return 1
  IFS= read -r -t 5 greeting <&7 || true
  exec 7>&-
  [[ $greeting == INFO*"\"server_name\":\"$NAME\""*'"jetstream":true'* ]]
}

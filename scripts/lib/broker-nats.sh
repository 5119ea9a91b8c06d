# shellcheck shell=bash
# shellcheck disable=SC2016,SC2034,SC2154 # variables are shared with scripts/broker; $JS is NATS's own spelling
# nats-server with JetStream on a file store, built from its Go module.

broker_install() {
  local target=$DEPS/bin/nats-server
  [[ -x $target && $("$target" --version) == "nats-server: v$NATS_SERVER_VERSION" ]] && return
  command -v go >/dev/null || die "go is missing: run scripts/setup"
  say "building nats-server $NATS_SERVER_VERSION from its Go module ..."
  mkdir -p "$DEPS/bin"
  GOBIN=$DEPS/bin go install -trimpath "github.com/nats-io/nats-server/v2@v$NATS_SERVER_VERSION" ||
    die "nats-server could not be built: is the Go module proxy reachable?"
}

broker_configure() {
  {
    printf 'server_name: %s\nlisten: "127.0.0.1:%s"\n' "$NAME" "$PORT"
    printf 'jetstream { store_dir: "%s/data", max_memory_store: 256MB, max_file_store: 64GB }\n' "$DIR"
    if ((TLS)); then
      printf 'tls { cert_file: "%s/tls/server.pem", key_file: "%s/tls/server.key", ca_file: "%s/tls/ca.pem" }\n' \
        "$DIR" "$DIR" "$DIR"
    fi
    ((AUTH == 0)) || nats_users
  } >"$DIR/nats.conf"
}

# The emitter's permissions are the product's promise in practice: it publishes batches, looks at the stream that takes
# them and reads activations; it cannot write control, and cannot read anybody's events.
nats_users() {
  local emitter_publishes='"lifeline.batches", "lifeline.batches.>", "$JS.API.INFO", "$JS.API.STREAM.INFO.LIFELINE",
        "$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.KV_lifeline-activations",
        "$JS.API.DIRECT.GET.KV_lifeline-activations.>", "$JS.API.CONSUMER.CREATE.KV_lifeline-activations.>"'
  cat <<CONF
authorization {
  users: [
    { user: lifeline, password: "$(<"$DIR/auth/lifeline.password")" }
    { user: emitter, password: "$(<"$DIR/auth/emitter.password")", permissions: {
        publish: { allow: [$emitter_publishes] }
        subscribe: { allow: ["_INBOX.>"] }
    } }
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

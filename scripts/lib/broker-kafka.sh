# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with scripts/broker
# Apache Kafka: one node that is broker and controller (KRaft), from the jars that Maven Central publishes.

broker_install() {
  kafka_jars
  kafka_archive
}

kafka_jars() {
  local target=$DEPS/kafka
  [[ -f $target/kafka_2.13-$KAFKA_VERSION.jar ]] && return
  command -v mvn >/dev/null || die "mvn is missing: run scripts/setup"
  say "fetching Kafka $KAFKA_VERSION through Maven ..."
  rm -rf "$target" "$target.new"
  maven -f "$ROOT/scripts/kafka/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$target.new" >&2 || die "Kafka's jars could not be fetched: is the Maven repository reachable?"
  mv "$target.new" "$target"
}

# kafka_archive_file: each JDK has its own, and accepts no other.
kafka_archive_file() {
  printf '%s/kafka/classes-%s.jsa\n' "$DEPS" "$(cksum <"$(dirname "$(readlink -f "$(type -P java)")")/../release" | cut -d ' ' -f 1)"
}

# kafka_archive: stores the classes that a server loads in the form that the JVM maps into memory (class data sharing), which
# halves the work of a start. Made by a first server, which where Lifeline has been built also serves for a moment; without it servers
# only start more slowly.
kafka_archive() {
  local archive DIR TLS=0 MTLS=0 AUTH=0 ACL=0 ADVERTISED='' PORT command
  archive=$(kafka_archive_file)
  [[ ! -e $archive ]] || return 0
  DIR=$(mktemp -d) PORT=$(free_port)
  broker_configure
  broker_command "-XX:ArchiveClassesAtExit=$archive.new"
  "${command[@]}" >"$DIR/broker.log" 2>&1 8>&- 9>&- &
  for _ in {1..600}; do
    if broker_answers || ! kill -0 $! 2>/dev/null; then break; fi
    sleep 0.1
  done
  kafka_serves_a_moment "kafka://127.0.0.1:$PORT"
  process_end $! "$(process_start_time $!)" 60
  wait $! || true
  : >"$archive" # empty, so not tried again, unless there is one
  [[ ! -s $archive.new ]] || mv "$archive.new" "$archive"
  rm -rf "$DIR"
}

# kafka_serves_a_moment URL: topics are made, written to and read.
kafka_serves_a_moment() {
  local programs=$BUILD/emitter/bin
  [[ -x $programs/lifeline-minimal ]] || return 0
  { timeout 60 "$programs/lifeline-setup" --url "$1" && LIFELINE_URL=$1 timeout 60 "$programs/lifeline-minimal" &&
    timeout 60 "$programs/lifeline-activate" --url "$1" list; } >/dev/null 2>&1 8>&- 9>&- || true
}

broker_configure() {
  local protocol=PLAINTEXT controller_port
  if ((TLS && AUTH)); then protocol=SASL_SSL; elif ((TLS)); then protocol=SSL; elif ((AUTH)); then protocol=SASL_PLAINTEXT; fi
  controller_port=$(kafka_controller_port)
  {
    cat <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller_port
controller.listener.names=CONTROLLER
listeners=CLIENT://127.0.0.1:$PORT,CONTROLLER://127.0.0.1:$controller_port
advertised.listeners=CLIENT://127.0.0.1:${ADVERTISED:-$PORT}
inter.broker.listener.name=CLIENT
listener.security.protocol.map=CLIENT:$protocol,CONTROLLER:PLAINTEXT
log.dirs=$DIR/data
# One node: every internal topic has one copy, and few partitions so that it starts quickly.
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
# A missing topic must be an error, not a new topic with one partition.
auto.create.topics.enable=false
CONF
    if ((TLS)); then
      cat "$DIR/tls/server.key" "$DIR/tls/server.pem" >"$DIR/tls/keystore.pem"
      printf '%s\n' ssl.keystore.type=PEM "ssl.keystore.location=$DIR/tls/keystore.pem" \
        ssl.truststore.type=PEM "ssl.truststore.location=$DIR/tls/ca.pem"
      ((MTLS == 0)) || printf '%s\n' listener.name.client.ssl.client.auth=required
    fi
    if ((AUTH)); then
      local lifeline emitter
      lifeline=$(<"$DIR/auth/lifeline.password") emitter=$(<"$DIR/auth/emitter.password")
      printf '%s\n' sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512 sasl.mechanism.inter.broker.protocol=PLAIN \
        listener.name.client.scram-sha-{256,512}.sasl.jaas.config='org.apache.kafka.common.security.scram.ScramLoginModule required;' \
        "listener.name.client.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username=\"lifeline\" password=\"$lifeline\" user_lifeline=\"$lifeline\" user_emitter=\"$emitter\";"
    fi
    if ((ACL)); then # the anonymous one is the controller, on its own port; clients here have names
      printf '%s\n' authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer \
        'super.users=User:lifeline;User:ANONYMOUS'
    fi
  } >"$DIR/server.properties"
  kafka_format
}

# The controller's port belongs to the stored quorum, so it is chosen once. It is another one than the clients'.
kafka_controller_port() {
  local chosen=$PORT
  if [[ ! -f $DIR/controller.port ]]; then
    while [[ $chosen == "$PORT" ]]; do chosen=$(free_port) || return; done
    printf '%s\n' "$chosen" >"$DIR/controller.port"
  fi
  cat "$DIR/controller.port"
}

# kafka_options: of every JVM. LIFELINE_TEST_JAVA has those that suit tests, where a start counts for more than a long run.
kafka_options() {
  local archive
  options=(-cp "$DEPS/kafka/*" -Djava.net.preferIPv4Stack=true -Dlog4j2.configurationFile="$ROOT/scripts/kafka/log4j2.properties")
  archive=$(kafka_archive_file)
  [[ ! -s $archive ]] || options+=("-XX:SharedArchiveFile=$archive")
  # shellcheck disable=SC2206 # one option per word
  options+=(${LIFELINE_TEST_JAVA:-})
}

# kafka_format: what Kafka's tool writes differs between two nodes by its ids alone, and a start of Java is a fifth of Kafka's: the
# tool runs once per version, and later nodes get copies with ids of their own.
kafka_format() {
  [[ ! -f $DIR/data/meta.properties ]] || return 0
  local formatted=$DEPS/kafka/formatted options
  if [[ ! -d $formatted ]]; then
    kafka_options
    java "${options[@]}" -XX:TieredStopAtLevel=1 kafka.tools.StorageTool format --cluster-id "$(kafka_id)" \
      --config "$DIR/server.properties" >"$DIR/format.log" 2>&1 ||
      die "Kafka's storage could not be formatted, see $DIR/format.log"
    cp -r "$DIR/data" "$formatted.$$"
    mv -T "$formatted.$$" "$formatted" 2>/dev/null || rm -rf "$formatted.$$" # another start was first
    return
  fi
  mkdir -p "$DIR/data"
  cp "$formatted/bootstrap.checkpoint" "$DIR/data/"
  sed "s/^cluster\.id=.*/cluster.id=$(kafka_id)/; s/^directory\.id=.*/directory.id=$(kafka_id)/" "$formatted/meta.properties" \
    >"$DIR/data/meta.properties.new"
  mv "$DIR/data/meta.properties.new" "$DIR/data/meta.properties"
}

# kafka_id: 16 random bytes in base64 as Kafka writes them; one that begins with a dash is none.
kafka_id() { printf 'A%s\n' "$(head -c 16 /dev/urandom | base64 | tr '+/' '-_' | cut -c 2-22)"; }

# broker_command OPTION...: with these options of the JVM beside its own.
broker_command() {
  local options
  kafka_options
  command=(java -Xms512m -Xmx512m "${options[@]}" "$@" kafka.Kafka "$DIR/server.properties")
}

# scripts/broker has seen that this very process holds the port; its log says when it serves. An earlier start's lines
# cannot mislead: the log is emptied before each one.
broker_answers() { grep -q 'Kafka Server started' "$DIR/broker.log"; }

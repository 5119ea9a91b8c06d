# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that source this file
# Consoles over a broker: with a small archive of hostile events, or with very many types and emitters; for tests. Needs common.sh and process.sh.

CONSOLE_PIDS=()
CONSOLE_BROKERS=()
CONSOLE_URL=''
# They run for a minute: better machine code and more threads that collect garbage would cost more than they save.
export LIFELINE_CONSOLE_JAVA_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${LIFELINE_CONSOLE_JAVA_OPTS:-}"
export LIFELINE_JOBS_JAVA_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${LIFELINE_JOBS_JAVA_OPTS:-}"

# start_console_broker DIR: starts a broker, set up, with its files in DIR; its address goes to BROKER_URL.
start_console_broker() {
  mkdir -p "$1"
  BROKER_URL=$("$ROOT/scripts/broker" start nats --dir "$1/broker" --owner $$ 2>"$1/broker.err") ||
    die "the broker did not start, see $1/broker.err"
  CONSOLE_BROKERS+=("$1/broker")
  "$BUILD/emitter/bin/lifeline-setup" --url "$BROKER_URL" >"$1/setup.log" 2>&1 || die "lifeline-setup failed, see $1/setup.log"
}

# console_of_hostile_events DIR ARGUMENT...: starts broker, jobs and console with all files in DIR; their address goes to CONSOLE_URL, that
# of the broker to BROKER_URL, the number of events to EVENTS.
console_of_hostile_events() {
  local dir=$1
  rm -rf "$dir"
  start_console_broker "$dir"
  EVENTS=$("$ROOT/console/page/test/hostile_events.py" "$BROKER_URL") || die "the events could not be published"
  "$ROOT/scripts/lifeline-jobs" run --set "broker.url=$BROKER_URL" --set jobs=archive,ledger --set "archive.dir=$dir/archive" \
    --set archive.roll.interval=1s --set "state.dir=$dir/state" >"$dir/jobs.log" 2>"$dir/jobs.err" &
  CONSOLE_PIDS+=($!)
  wait_until 60 'the events were not archived' events_are_archived "$dir/archive"
  start_console "$dir" "$dir/archive" --broker "$BROKER_URL" "${@:2}"
}

# console_of_many_events DIR: starts broker and console with 10,000 event types and 5,000 emitters, all files in DIR; like above.
console_of_many_events() {
  start_console_broker "$1"
  EVENTS=$("$ROOT/console/page/test/many_events.py" "$BROKER_URL") || die "the events could not be published"
  start_console "$1" --broker "$BROKER_URL"
}

# start_console DIR ARGUMENT...: starts a console with its output in DIR; its address goes to CONSOLE_URL.
start_console() {
  local dir=$1
  shift
  mkdir -p "$dir"
  : >"$dir/console.out" # the shell that runs the console may create it only after it is first read
  "$ROOT/scripts/lifeline-console" "$@" >"$dir/console.out" 2>"$dir/console.log" &
  CONSOLE_PIDS+=($!)
  wait_until 60 "the console did not serve, see $dir/console.log" grep -q '^console: ' "$dir/console.out"
  CONSOLE_URL=$(sed -n 's/^console: //p' "$dir/console.out")
}

events_are_archived() {
  local rows
  [[ -n $(find "$1/manifests" -type f -print -quit 2>/dev/null) ]] || return 1 # a query takes a second of CPU time
  rows=$("$ROOT/scripts/lifeline-jobs" sql --archive "$1" --csv 'SELECT count(*) FROM events' 2>/dev/null | tail -n 1) || return 1
  [[ $rows == "$EVENTS" ]]
}

# wait_until SECONDS ERROR COMMAND...: until the command succeeds.
wait_until() {
  local deadline=$((SECONDS + $1)) error=$2
  shift 2
  until "$@"; do
    ((SECONDS < deadline)) || die "$error"
    sleep 0.2
  done
}

# end_consoles: ends what was started here, and the broker.
end_consoles() {
  local pid dir
  for pid in "${CONSOLE_PIDS[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" || true
  done
  for dir in "${CONSOLE_BROKERS[@]}"; do
    "$ROOT/scripts/broker" stop --dir "$dir" >/dev/null 2>&1 || true
  done
}

# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that source this file
# A console over a broker and a small archive of hostile events, for tests. Needs common.sh and process.sh.

CONSOLE_PIDS=()
CONSOLE_DIR=''
CONSOLE_URL=''

# console_of_hostile_events DIR: starts broker, jobs and console with all files in DIR; their address goes to CONSOLE_URL, that
# of the broker to BROKER_URL, the number of events to EVENTS.
console_of_hostile_events() {
  CONSOLE_DIR=$1
  rm -rf "$CONSOLE_DIR"
  mkdir -p "$CONSOLE_DIR"
  BROKER_URL=$("$ROOT/scripts/broker" start nats --dir "$CONSOLE_DIR/broker" --owner $$ 2>"$CONSOLE_DIR/broker.err") ||
    die "the broker did not start, see $CONSOLE_DIR/broker.err"
  "$BUILD/emitter/bin/lifeline-setup" --url "$BROKER_URL" >"$CONSOLE_DIR/setup.log" 2>&1 ||
    die "lifeline-setup failed, see $CONSOLE_DIR/setup.log"
  EVENTS=$("$ROOT/console/page/test/hostile_events.py" "$BROKER_URL") || die "the events could not be published"
  "$ROOT/scripts/lifeline-jobs" run --set "broker.url=$BROKER_URL" --set jobs=archive,ledger --set "archive.dir=$CONSOLE_DIR/archive" \
    --set archive.roll.interval=1s --set "state.dir=$CONSOLE_DIR/state" >"$CONSOLE_DIR/jobs.log" 2>"$CONSOLE_DIR/jobs.err" &
  CONSOLE_PIDS+=($!)
  wait_until 60 'the events were not archived' events_are_archived
  start_console "$CONSOLE_DIR" "$CONSOLE_DIR/archive" --broker "$BROKER_URL"
}

# start_console DIR ARGUMENT...: starts a console with its output in DIR; its address goes to CONSOLE_URL.
start_console() {
  local dir=$1
  shift
  "$ROOT/scripts/lifeline-console" "$@" >"$dir/console.out" 2>"$dir/console.log" &
  CONSOLE_PIDS+=($!)
  wait_until 60 "the console did not serve, see $dir/console.log" grep -q '^console: ' "$dir/console.out"
  CONSOLE_URL=$(sed -n 's/^console: //p' "$dir/console.out")
}

events_are_archived() {
  local rows
  rows=$("$ROOT/scripts/lifeline-jobs" sql --archive "$CONSOLE_DIR/archive" --csv 'SELECT count(*) FROM events' 2>/dev/null | tail -n 1) || return 1
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
  local pid
  for pid in "${CONSOLE_PIDS[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" || true
  done
  [[ -z $CONSOLE_DIR ]] || "$ROOT/scripts/broker" stop --dir "$CONSOLE_DIR/broker" >/dev/null 2>&1 || true
}

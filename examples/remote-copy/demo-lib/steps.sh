# shellcheck shell=bash
# shellcheck disable=SC2034 # some variables are for the other files
# The demo's steps, and how it ends: every process by its pid, every temporary file by its directory.

STEP=0 STEPS=6
RINGS_MB=200 # two programs, each with the emitter's 64 MB, and room to spare
STARTED_PIDS=()
WORK=''

say() { printf '%s\n' "$*"; }

die() {
  printf 'demo: %s\n' "$*" >&2
  exit 1
}

usage_error() {
  printf 'demo: %s (try --help)\n' "$*" >&2
  exit 2
}

step() {
  STEP=$((STEP + 1))
  printf '[%d/%d] %s\n' "$STEP" "$STEPS" "$*"
}

# progress TEXT: one line that is written over on a terminal, and nothing in a log.
progress() { if [[ -t 1 ]]; then printf '\r      %s\033[K' "$*"; fi; }
progress_done() { if [[ -t 1 ]]; then printf '\r\033[K'; fi; }
detail() { printf '      %s\n' "$*"; }

# fail_with_log LOG TEXT: the end of a log says more than any message.
fail_with_log() {
  local errors=${1%.log}.err
  progress_done
  tail -n 15 "$1" >&2
  [[ ! -s $errors ]] || tail -n 15 "$errors" >&2
  die "$2; the whole log is $1"
}

# take_output_directory: OUTPUT for what stays, WORK beside it for what does not, RINGS for the emitters, in memory where that has room.
take_output_directory() {
  mkdir -p "$OUTPUT"
  OUTPUT=$(cd "$OUTPUT" && pwd)
  exec 9>"$OUTPUT/.lock"
  flock -n 9 || die "another demo runs in $OUTPUT: wait for it, or choose another place with OUTPUT=DIR"
  rm -rf "$OUTPUT/data" "$OUTPUT/logs" "$OUTPUT/lifelines.svg" "$OUTPUT/page.png"
  mkdir -p "$OUTPUT/logs"
  DATA=$OUTPUT/data ARCHIVE=$OUTPUT/data/archive LOGS=$OUTPUT/logs SVG=$OUTPUT/lifelines.svg PAGE_PICTURE=$OUTPUT/page.png
  WORK=$(mktemp -d "$OUTPUT/work.XXXXXX")
  local memory=/dev/shm room
  room=$(df --output=avail -B1M "$memory" 2>/dev/null | tail -n 1)
  [[ -w $memory ]] && ((${room:-0} >= RINGS_MB)) || memory=$WORK
  RINGS=$(mktemp -d "$memory/lifeline-demo-$$.XXXXXX")
}

# in_background NAME COMMAND...: its output goes to LOGS/NAME.log and .err, its pid to PID.
in_background() {
  local log=$LOGS/$1
  shift
  "$@" >"$log.log" 2>"$log.err" </dev/null 9>&- &
  PID=$!
  STARTED_PIDS+=("$PID")
}

# end_process PID SECONDS: asks it to end, and insists after that time.
end_process() {
  local pid=$1 deadline=$((SECONDS + $2))
  kill -TERM "$pid" 2>/dev/null || return 0
  while kill -0 "$pid" 2>/dev/null; do
    ((SECONDS < deadline)) || kill -KILL "$pid" 2>/dev/null
    sleep 0.05
  done
  wait "$pid" 2>/dev/null || true
}

clean_up() {
  local i
  trap '' INT TERM HUP
  progress_done
  for ((i = ${#STARTED_PIDS[@]} - 1; i >= 0; i--)); do end_process "${STARTED_PIDS[i]}" 40; done
  if [[ -d $WORK/broker ]]; then
    "$ROOT/scripts/broker" stop --dir "$WORK/broker" >/dev/null 2>&1 || true
    cp "$WORK/broker/broker.log" "$LOGS/" 2>/dev/null || true
  fi
  rm -rf "$WORK" "$RINGS"
}

# wait_for_line LOG PID SECONDS PATTERN: the first match of the pattern's group, once the process has printed it.
wait_for_line() {
  local log=$1 pid=$2 deadline=$((SECONDS + $3)) pattern=$4
  until [[ $(cat "$log" 2>/dev/null) =~ $pattern ]]; do
    kill -0 "$pid" 2>/dev/null || fail_with_log "$log" "this process ended before it was ready"
    ((SECONDS < deadline)) || fail_with_log "$log" "this process was not ready in time"
    sleep 0.1
  done
  FOUND=${BASH_REMATCH[1]}
}

# start_broker: lifeline-dev has a NATS of its own, and is given a Kafka. The data are in DATA.
start_broker() {
  local given=()
  if [[ $BROKER == kafka ]]; then
    start_kafka
    given=(--broker "$LIFELINE_BROKER_URL")
  fi
  in_background dev "$ROOT/build/bin/lifeline-dev" --keep "$DATA" "${given[@]}"
  DEV_PID=$PID
  wait_for_line "$LOGS/dev.log" "$DEV_PID" 300 'export LIFELINE_URL=([^[:space:]]+)'
  LIFELINE_BROKER_URL=$FOUND
  detail "$LIFELINE_BROKER_URL (pid ${LIFELINE_BROKER_PID:-$DEV_PID})"
}

start_kafka() {
  mkdir -p "$WORK/broker"
  "$ROOT/scripts/broker" start kafka --dir "$WORK/broker" --owner $$ >"$LOGS/broker-start.log" 2>&1 9>&- ||
    fail_with_log "$LOGS/broker-start.log" "the broker did not start"
  # shellcheck disable=SC1091
  source "$WORK/broker/broker.env"
}

wait_for_jobs() {
  wait_for_line "$LOGS/dev.log" "$DEV_PID" 300 'jobs: ([^[:space:]]+)/health'
  detail "health and metrics at $FOUND while the demo runs"
}

wait_for_page() {
  wait_for_line "$LOGS/dev.log" "$DEV_PID" 300 'page: ([^[:space:]]+)'
  PAGE_URL=$FOUND
  detail "$PAGE_URL while the demo runs"
}

# take_picture: the page as a browser shows it, where there is one. A start of Chromium is much work: tests leave it out by PICTURE=no
# where another demo of theirs takes one.
take_picture() {
  local chromium
  if [[ ${PICTURE:-} == no ]]; then
    detail "no picture of the page, as wanted"
  elif ! chromium=$(type -P chromium); then
    detail "no picture of the page: chromium is not installed"
  elif ! node "$ROOT/console/page/test/picture.mjs" "$chromium" "$PAGE_URL" "$PAGE_PICTURE" >"$LOGS/picture.log" 2>&1 </dev/null 9>&-; then
    detail "no picture of the page: chromium showed no lifelines, see $LOGS/picture.log"
  fi
}

# note_alerts: while there is a broker to be asked.
note_alerts() {
  "$ROOT/scripts/lifeline-jobs" alerts --all --set "broker.url=$LIFELINE_BROKER_URL" >"$LOGS/alerts.txt" 2>"$LOGS/alerts.log" ||
    fail_with_log "$LOGS/alerts.log" "the alerts cannot be read"
}

stop_dev() { end_process "$DEV_PID" 40; }

# copy_files: the sum of the events that both programs counted at their own call sites goes to EMITTED.
copy_files() {
  export LIFELINE_URL=$LIFELINE_BROKER_URL LIFELINE_RING_DIR=$RINGS
  mkdir -p "$WORK/copied"
  slow_disk
  in_background serve "$BIN/remote-copy" serve --into "$WORK/copied" --json "${SERVE_OPTIONS[@]}"
  local serve_pid=$PID sent
  wait_for_line "$LOGS/serve.log" "$serve_pid" 60 '"listening":"([^"]+)"'
  slow_connection_to "$FOUND"
  in_background send "$BIN/remote-copy" send --to "$TARGET" --files-from "$WORK/files" --json
  local send_pid=$PID
  while kill -0 "$send_pid" 2>/dev/null; do
    sent=$(du -sb "$WORK/copied" 2>/dev/null | cut -f1) || true # a file was renamed while du looked
    progress "$((${sent:-0} / 1000000)) of $((CHOSEN_BYTES / 1000000)) MB"
    sleep 0.5
  done
  progress_done
  wait "$send_pid" || fail_with_log "$LOGS/send.log" "the copy failed"
  end_process "$serve_pid" 20
  EMITTED=$(jq -s 'map(.events_emitted // 0) | add' "$LOGS/send.log" "$LOGS/serve.log")
  detail "$(jq -r 'select(.seconds) | "\(.files) files, \(.bytes / 1e6 | floor) MB in \(.seconds * 10 | round / 10) s" +
    " (\(.bytes / 1e6 / .seconds | round) MB/s), checksums verified"' "$LOGS/send.log")"
  ((EMITTED > 0)) || fail_with_log "$LOGS/send.log" "remote-copy emitted nothing: is its instrumentation off?"
  detail "remote-copy counted $EMITTED events at its call sites"
}

archived_events() {
  "$ROOT/scripts/lifeline-jobs" sql --archive "$ARCHIVE" --csv 'SELECT count(*) FROM events' 2>"$LOGS/sql.log" |
    tail -n 1 | grep -o '[0-9]*' || echo 0
}

# wait_for_news: until the archive has other files than at the last call, for five seconds at most. A question costs a start of Java.
LAST_SEEN=''
wait_for_news() {
  local seen deadline=$((SECONDS + 5))
  while seen=$(find "$ARCHIVE" -type f -printf '%p %s %T@\n' 2>/dev/null | sort || true) && [[ $seen == "$LAST_SEEN" ]] && ((SECONDS < deadline)); do
    sleep 0.2
  done
  LAST_SEEN=$seen
}

wait_for_archive() {
  local deadline=$((SECONDS + 300)) archived
  wait_for_news # what is there now is hardly all
  wait_for_news
  while archived=$(archived_events) && ((archived < EMITTED)); do
    progress "$archived of $EMITTED events"
    kill -0 "$DEV_PID" 2>/dev/null || fail_with_log "$LOGS/dev.log" "the stream jobs ended early"
    ((SECONDS < deadline)) ||
      fail_with_log "$LOGS/dev.log" "after 300 s the archive holds $archived of $EMITTED events"
    wait_for_news
  done
  progress_done
  detail "$archived of $EMITTED events"
}

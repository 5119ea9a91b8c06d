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
  rm -rf "$OUTPUT/archive" "$OUTPUT/logs" "$OUTPUT/lifelines.svg"
  mkdir -p "$OUTPUT/logs"
  ARCHIVE=$OUTPUT/archive LOGS=$OUTPUT/logs SVG=$OUTPUT/lifelines.svg
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
  for ((i = ${#STARTED_PIDS[@]} - 1; i >= 0; i--)); do end_process "${STARTED_PIDS[i]}" 20; done
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

start_broker() {
  mkdir -p "$WORK/broker"
  "$ROOT/scripts/broker" start "$BROKER" --dir "$WORK/broker" --owner $$ >"$LOGS/broker-start.log" 2>&1 9>&- ||
    fail_with_log "$LOGS/broker-start.log" "the broker did not start"
  # shellcheck disable=SC1091
  source "$WORK/broker/broker.env"
  detail "$LIFELINE_BROKER_URL (pid $LIFELINE_BROKER_PID)"
}

set_up_broker() {
  "$BIN/lifeline-setup" --url "$LIFELINE_BROKER_URL" >"$LOGS/setup.log" 2>&1 ||
    fail_with_log "$LOGS/setup.log" "lifeline-setup failed"
}

start_jobs() {
  in_background jobs "$ROOT/scripts/lifeline-jobs" run --set "broker.url=$LIFELINE_BROKER_URL" \
    --set jobs=summarise,bottleneck,archive,ledger --set bottleneck.interval=200ms --set bottleneck.hold=1s \
    --set "archive.dir=$ARCHIVE" --set archive.roll.interval=2s --set "state.dir=$WORK/state"
  JOBS_PID=$PID
  wait_for_line "$LOGS/jobs.log" "$JOBS_PID" 300 'ready: health=([^ ]+)'
  detail "ready, health and metrics at $FOUND while the demo runs"
}

stop_jobs() { end_process "$JOBS_PID" 30; }

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

wait_for_archive() {
  local deadline=$((SECONDS + 300)) archived
  while archived=$(archived_events) && ((archived < EMITTED)); do
    progress "$archived of $EMITTED events"
    kill -0 "$JOBS_PID" 2>/dev/null || fail_with_log "$LOGS/jobs.log" "the stream jobs ended early"
    ((SECONDS < deadline)) ||
      fail_with_log "$LOGS/jobs.log" "after 300 s the archive holds $archived of $EMITTED events"
    sleep 0.5
  done
  progress_done
  detail "$archived of $EMITTED events"
}

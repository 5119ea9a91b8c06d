# shellcheck shell=bash
# What the demo ends with: computed from the archive alone, and beside it what a job said meanwhile.

# ask TITLE SQL: a question, as one would type it, and its answer.
ask() {
  printf '\n%s\n' "$1"
  printf '%s\n' "$2" | sed 's/^/  sql> /'
  "$ROOT/scripts/lifeline-jobs" sql --archive "$ARCHIVE" "$2" | sed 's/^/  /'
}

print_answers() {
  local report=$LOGS/report.txt page=${PAGE_URL#http://} ledger
  "$ROOT/scripts/lifeline-jobs" report --archive "$ARCHIVE" --svg "$SVG" --emitted "$EMITTED" \
    --set bottleneck.interval=200ms --set bottleneck.hold=1s >"$report" 2>"$LOGS/report.log" ||
    [[ -s $report ]] || fail_with_log "$LOGS/report.log" "the report failed"
  ledger=$(grep '^ledger: ' "$report" || true)

  printf '\n'
  grep -Ev '^(ledger|lifelines): ' "$report" || true

  ask "How fast did the copy go, second by second?" \
    'SELECT date_trunc('\''second'\'', ts) AS second, count(*) AS blocks, round(sum(nbytes) / 1e6, 1) AS megabytes
FROM "disk.write.end" GROUP BY second ORDER BY second LIMIT 8'

  ask "Which blocks took longest from disk to disk?" \
    'SELECT r.id & 4294967295 AS block, -- the lower half of an id; the upper one is the transfer
       round((epoch_ns(w.ts) - epoch_ns(r.ts)) / 1e6, 3) AS milliseconds
FROM "disk.read.start" r JOIN "disk.write.end" w USING (id) ORDER BY milliseconds DESC LIMIT 5'

  ask "Where did a block wait, between one step and the next?" \
    'SELECT round(avg(epoch_ns(s.ts) - epoch_ns(r.ts)) / 1e6, 3) AS ms_until_sent,
       round(avg(epoch_ns(v.ts) - epoch_ns(s.ts)) / 1e6, 3) AS ms_until_received,
       round(avg(epoch_ns(w.ts) - epoch_ns(v.ts)) / 1e6, 3) AS ms_until_written
FROM "disk.read.end" r JOIN "net.send.start" s USING (id)
  JOIN "net.receive.end" v USING (id) JOIN "disk.write.start" w USING (id)'

  printf '\nWhat did the job bottleneck say while the copy ran? (by the same rule)\n'
  sed 's/^/  /' "$LOGS/alerts.txt"

  printf '\n'
  say "picture: $SVG (lifelines of blocks; any browser shows it)"
  [[ ! -f $PAGE_PICTURE ]] || say "         $PAGE_PICTURE (the page, as a browser showed it)"
  say "$ledger"
  printf '\n'
  say "archive: $ARCHIVE   logs: $LOGS"
  say "next:    scripts/lifeline-jobs sql --archive $(printf '%q' "$ARCHIVE") 'SELECT type, count(*) FROM events GROUP BY type'"
  say "         SLOW=disk-write make demo   SLOW=network make demo   BROKER=kafka make demo   PROGRAM=vsftpd make demo"
  say "page:    $PAGE_URL while this runs: build/emitter/bin/lifeline view --listen ${page%/} $(printf '%q' "$ARCHIVE")"
  [[ $ledger == "ledger: emitted=$EMITTED archived=$EMITTED in_flight=0 dropped=0 missing=0 duplicated=0" ]] ||
    die "the counts differ: remote-copy counted $EMITTED events"
}

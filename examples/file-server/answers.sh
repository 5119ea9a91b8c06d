# shellcheck shell=bash
# What the demo ends with: computed from the archive, and beside it what a job said meanwhile.

sql() { "$ROOT/scripts/lifeline-jobs" sql --archive "$ARCHIVE" "$@"; }

# ask TITLE SQL: a question, as one would type it, and its answer.
ask() {
  printf '\n%s\n' "$1"
  printf '%s\n' "$2" | sed 's/^/  sql> /'
  sql "$2" | sed 's/^/  /'
}

print_answers() {
  local page=${PAGE_URL#http://} books
  ask "Which operations did server and clients spend their time in?" \
    "SELECT program, operation, round(sum(nbytes) / 1e6) AS megabytes, round(sum(duration) / 1e9, 1) AS seconds,
       round(sum(nbytes) / nullif(sum(duration), 0) * 1e3, 1) AS mb_per_second_of_work
FROM \"io.target\" WHERE operation IN ('disk.read', 'net.send', 'net.receive', 'disk.write') AND nbytes > 1000000
GROUP BY ALL ORDER BY seconds DESC"

  ask "How long did a read of the server take, while every read was switched on?" \
    "SELECT n.name, count(*) AS reads, round(avg(epoch_ns(e.ts) - epoch_ns(s.ts)) / 1e6, 1) AS milliseconds, round(avg(o.result)) AS bytes
FROM \"disk.read.start\" s JOIN \"disk.read.end\" e USING (incarnation, id) JOIN \"io.operation\" o USING (incarnation, id)
  JOIN \"io.name\" n USING (incarnation, target) GROUP BY n.name ORDER BY reads DESC LIMIT 3"

  ask "What belongs to the session?" \
    "SELECT name, round(epoch(ended - started), 1) AS seconds, ok, programs, events FROM sessions WHERE session = '$SESSION'"

  printf '\nWhat held the downloads up? The job bottleneck said while they ran:\n'
  sed 's/^/  /' "$LOGS/alerts.txt"

  printf '\n'
  [[ ! -f $PAGE_PICTURE ]] || say "picture: $PAGE_PICTURE (the page, as a browser showed it)"
  books=$(sql --csv 'SELECT sum(emitted), sum(archived), sum(dropped), sum(missing) FROM ledger' 2>"$LOGS/sql.log" | tail -n 1)
  IFS=, read -r emitted archived dropped missing <<<"$books"
  say "ledger: emitted=$emitted archived=$archived dropped=$dropped missing=$missing"
  printf '\n'
  say "archive: $ARCHIVE   logs: $LOGS"
  say "next:    build/emitter/bin/lifeline run --url $LIFELINE_BROKER_URL PROGRAM ... with a broker of yours; emitter/preload/README.md"
  say "page:    $PAGE_URL while this runs: build/emitter/bin/lifeline view --listen ${page%/} $(printf '%q' "$ARCHIVE")"
  [[ $emitted == "$archived" && $dropped == 0 && $missing == 0 ]] || die "the books do not balance"
}

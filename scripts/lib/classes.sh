# shellcheck shell=bash
# Faster starts of the programs in Java.

# share_classes FOLDER COMMAND...: keeps the classes that the command loads, ready for use, in FOLDER.jsa. They are of use to these jars, in
# this place, and this JVM; without them the program starts more slowly.
share_classes() {
  local archive=$1.jsa
  shift
  rm -f "$archive"
  LIFELINE_JOBS_JAVA_OPTS=-XX:ArchiveClassesAtExit=$archive LIFELINE_CONSOLE_JAVA_OPTS=-XX:ArchiveClassesAtExit=$archive \
    "$@" >/dev/null 2>&1 || rm -f "$archive"
}

# share_classes_of_a_run JOBS CONSOLE: the same in both folders for the jobs and the page that lifeline-dev runs for a moment, which saves
# a third of the processor time of each start. Fails where lifeline-dev or what it needs has not been built.
share_classes_of_a_run() {
  local dev=$ROOT/build/bin/lifeline-dev folder options pid url status=0
  [[ -x $dev && -x $ROOT/build/emitter/bin/lifeline-minimal ]] || return
  folder=$(mktemp -d) || return
  rm -f "$1.jsa" "$2.jsa"
  options="-XX:+RecordDynamicDumpInfo -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
  TMPDIR=$folder LIFELINE_JOBS_JAVA_OPTS=$options LIFELINE_CONSOLE_JAVA_OPTS=$options \
    "$dev" --json >"$folder/parts" &
  pid=$!
  until [[ -s $folder/parts ]] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.1; done # it gives its parts a limited time itself
  if url=$(jq -er .url "$folder/parts"); then LIFELINE_URL=$url "$ROOT/build/emitter/bin/lifeline-minimal"; fi # for the archive
  keep_classes lifeline-jobs "$1.jsa" && keep_classes lifeline-console "$2.jsa" || status=1
  kill "$pid" 2>/dev/null || true
  wait "$pid" || true
  rm -rf "$folder"
  return "$status"
}

# keep_classes NAME ARCHIVE: those of the process with that name in $folder/parts.
keep_classes() {
  local of
  of=$(jq -er --arg name "$1" '.pids[$name]' "$folder/parts") && jcmd "$of" VM.cds dynamic_dump "$folder/$1.jsa" &&
    mv "$folder/$1.jsa" "$2"
}

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

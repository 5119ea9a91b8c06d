# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that source this file
# Shared by all scripts: paths, versions, messages and errors.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$ROOT/build
DEPS=$BUILD/deps

GO_VERSION=1.26.8           # fetched only where the machine's own Go is older than GO_OLDEST
GO_OLDEST=1.26
NATS_SERVER_VERSION=2.15.2
KAFKA_VERSION=4.3.1         # also named in scripts/kafka/**/pom.xml, which a test compares with this line
KSQLDB_VERSION=8.2.3        # of the image that compose/ksqldb.yaml names
PLUGINS_SUITE=trixie        # the Debian release whose docker compose is used where the machine's own is too old
MEMCACHED_SUITE=bookworm    # the Debian release whose memcached scripts/bench-memcached builds

export PATH=$DEPS/go/bin:$DEPS/bin:$PATH
[[ :$PATH: == *:/usr/sbin:* ]] || PATH=$PATH:/usr/sbin:/sbin # tc, dockerd, iptables: not in the PATH of users
export GOTOOLCHAIN=local    # never a silent download of another Go
[[ " ${GOFLAGS:-} " == *' -buildvcs=false '* ]] || export GOFLAGS="${GOFLAGS:+$GOFLAGS }-buildvcs=false"

# can_write PATH: it, or the folder that it would be made in.
can_write() {
  local path=$1
  while [[ ! -e $path ]]; do path=$(dirname "$path"); done
  [[ -w $path ]]
}

# use_proxy: a proxy is for other machines, and tests speak HTTP to their own. Java's programs do not read these variables.
use_proxy() {
  local around=${no_proxy:-${NO_PROXY:-}}
  [[ ",$around," == *,127.0.0.1,* ]] || around=localhost,127.0.0.1,::1${around:+,$around}
  export no_proxy=$around NO_PROXY=$around
}

# use_own_caches: where the home directory cannot be written, caches go to build/deps. Java's home directory is the one in
# the list of users, whatever HOME says.
use_own_caches() {
  local home
  can_write "${GOPATH:-$HOME/go}/pkg/mod" || export GOPATH=$DEPS/caches/go GOFLAGS="$GOFLAGS -modcacherw"
  can_write "${GOCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/go-build}" || export GOCACHE=$DEPS/caches/go-build
  can_write "${XDG_CACHE_HOME:-$HOME/.cache}/pip" || export PIP_CACHE_DIR=$DEPS/caches/pip
  home=$(getent passwd "$EUID" | cut -d: -f6) || true
  { [[ -n $home ]] && can_write "$home/.m2/repository"; } || export LIFELINE_MAVEN_REPOSITORY=$DEPS/caches/maven
}

# use_large_memory: in a container /dev/shm often has 64 MB, which is one emitter's rings. Tests then put theirs on disk.
use_large_memory() {
  local size_mb
  size_mb=$(df --output=size -B1M /dev/shm 2>/dev/null | tail -n 1)
  ((${size_mb:-0} >= 1000)) || export LIFELINE_TEST_MEMORY=${TMPDIR:-/tmp}
}

export HOME=${HOME:-/nonexistent}
use_large_memory
BEHIND_PROXY=${http_proxy:-}${https_proxy:-}${HTTP_PROXY:-}${HTTPS_PROXY:-}
[[ -z $BEHIND_PROXY ]] || use_proxy
use_own_caches
if [[ -n $BEHIND_PROXY${LIFELINE_MAVEN_REPOSITORY:-} && $PATH != *"$ROOT/scripts/lib/path:"* ]] && type -P mvn >/dev/null; then
  PATH=$ROOT/scripts/lib/path:$PATH
fi

# say prints progress to standard error; standard output is for results.
say() { printf '%s\n' "$*" >&2; }

# die prints the cause and the remedy.
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# usage_error is die for a wrong command line: exit code 2, as in every command of this repository.
usage_error() {
  printf '%s: %s (try --help)\n' "$(basename "$0")" "$*" >&2
  exit 2
}

# print_help shows the comment block at the top of the calling script, which is its manual.
print_help() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"; }

# with_lock NAME COMMAND...: one process at a time, so that parallel tests install a dependency once.
with_lock() {
  local name=$1
  shift
  mkdir -p "$DEPS"
  (
    flock 9
    "$@"
  ) 9>"$DEPS/.$name.lock"
}

# retried COMMAND...: retries a failed download twice after a pause.
retried() {
  local pause
  for pause in 5 20; do
    "$@" && return
    say "retrying in $pause s: $*"
    sleep "$pause"
  done
  "$@"
}

# maven ARGUMENTS...: quiet, and without the codes that reset colours, which it prints even when told to use none. Again
# when an artifact did not come, and only then. It ends before better machine code would pay: half the processor time of checkstyle.
maven() {
  local log status pause
  log=$(mktemp) || return
  for pause in 5 20 0; do
    status=0
    MAVEN_OPTS=${MAVEN_OPTS--XX:TieredStopAtLevel=1 -XX:+UseSerialGC} mvn -q -B -Dstyle.color=never "$@" 2>&1 | sed $'s/\033\\[[0-9;]*m//g' | tee "$log" || status=$?
    if ((status == 0 || pause == 0)) || ! grep -q 'Could not transfer artifact' "$log"; then break; fi
    say "retrying in $pause s, since an artifact could not be fetched"
    sleep "$pause"
  done
  rm -f "$log"
  return "$status"
}

# go_modules: the folders that hold a Go module of this repository.
go_modules() { find "$ROOT" -name go.mod -not -path "$BUILD/*" -printf '%h\n' | sort; }

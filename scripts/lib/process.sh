# shellcheck shell=bash
# Processes identified by pid and start time: a pid alone may have been reused.

# process_start_time PID: the kernel's start time of a process in clock ticks since boot, empty when it is gone.
process_start_time() {
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  stat=${stat##*) } # the command's name may hold spaces and brackets: skip past it
  read -ra stat <<<"$stat"
  [[ ${stat[0]} != Z || ${stat[17]} -gt 1 ]] && printf '%s\n' "${stat[19]}"
}

# process_is_alive PID START_TIME: true while that very process runs. A zombie does not, but one with threads that are still
# about to end holds its ports and locks.
process_is_alive() { [[ -n ${1:-} && -n ${2:-} && $(process_start_time "$1") == "$2" ]]; }

# process_end PID START_TIME SECONDS: SIGTERM, and SIGKILL when it has not gone after SECONDS.
process_end() {
  local deadline=$((SECONDS + $3))
  process_is_alive "$1" "$2" || return 0
  kill -TERM "$1" 2>/dev/null || true # it may have gone just now
  while process_is_alive "$1" "$2"; do
    ((SECONDS < deadline)) || kill -KILL "$1" 2>/dev/null || true
    sleep 0.05
  done
}

# process_pause PID: SIGSTOP, and waits until every thread has stopped, which on a busy machine is some time later.
process_pause() {
  kill -STOP "$1"
  while [[ -n $(running_threads "$1") ]]; do sleep 0.001; done
}

# running_threads PID: the states of those that have neither stopped nor ended. One may end while it is looked at.
running_threads() { grep -hs '^State:' /proc/"$1"/task/*/status | grep -vE '[TtZX] \(' || true; }

process_resume() { kill -CONT "$1"; }

# process_listens PID PORT: true when PID itself holds the listening TCP socket on PORT; this is how a broker is told
# apart from a stranger that answers on the same port.
process_listens() {
  local inode
  while read -r inode; do
    [[ -z $(find "/proc/$1/fd" -lname "socket:\[$inode\]" 2>/dev/null) ]] || return 0
  done < <(awk -v port=":$(printf '%04X' "$2")" \
    '$4 == "0A" && substr($2, length($2) - 4) == port { print $10 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  return 1
}

# free_port: a TCP port of the loopback interface that nobody uses at the moment. It lies outside of those that the kernel
# chooses from, where there is room: else somebody who asks for any port gets it while its server is down, or not yet up.
# In LIFELINE_TEST_PORTS (FIRST-LAST) the runner of tests gives each stage ports that no other stage's servers take.
free_port() {
  python3 - <<'PYTHON'
import os, random, socket
if given := os.environ.get("LIFELINE_TEST_PORTS"):
    first, last = map(int, given.split("-"))
else:
    with open("/proc/sys/net/ipv4/ip_local_port_range") as limits:
        first, last = 10_000, int(limits.read().split()[0]) - 1
for port in random.sample(range(first, max(last + 1, first)), min(max(last + 1 - first, 0), 100)) + [0]:
    listener = socket.socket()
    try:
        listener.bind(("127.0.0.1", port))
        print(listener.getsockname()[1])
        break
    except OSError:
        pass
PYTHON
}

# port_is_free PORT: true when a server could bind it now.
port_is_free() {
  python3 - "$1" <<'PYTHON'
import socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
try:
    listener.bind(("127.0.0.1", int(sys.argv[1])))
except OSError:
    sys.exit(1)
PYTHON
}

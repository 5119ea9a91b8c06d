# shellcheck shell=bash
# shellcheck disable=SC2034 # some variables are for the other files
# SLOW=: throttles that neither remote-copy nor the analysis know of.

SLOW_MB_PER_S=${SLOW_MB_PER_S:-16} # tests choose less, so that no load makes another step slower
IN_NAMESPACE=${LIFELINE_DEMO_IN_NAMESPACE:-}

# htb PORT: holds what goes to that port of this namespace's loopback interface to the rate.
htb() {
  tc qdisc add dev lo root handle 1: htb &&
    tc class add dev lo parent 1: classid 1:1 htb rate $((SLOW_MB_PER_S * 8))mbit burst 64kb quantum 60000 &&
    tc filter add dev lo parent 1: protocol ip u32 match ip dport "$1" 0xffff flowid 1:1
}

# enter_network_namespace ARGUMENTS...: for SLOW=network, starts the demo again in a network namespace of its own, whose
# loopback interface it may throttle without touching the machine's; the namespace goes with its last process.
enter_network_namespace() {
  [[ $SLOW == network && -z $IN_NAMESPACE ]] || return 0
  local unshare=(unshare --net)
  ((EUID == 0)) || unshare=(unshare --map-root-user --net)
  if "${unshare[@]}" -- bash -c "SLOW_MB_PER_S=1; $(declare -f htb); ip link set lo up && htb 9" >/dev/null 2>&1; then
    # shellcheck disable=SC2016 # the inner shell is to expand them
    LIFELINE_DEMO_IN_NAMESPACE=1 exec "${unshare[@]}" -- bash -c 'ip link set lo up && exec "$0" "$@"' "$0" "$@"
  fi
  say "SLOW=network: no network namespace with traffic control is available here (needs unshare, ip, tc and leave to use"
  say "them): the connection goes through a rate-limited relay process instead."
}

# slow_disk: sets SERVE_OPTIONS, what SLOW adds to `remote-copy serve`.
slow_disk() {
  SERVE_OPTIONS=()
  [[ $SLOW != disk-write ]] || SERVE_OPTIONS=(--through "$(printf '%q' "$BIN/throttle") pipe --rate $SLOW_MB_PER_S")
}

# slow_connection_to ADDRESS: sets TARGET, the address that the sender is to use.
slow_connection_to() {
  TARGET=$1
  [[ $SLOW == network ]] || return 0
  if [[ $IN_NAMESPACE ]]; then
    htb "${TARGET##*:}" || die "traffic control refused the limit"
  else
    in_background relay "$BIN/throttle" relay --rate "$SLOW_MB_PER_S" --port "${TARGET##*:}"
    wait_for_line "$LOGS/relay.log" "$PID" 10 'listening on ([0-9.:]+)'
    TARGET=$FOUND
  fi
}

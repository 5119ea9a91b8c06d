#!/bin/sh
# An event whose type is off costs three instructions: its state is loaded, tested, and branched upon. Counted by
# callgrind in a loop of many rounds, above a loop that does nothing. Exits 77 where valgrind is not installed.
#
#   run.sh BUILD_DIR
set -eu

build=$1
rounds=10000
command -v valgrind >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
export LIFELINE_URL=null: LIFELINE_RING_DIR="$work/rings" LIFELINE_RESOLUTION='bench.table1 off'

# instructions FUNCTION
instructions() {
  valgrind --tool=callgrind --callgrind-out-file="$work/$1" --toggle-collect="$1" "$build/bin/bench-off" \
    --count "$rounds" >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
  sed -n 's/^totals: \([0-9]*\).*/\1/p' "$work/$1"
}

off=$(instructions bench_off_loop)
empty=$(instructions bench_empty_loop)
each=$(((off - empty) / rounds))
echo "off: $each instructions ($off less $empty, in $rounds rounds)"
[ "$off" -gt "$empty" ]
[ "$each" -le 3 ]

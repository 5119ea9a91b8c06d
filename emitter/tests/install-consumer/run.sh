#!/bin/sh
# Installs the build into a fresh directory and builds programs against nothing but that, by CMake and by pkg-config.
#
#   run.sh BUILD_DIR
set -eu

build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

cmake --install "$build" --prefix "$work/root" >"$work/install.log"
cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/root" -DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Werror" \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" >"$work/configure.log"
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }

pc=$(dirname "$(find "$work/root" -name lifeline.pc)")
cflags=$(PKG_CONFIG_PATH=$pc pkg-config --cflags lifeline)
libs=$(PKG_CONFIG_PATH=$pc pkg-config --libs lifeline)
# shellcheck disable=SC2086 # flags are words
cc -std=c11 $cflags "$here/consumer.c" -o "$work/consumer-pc" $libs
# shellcheck disable=SC2086
cc -std=c11 $cflags -DLIFELINE_DISABLE "$here/consumer.c" -o "$work/consumer-without"

library=$(dirname "$(find "$work/root" -name liblifeline.so)")
LD_LIBRARY_PATH=$library LIFELINE_RING_DIR=$work/rings
export LD_LIBRARY_PATH LIFELINE_RING_DIR

# said PROGRAM: what it emitted, decoded
said() {
  rm -f "$work/out.llb"
  LIFELINE_URL=file://$work/out.llb "$1"
  if [ -f "$work/out.llb" ]; then
    # The first batch; FINAL, empty, is behind it.
    bytes=$(od -An -tu4 -j56 -N4 "$work/out.llb" | tr -d ' ')
    head -c "$bytes" "$work/out.llb" | "$build/bin/lifeline-decode" | grep -o '"fields":\["C[^]]*\]'
  fi
}

expect() {
  [ "$2" = "$3" ] || { echo "$1 should have said '$2' and said '$3'"; exit 1; }
}

expect consumer-c '"fields":["C",42,true]' "$(said "$work/build/consumer-c")"
expect consumer-cxx '"fields":["C++",42,true]' "$(said "$work/build/consumer-cxx")"
expect consumer-pc '"fields":["C",42,true]' "$(said "$work/consumer-pc")"
expect consumer-without '' "$(said "$work/consumer-without")"
echo "install-consumer: C, C++ and pkg-config builds emit"

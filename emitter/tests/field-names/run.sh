#!/bin/sh
# A field whose name is a macro does not compile: it would be another field, or crash the program.
set -eu

include=$(cd "$(dirname "$0")/../../include" && pwd)

# compiles COMPILER NAME
compiles() {
  printf '#include <errno.h>\n#include <lifeline/lifeline.h>\nLL_EVENT(x, "x", LL_INFO, (i32, %s, ""), (string, path, ""));\n' "$2" |
    $1 -I"$include" -fsyntax-only - 2>/dev/null
}

for compiler in "${CC:-cc} -std=gnu11 -x c" "${CXX:-c++} -std=c++17 -x c++" "${CC:-cc} -DLIFELINE_DISABLE -std=gnu11 -x c"; do
  compiles "$compiler" code || { echo "$compiler refuses a field named code" && exit 1; }
  ! compiles "$compiler" errno || { echo "$compiler takes a field named errno" && exit 1; }
done

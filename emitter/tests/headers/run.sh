#!/bin/sh
# The public headers compile without a warning in all languages that they are for, also in programs with strict warnings.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror"

for language in "${CC:-cc} -x c -std=c11" "${CC:-cc} -x c -std=gnu17" "${CXX:-c++} -x c++ -std=c++11" \
  "${CXX:-c++} -x c++ -std=c++17" "${CXX:-c++} -x c++ -std=c++20"; do
  for more in -O2 "-O2 -DLIFELINE_DISABLE"; do
    # shellcheck disable=SC2086 # several words each
    $language $strict $more -I"$here/../../include" -include "$here/all.h" -c -o /dev/null /dev/null ||
      { echo "not without warnings: $language $more" && exit 1; }
  done
done

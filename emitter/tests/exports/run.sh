#!/bin/sh
# The library's binary interface, held to the list beside this: which symbols it exports in which version, and nothing
# but one symbol from each plugin: sinks, a broker's clock and the eBPF source (emitter/probe). A symbol that disappears
# or changes its version breaks programs that were built before.
#
#   run.sh BUILD_DIR
set -eu

build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
LC_ALL=C
export LC_ALL

# exported LIBRARY: name@@version of each
exported() {
  nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $3 }' | sort
}

exported "$build/lib/liblifeline.so" >"$work/exported"
grep -v '^#' "$here/liblifeline.symbols" | sort >"$work/expected"
if ! diff -u "$work/expected" "$work/exported" >"$work/difference"; then
  cat "$work/difference"
  echo "liblifeline.so does not export what tests/exports/liblifeline.symbols lists. A new function belongs into the list;"
  echo "one that is missing, or has another version, breaks programs that were built before."
  exit 1
fi

for plugin in "$build"/lib/lifeline/*.so; do
  # The allocator of sinks/common/memory.c, which nobody finds who does not load the sink with RTLD_DEEPBIND.
  symbols=$(exported "$plugin" | grep -vxE 'aligned_alloc|calloc|free|malloc|malloc_usable_size|memalign|posix_memalign|realloc|reallocarray' || true)
  case ${plugin##*/}:$symbols in
    lifeline-sink-*:ll_sink_plugin_v[0-9] | lifeline-clock-*:ll_broker_clock_v[0-9] | lifeline-probe-ebpf.so:lifeline_kernel_source) ;;
    *) echo "$plugin should export the one symbol of its kind and nothing else, but exports: $symbols" && exit 1 ;;
  esac
done

# An empty element of the path, or a relative one, makes the loader look where the user happens to stand.
for file in "$build"/bin/* $(find "$build/lib" -name '*.so' -type f); do
  path=$(readelf --dynamic "$file" 2>/dev/null | sed -n 's/.*R[UN]*PATH.*\[\(.*\)\]/\1/p')
  case :$path: in
    ::) ;;
    *::* | *:[!/\$:]*) echo "$file looks for libraries in the current directory: its path is $path" && exit 1 ;;
  esac
done

# A program says which version it needs: the loader refuses an older library at start, with that version's name.
needed=$(readelf --version-info "$build/bin/lifeline-minimal" | grep -c 'Name: LIFELINE_0\.1 ') || true
[ "$needed" = 1 ] || { echo "lifeline-minimal does not say that it needs LIFELINE_0.1" && exit 1; }
echo "exports: $(wc -l <"$work/exported") symbols, as listed"

#!/bin/sh
# Fuzzes the Go codec, then reports how much of it the seeds and all that was found cover.
set -eu

usage() {
  cat <<'HELP'
Usage: fuzz.sh [SECONDS]

Runs FuzzReader (repairs lengths and CRC), FuzzRecords (enters behind decompression) and FuzzDecompress for SECONDS
each (10 unless told), with one worker. What it finds of interest stays in build/fuzz/go for the next run. Closes with
`fuzz go: targets=3 seconds=N coverage=N% of the reader's statements`; exits 1 at the first failure, whose input go test names.
HELP
}

case "${1:-10}" in
  --help | -h) usage; exit 0 ;;
  *[!0-9]* | '') usage >&2; exit 2 ;;
esac
seconds=${1:-10}

cd "$(dirname "$0")"
here=$PWD
root=$(cd ../.. && pwd)
found=$root/build/fuzz/go
mkdir -p "$found"

for target in FuzzReader FuzzRecords FuzzDecompress; do
  echo "fuzz go: $target for ${seconds} s"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "${seconds}s" -parallel 1 . -test.fuzzcachedir="$found"
done

# The fuzzer itself reports no coverage. The test binary replays testdata/fuzz below its working directory, and looks for the vectors beside it.
replay=$(mktemp -d)
trap 'rm -rf "$replay"' EXIT
mkdir -p "$replay/go/testdata"
ln -s "$found" "$replay/go/testdata/fuzz"
ln -s "$here/../vectors" "$replay/vectors"
go test -c -cover -o "$replay/go/llb.test" .
(cd "$replay/go" && ./llb.test -test.run '^Fuzz' -test.coverprofile coverage.out >/dev/null)
grep -v '/writer\.go:' "$replay/go/coverage.out" >"$replay/go/reader.out"
coverage=$(go tool cover -func "$replay/go/reader.out" | awk '/^total/ {print $3}')
echo "fuzz go: targets=3 seconds=$seconds coverage=$coverage of the reader's statements"

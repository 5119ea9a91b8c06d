# shellcheck shell=bash
# Which files are copied: those below FROM, the machine's own unless told otherwise, in the order of their paths.

# choose_files: writes WORK/files and sets CHOSEN_BYTES.
choose_files() {
  local free needed found
  free=$(df --output=avail -B1 "$WORK" | tail -n 1)
  needed=$((BYTES + BYTES / 10 + 500000000))
  ((free >= needed)) ||
    die "$((needed / 1000000)) MB are needed on the disk of $OUTPUT, $((free / 1000000)) are free: choose a smaller SIZE=, or another OUTPUT="

  # `find` says 1 when there are folders that it may not read
  find "$FROM" -xdev -type f -size +64k -readable ! -name $'*\n*' -printf '%s\t%p\n' 2>/dev/null |
    LC_ALL=C sort -k2 >"$WORK/candidates" || true
  found=$(awk -F'\t' '{ sum += $1 } END { printf "%.0f", sum }' "$WORK/candidates")
  ((found > 0)) || die "no files over 64 KiB to be found in $FROM"

  # Files that would overshoot are left out. A machine with too few has them copied again, over the first copies.
  awk -F'\t' -v want="$BYTES" -v limit="$((BYTES + BYTES / 50))" '
    { size[NR] = $1; path[NR] = substr($0, length($1) + 2) }
    END {
      for (pass = 0; pass < 1000 && sum < want; pass++)
        for (i = 1; i <= NR && sum < want; i++)
          if (sum + size[i] <= limit) { sum += size[i]; print path[i] }
    }' "$WORK/candidates" >"$WORK/files"
  [[ -s $WORK/files ]] || die "every file over 64 KiB in $FROM is larger than $SIZE: choose a larger SIZE="
  CHOSEN_BYTES=$(tr '\n' '\0' <"$WORK/files" | du -cbl --files0-from=- 2>/dev/null | tail -n 1 | cut -f1)
  ((found >= BYTES)) || {
    detail "$FROM holds only $((found / 1000000)) MB in files over 64 KiB: they are copied more than once"
    CHOSEN_BYTES=$BYTES
  }
  detail "$(wc -l <"$WORK/files") files, $((CHOSEN_BYTES / 1000000)) MB"
}

# shellcheck shell=bash
# Checks written as `check NAME COMMAND...`, reported in the Test Anything Protocol, which scripts/test counts.

FAILED_CHECKS=0

# check NAME COMMAND...: prints `ok - NAME` or `not ok - NAME` with the command's output.
check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    printf 'ok - %s\n' "$name"
  else
    printf 'not ok - %s\n' "$name"
    [[ -z $output ]] || printf '# %s\n' "${output//$'\n'/$'\n# '}"
    FAILED_CHECKS=$((FAILED_CHECKS + 1))
  fi
}

# checks_end: the script's exit code.
checks_end() {
  ((FAILED_CHECKS == 0)) || exit 1
  exit 0
}

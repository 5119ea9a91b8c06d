# shellcheck shell=bash
# Completion of `lifeline` for bash: its commands, then the options of the command's program, else files. What runs on a Java
# machine is not asked for its options: that takes too long for a key press.
_lifeline() {
  local word=${COMP_WORDS[COMP_CWORD]} lifeline=${COMP_WORDS[0]} said
  COMPREPLY=()
  if ((COMP_CWORD == 1)) || [[ $COMP_CWORD == 2 && ${COMP_WORDS[1]} == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$lifeline" help --commands 2>/dev/null) help" -- "$word")
  elif [[ $word == -* && ! " jobs tail ledger alerts emitters activations switch config sql report export import files verify resume compact view token " == *" ${COMP_WORDS[1]} "* ]]; then
    said=$("$lifeline" "${COMP_WORDS[1]}" --help 2>/dev/null)
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -- '(^|[^[:alnum:]-])--[a-z][a-z-]+' <<<"$said" | grep -oE -- '--.*')" -- "$word")
  fi
}
complete -o default -F _lifeline lifeline

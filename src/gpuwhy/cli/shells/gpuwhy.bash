# gpuwhy for bash: eval "$(gpuwhy completion bash)" in ~/.bashrc
_gpuwhy() {
  local IFS=$'\n' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [ "${COMP_WORDS[i]}" = -- ]; then # a program: its own completion, or its name
      if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); return; fi
      if ((i + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")); fi
      return
    fi
  done
  COMPREPLY=($(gpuwhy completion --offer="${COMP_WORDS[COMP_CWORD]}" \
    -- "${COMP_WORDS[@]:0:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o bashdefault -o default -F _gpuwhy gpuwhy

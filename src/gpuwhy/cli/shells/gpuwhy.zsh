#compdef gpuwhy
# gpuwhy for zsh: eval "$(gpuwhy completion zsh)" after compinit in ~/.zshrc
_gpuwhy() {
  local -a offered lines
  local line behind=${words[(i)--]}
  if (( behind < CURRENT )); then # a program: its own completion
    shift $behind words
    (( CURRENT -= behind ))
    _normal
    return
  fi
  lines=("${(@f)$(gpuwhy completion --offer="$words[CURRENT]" -- "${(@)words[1,CURRENT-1]}" 2>/dev/null)}")
  for line in $lines; do
    offered+=("${line%%$'\t'*}:${line#*$'\t'}")
  done
  if (( $#offered )); then _describe -V gpuwhy offered; else _files; fi
}
if [ "$funcstack[1]" = "_gpuwhy" ]; then _gpuwhy "$@"; else compdef _gpuwhy gpuwhy; fi

"""The completion scripts of four shells, from the same list of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuwhy.cli.completion import Command, Option


def _flags(command: Command) -> list[str]:
    return [name for option in command.options for name in option.names]


# ---------------------------------------------------------------- bash


def bash(commands: Sequence[Command]) -> str:
    """For bash 3.2 and newer; needs nothing of bash-completion, and uses it for the program of `run` where it is."""
    values = [line for command in commands for line in _bash_values(command)]
    rows = [
        f"    {one.name}) words='{' '.join((*_flags(one), *one.words))}'; program={int(one.program)} ;;"
        for one in commands
    ]
    return "\n".join(
        [
            '# gpuwhy for bash: eval "$(gpuwhy completion bash)" in ~/.bashrc',
            "_gpuwhy() {",
            '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
            '  local command="" words="" program=0 i',
            "  COMPREPLY=()",
            "  for ((i = 1; i < COMP_CWORD; i++)); do",
            '    case "${COMP_WORDS[i]}" in',
            "      --) if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); return; fi",
            '          if ((i + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- "$cur")); fi; return ;;',
            "      -*) ;;",
            '      *) [ -n "$command" ] || command="${COMP_WORDS[i]}" ;;',
            "    esac",
            "  done",
            '  if [ -z "$command" ] && ((COMP_CWORD == 1)); then',
            f"    COMPREPLY=($(compgen -W '{' '.join(one.name for one in commands)} --help --version' -- \"$cur\"))",
            "    return",
            "  fi",
            '  case "${command:-check} $prev" in',
            *values,
            "  esac",
            '  case "${command:-check}" in',
            *rows,
            "  esac",
            '  if ((program)) && [ "${cur#-}" = "$cur" ]; then COMPREPLY=($(compgen -c -- "$cur")); return; fi',
            '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
            "}",
            "complete -o bashdefault -o default -F _gpuwhy gpuwhy",
            "",
        ]
    )


def _bash_values(command: Command) -> list[str]:
    out = []
    for option in command.options:
        if not option.takes:
            continue
        names = "|".join(f"'{command.name} {name}'" for name in option.names)
        if option.words:
            done = f"COMPREPLY=($(compgen -W '{' '.join(option.words)}' -- \"$cur\")); return"
        else:
            done = 'COMPREPLY=($(compgen -f -- "$cur")); return' if option.takes == "file" else "return"
        out.append(f"    {names}) {done} ;;")
    return out


# ---------------------------------------------------------------- zsh


def zsh(commands: Sequence[Command]) -> str:
    """For zsh: as a file `_gpuwhy` in $fpath, or evaluated after compinit."""
    listed = [f"      {_zsh_quoted(f'{one.name}:{_zsh_plain(one.text)}')}" for one in commands]
    cases = [line for command in commands for line in _zsh_command(command)]
    return "\n".join(
        [
            "#compdef gpuwhy",
            '# gpuwhy for zsh: eval "$(gpuwhy completion zsh)" after compinit in ~/.zshrc',
            "_gpuwhy() {",
            "  local context state state_descr line",
            "  typeset -A opt_args",
            "  _arguments -C '(-V --version)'{-V,--version}'[print the version]' \\",
            "    '(-h --help)'{-h,--help}'[print help]' \\",
            "    '1: :->command' '*:: :->rest'",
            "  case $state in",
            "  command)",
            "    local -a commands=(",
            *listed,
            "    )",
            "    _describe -t commands command commands ;;",
            "  rest)",
            "    case $line[1] in",
            *cases,
            "    esac ;;",
            "  esac",
            "}",
            'if [ "$funcstack[1]" = "_gpuwhy" ]; then _gpuwhy "$@"; else compdef _gpuwhy gpuwhy; fi',
            "",
        ]
    )


def _zsh_command(command: Command) -> list[str]:
    rows = [_zsh_option(option) for option in command.options]
    if command.program:
        rows.append("'*::: :_normal'")
    elif command.words:
        rows.append(_zsh_quoted(f"*:name:({' '.join(command.words)})"))
    else:
        rows.append("'*: :_files'" if command.file else "'*: :'")
    return [
        f"    {command.name})",
        "      _arguments -S \\",
        *(f"        {row} \\" for row in rows[:-1]),
        f"        {rows[-1]} ;;",
    ]


def _zsh_option(option: Option) -> str:
    value = ""
    if option.takes:
        value = (
            f":value:({' '.join(option.words)})"
            if option.words
            else ":file:_files"
            if option.takes == "file"
            else ":value: "
        )
    body = f"[{_zsh_plain(option.text)}]{value}"
    if len(option.names) == 1:
        return _zsh_quoted(f"*{option.names[0]}{body}")
    return f"'({' '.join(option.names)})'{{{','.join(option.names)}}}{_zsh_quoted(body)}"


def _zsh_plain(text: str) -> str:
    for char in "\\[]:":
        text = text.replace(char, f"\\{char}")
    return text


def _zsh_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# ---------------------------------------------------------------- fish


def fish(commands: Sequence[Command]) -> str:
    """For fish 3 and newer."""
    out = [
        "# gpuwhy for fish: gpuwhy completion fish > ~/.config/fish/completions/gpuwhy.fish",
        "function __gpuwhy_command",
        "    set -l words (commandline -opc)",
        "    test (count $words) -gt 1; or return 1",
        "    test $words[2] = $argv[1]; and not contains -- -- $words",
        "end",
        "function __gpuwhy_none",
        "    test (count (commandline -opc)) -eq 1",
        "end",
        "function __gpuwhy_program",
        "    set -l words (commandline -opc)",
        "    set -l place (contains -i -- -- $words); or return 1",
        "    set -l rest $words[(math $place + 1)..-1] (commandline -ct)",
        '    complete -C (string join " " -- $rest)',
        "end",
        "complete -c gpuwhy -n __gpuwhy_none -f",
        "complete -c gpuwhy -n 'contains -- -- (commandline -opc)' -f -a '(__gpuwhy_program)'",
        "complete -c gpuwhy -n __gpuwhy_none -s V -l version -d 'print the version'",
    ]
    for one in commands:
        out.append(f"complete -c gpuwhy -n __gpuwhy_none -a {one.name} -d {_fish_quoted(one.text)}")
        when = f"-n '__gpuwhy_command {one.name}'"
        if one.words:
            out.append(f"complete -c gpuwhy {when} -f -a {_fish_quoted(' '.join(one.words))}")
        elif not (one.file or one.program):
            out.append(f"complete -c gpuwhy {when} -f")
        out += [f"complete -c gpuwhy {when} {_fish_option(option)}" for option in one.options]
    return "\n".join(out) + "\n"


def _fish_option(option: Option) -> str:
    names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    takes = {"": [], "file": ["-r", "-F"], "word": ["-x"]}[option.takes]
    words = ["-a", _fish_quoted(" ".join(option.words))] if option.words else []
    return " ".join([*names, *takes, *words, "-d", _fish_quoted(option.text)])


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# ---------------------------------------------------------------- PowerShell


def powershell(commands: Sequence[Command]) -> str:
    """For Windows PowerShell 5.1 and PowerShell 7."""
    listed = [f"    {_ps(one.name)} = {_ps(one.text)}" for one in commands]
    options = [f"    {_ps(one.name)} = @({', '.join(_ps(w) for w in (*_flags(one), *one.words))})" for one in commands]
    values = [
        f"    {_ps(f'{one.name} {name}')} = @({', '.join(map(_ps, option.words))})"
        for one in commands
        for option in one.options
        if option.words
        for name in option.names
    ]
    return "\n".join(
        [
            "# gpuwhy for PowerShell: gpuwhy completion powershell | Out-String | Invoke-Expression   (in $PROFILE)",
            "Register-ArgumentCompleter -Native -CommandName gpuwhy -ScriptBlock {",
            "  param($word, $ast, $position)",
            "  $commands = [ordered]@{",
            *listed,
            "  }",
            "  $options = @{",
            *options,
            "  }",
            "  $values = @{",
            *values,
            "  }",
            "  $given = @($ast.CommandElements | Select-Object -Skip 1 |",
            "    Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { $_.ToString() })",
            "  if ($given -contains '--') { return }",
            "  if ($given.Count -eq 0) {",
            '    $commands.GetEnumerator() | Where-Object { $_.Key -like "$word*" } | ForEach-Object {',
            "      [System.Management.Automation.CompletionResult]::new($_.Key, $_.Key, 'ParameterValue', $_.Value) }",
            "    return",
            "  }",
            '  $names = $values["$($given[0]) $($given[-1])"]',
            "  if (-not $names) { $names = $options[$given[0]] }",
            '  $names | Where-Object { $_ -like "$word*" } | ForEach-Object {',
            "    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }",
            "}",
            "",
        ]
    )


def _ps(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

"""Deeds: what a command does to a machine: it only looks, it takes something away, or it mends."""

from __future__ import annotations

import re

from gpuwhy.model import on

LOOKS = re.compile(
    r"(?:nvidia-smi(?= *$| *[|&;>]| -[qLlB]\b| -i \S+ -q| -d | topo| --query| nvlink| \S*-?-version)"
    r"|ls|cat|free|df|grep|lsmod|dmesg|find|which|where|id|uname|echo|env|printenv|ldconfig -p|nproc|ss|netstat|ping"
    r"|\S*pip3? (?:list|show|check|freeze|index)|\S*python[\d.]*(?:\.exe)? -m pip (?:list|show|check|freeze)"
    r"|conda (?:list|info)|(?:journalctl|systemctl status)|mokutil --(?:sb|list)|ip (?:-br\w* )?a\w*"
    r"|kubectl (?:describe|get|logs|top)|docker (?:info|ps|logs|inspect|context)|lspci"
    r"|\S*python3? -m [\w.]*(?:\.info|collect_env)|gpuwhy|ulimit -[a-zA-Z]+(?= *$)|findmnt|squeue|sinfo|sacct"
    r"|scontrol show|dkms status|module (?:avail|list|spider)|ps|quota|ldd|strings|readelf|objdump|nm|cuobjdump"
    r"|dumpbin|dir|type|Get-[A-Z]\w+(?![^\n]*\| *(?:Set|Remove|Stop)-)|wsl (?:-l|--list|--status|--version)|winver"
    r"|systeminfo|nvcc (?:--list\S*|-V)|[\w./\\-]+(?:\.exe)?\"? (?:--version|-version)(?= *$| *[|&;]))(?:\s|$)"
)
"""Commands that only look."""
PRINTS = re.compile(r"^(?:nc -vz|getent|python3? -c [\"'](?:import|from)[^\n]*print\(|where )")
"""Commands that print what they were asked for."""
_NOTE = re.compile(r"\s{2,}(?:#|& rem\b).*$")
_STEPS = re.compile(r" *(?:&&|;|\|\|) *")
_WRITES = re.compile(r"\btee\b|(?<![0-9&])>>?(?! *(?:/dev/null|NUL\b|&))|-delete\b|-exec\b")
_TAKES_AWAY = re.compile(
    r"(?<![\w./-])(?:(?:uv )?pip3? uninstall|conda (?:remove|uninstall|env remove)|poetry remove|winget uninstall"
    r"|rm|rmdir|rd|del|erase|unlink|Remove-Item|shred|mkfs\S*|dd|git (?:reset --hard|clean)"
    r"|(?:apt(?:-get)?|dnf|yum|zypper) (?:-\S+ )*(?:remove|purge|autoremove|erase)|pacman -R\w*"
    r"|dpkg (?:-P|-r|--purge)|nvidia-uninstall|--uninstall|ubuntu-drivers (?:install|autoinstall)"
    r"|(?:apt(?:-get)?|dnf|yum) (?:-\S+ )*(?:re)?install (?:-\S+ )*\S*nvidia-(?:driver|open|dkms)\S*"
    r"|docker (?:system|image|volume|container) (?:prune|rm)|docker (?:rmi|rm)|kubectl (?:delete|drain)|helm uninstall"
    r"|wsl --unregister|taskkill|kill|pkill|killall|fuser -k|reboot|shutdown)(?![\w-])"
    r"|--force-reinstall|--purge\b"
)
_TELLS_TO = re.compile(r"^(?:Or |And |Then )?(?:uninstall|delete|remove|purge|wipe|reinstall)\b", re.IGNORECASE)


def destroys(text: str, command: str) -> bool:
    """Whether following it takes something away that was there: a package, a file, a driver, a process."""
    return bool(_TAKES_AWAY.search(command) or _TELLS_TO.match(text))


def only_looks(command: str) -> bool:
    """Whether no line of a shell's command changes anything."""
    if isinstance(command, on.Command) and command.shell in ("code", "dockerfile"):
        return False
    lines = [_NOTE.sub("", line.strip()) for line in command.splitlines() if line.strip()]
    return bool(lines) and all(_looks(step) for line in lines for step in _STEPS.split(line) if step)


def _looks(step: str) -> bool:
    plain = step.removeprefix("sudo ")
    return bool(LOOKS.match(plain) or PRINTS.match(plain)) and not _WRITES.search(plain)

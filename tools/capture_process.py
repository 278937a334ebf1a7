"""Make real programs fail by a limit, a place, an order or a peer, and keep what they print.

    python3 tools/capture_process.py LAB OUT.jsonl [NAME…]     the failures of process_failures.py: all, or the named

LAB holds one Python environment per name of `process_failures.ENVIRONMENTS`, in lower case. Run it as root: the full
and the read-only file systems live in a mount namespace of each failure's own. The cause was decided from the
provocation, before any log was explained. One JSON line per failure, as tools/capture_lab.py writes them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import process_failures
from process_failures import ENVIRONMENTS, Failure

LINES = 80
PATIENCE = 3
"""A busy machine is slower than the seconds of a failure say."""
USER = "65534"
CAPABILITY = "dac_read_search"
NOBODY = (
    f"setpriv --reuid={USER} --clear-groups --inh-caps=-all,+{CAPABILITY} --ambient-caps=-all,+{CAPABILITY} "
    f"--bounding-set=-all,+{CAPABILITY}"
)
PLACES = (
    "mount -t tmpfs -o size=1m,nr_inodes=12 none $SMALL && chmod 777 $SMALL && "
    "mount -t tmpfs -o size=64k none $FULL && "
    "chmod 777 $FULL && head -c 64k /dev/zero > $FULL/old.bin && mount -t tmpfs -o ro,size=64k none $RO\n"
)
NAMELESS = (
    (r"(?:/[\w-]+)+/capture-\w+/small", "/mnt/scratch"),
    (r"(?:/[\w-]+)+/capture-\w+/full", "/mnt/data"),
    (r"(?:/[\w-]+)+/capture-\w+/ro", "/mnt/shared"),
    (r"(?:/[\w-]+)+/capture-\w+/project", "/home/user/project"),
    (r"(?<![\w.-])/(?:[\w-]+/)*\.pyenv/versions/([\d.]+)", r"/opt/python-\1"),
    (r"(?<![\w.-])/root\b", "/home/user"),
    (r"(?m)^(?:Looking in (?:indexes|links)|\s*WARNING: (?:Retrying|Location)).*\n", ""),
    (r"https?://[\w.-]+/(?:simple|packages|pypi)/\S*", "INDEX"),
)


def free_port() -> int:
    """A port that nobody listens on now, and whose follower is free too."""
    with socket.socket() as one:
        one.bind(("", 0))
        return int(one.getsockname()[1])


def variables(lab: Path, base: Path) -> dict[str, str]:
    """The shell variables of one failure."""
    names = {name: str(lab / name.lower() / "bin/python") for name in ENVIRONMENTS}
    places = {"WORK": base / "project", "SMALL": base / "small", "FULL": base / "full", "RO": base / "ro"}
    site = lab / "r/lib/python3.11/site-packages"
    more = {
        "NOBODY": NOBODY,
        "PORT": str(free_port()),
        "SITE_R": str(site),
        "MPIEXEC": str(lab / "m/bin/mpiexec"),
        "DRIVER": str(lab / "driver"),
    }
    return {**names, **{name: str(path) for name, path in places.items()}, **more, "PYTHONDONTWRITEBYTECODE": "1"}


def provoke(lab: Path, one: Failure) -> str:
    """What the failure prints, in a mount namespace and folders of its own."""
    base = Path(tempfile.mkdtemp(prefix="capture-", dir=lab))  # /tmp itself may be covered
    base.chmod(0o755)
    added = variables(lab, base)
    for name in ("WORK", "SMALL", "FULL", "RO"):
        Path(added[name]).mkdir()
    script = f"{PLACES}cd $WORK\n{one.shell}"
    argv = ["unshare", "-m", "-p", "--fork", "--kill-child", "--mount-proc", "bash", "-c", script]
    try:
        end = subprocess.run(argv, env={**os.environ, **added}, capture_output=True, text=True, errors="replace",
                             timeout=PATIENCE * one.seconds, stdin=subprocess.DEVNULL)  # fmt: skip
        return end.stdout + end.stderr
    except subprocess.TimeoutExpired as error:
        return "".join((part or b"").decode("utf-8", "replace") for part in (error.stdout, error.stderr))
    finally:
        shutil.rmtree(base, ignore_errors=True)


def nameless(lab: Path, text: str) -> str:
    """The text without anything of the machine it comes from."""
    text = re.sub(rf"{re.escape(str(lab))}/\w\b", "/home/user/venv", text)
    for pattern, plain in NAMELESS:
        text = re.sub(pattern, plain, text)
    return text.replace(socket.gethostname(), "host")


def shortened(text: str) -> str:
    """The first and the last lines of a long text."""
    lines = text.splitlines()
    return "\n".join(lines if len(lines) <= LINES else [*lines[: LINES // 2], "...", *lines[-LINES // 2 :]])


def main(argv: list[str]) -> None:
    """Provoke and write."""
    lab, out, wanted = Path(argv[0]).resolve(), Path(argv[1]), set(argv[2:])
    tables = (part for part in vars(process_failures).values() if isinstance(part, dict))
    table = {name: one for part in tables for name, one in part.items() if isinstance(one, Failure)}
    with out.open("a", encoding="utf-8") as lines:
        for name, one in table.items():
            if name in wanted or not wanted:
                log = shortened(nameless(lab, provoke(lab, one)))
                row = {
                    "id": name,
                    "how": one.how,
                    "cause": one.cause,
                    "also": list(one.also),
                    "why": one.why,
                    "log": log,
                }
                lines.write(json.dumps(row) + "\n")
                lines.flush()
                print(name, len(log), (log.splitlines() or ["-"])[-1][:150], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

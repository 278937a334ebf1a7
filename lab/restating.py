"""Harmless changes of a text: line prefixes, wrapping, quoting, colours, what a launcher adds. The failure stays."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable

Change = Callable[[str, random.Random], str]
COLUMNS = 80


def prefixed(prefix: str) -> Change:
    """Every line behind the same words."""
    return lambda text, _: "\n".join(prefix + line for line in text.split("\n"))


def stamped(shape: str) -> Change:
    """Every line behind a time that goes on; {n} counts, {s} are seconds."""

    def change(text: str, draw: random.Random) -> str:
        start = draw.randrange(40)
        lines = text.split("\n")
        return "\n".join(shape.format(n=at + 1, s=min(59, start + at // 3)) + line for at, line in enumerate(lines))

    return change


PREFIXES: dict[str, Change] = {
    "foreman": prefixed("trainer.1  | "),
    "kubernetes": stamped("2024-05-01T12:00:{s:02}.123456789Z stderr F "),
    "kubectl": prefixed("[pod/train-0-x7x2k/main] "),
    "journald": stamped("May 01 12:00:{s:02} node7 python3[4021]: "),
    "systemd": stamped("2024-05-01T12:00:{s:02}+0200 node7 train[4021]: "),
    "srun": prefixed("3: "),
    "srun-wide": prefixed(" 3: "),
    "pdsh": prefixed("gpu-node-07: "),
    "rank": prefixed("[rank3]: "),
    "lightning-rank": prefixed("[rank: 3] "),
    "tee": prefixed("[default3]:"),
    "mpi": prefixed("[1,3]<stderr>:"),
    "ray": prefixed("(train_fn pid=4021, ip=10.0.0.7) "),
    "ray-colour": prefixed("\x1b[36m(RayTrainWorker pid=4021)\x1b[0m "),
    "logging": stamped("2024-05-01 12:00:{s:02},123 - trainer - ERROR - "),
    "basic-config": prefixed("ERROR:trainer:"),
    "bracketed": stamped("[2024-05-01 12:00:{s:02},123][trainer][ERROR] - "),
    "airflow": stamped("[2024-05-01, 12:00:{s:02} UTC] {{subprocess.py:93}} INFO - "),
    "loguru": stamped("2024-05-01 12:00:{s:02}.123 | ERROR    | trainer.main:run:12 - "),
    "actions": stamped("2024-05-01T12:00:{s:02}.1234567Z "),
    "celery": stamped("[2024-05-01 12:00:{s:02},123: WARNING/ForkPoolWorker-1] "),
    "clock": stamped("12:00:{s:02} "),
    "clock-bracket": stamped("[12:00:{s:02}] "),
    "klog": stamped("E0501 12:00:{s:02}.123456    4021 trainer.go:12] "),
    "vllm": stamped("(EngineCore_DP0 pid=4021) ERROR 05-01 12:00:{s:02} [core.py:718] "),
    "structured": stamped('time="2024-05-01T12:00:{s:02}Z" level=error msg='),
    "numbered": stamped("{n:6}\t"),
    "numbered-dots": stamped("{n}. "),
    "numbered-bar": stamped("{n:4} | "),
    "quoted": prefixed("> "),
    "quoted-twice": prefixed("> > "),
    "bullet": prefixed("- "),
    "indented": prefixed("    "),
    "tabbed": prefixed("\t"),
    "comment": prefixed("# "),
    "slashes": prefixed("// "),
    "stderr": prefixed("stderr: "),
    "err-bracket": prefixed("[stderr] "),
    "buildkit": stamped("#12 {s}.123 "),
    "pip": prefixed("  \x1b[31m   \x1b[0m "),
    "supervisor": prefixed("train stderr | "),
    "cloud": stamped("2024-05-01T12:00:{s:02}.123Z i-0abc123def train "),
}


def wrapped(width: int, mark: str = "") -> Change:
    """Lines cut as a terminal cuts them."""

    def change(text: str, _: random.Random) -> str:
        size = width - len(mark)
        cut = (line[at : at + size] for line in text.split("\n") for at in range(0, max(1, len(line)), size))
        return "\n".join(mark + piece for piece in cut)

    return change


def filled(width: int, mark: str = "") -> Change:
    """Lines broken between words as a mail program breaks them."""

    def change(text: str, _: random.Random) -> str:
        out: list[str] = []
        for line in text.split("\n"):
            rest = line
            while len(rest) > width and (at := rest.rfind(" ", len(rest) - len(rest.lstrip()) + 1, width)) > 0:
                out.append(rest[:at])
                rest = rest[at + 1 :]
            out.append(rest)
        return "\n".join(mark + one for one in out)

    return change


def coloured(text: str, draw: random.Random) -> str:
    """A colour for every line and some words."""
    words = re.compile(r"\b[A-Za-z]\w*(?:Error|Exception)\b")
    return "\n".join(
        f"\x1b[0;3{draw.randrange(1, 7)}m" + words.sub("\x1b[1;31m\\g<0>\x1b[0m", line) + "\x1b[0m"
        for line in text.split("\n")
    )


def _spaced(text: str, _: random.Random) -> str:
    return text.replace("\n", "\n\n")


def _nbsp(text: str, _: random.Random) -> str:
    return text.replace(" ", "\u00a0")


def _typographic(text: str, _: random.Random) -> str:
    return re.sub(r"'([^'\n]*)'", "\u2018\\1\u2019", re.sub(r'"([^"\n]*)"', "\u201c\\1\u201d", text))


def _table(text: str, _: random.Random) -> str:
    return "\n".join(f"| {line} |" for line in text.split("\n"))


def _box(text: str, _: random.Random) -> str:
    return "\n".join(f"\u2502 {line:<100} \u2502" for line in text.split("\n"))


def _noise(text: str, draw: random.Random) -> str:
    steps = (f"step {n} loss {draw.random():.4f} lr 1e-4" for n in range(1, 300))
    return "\n".join(steps) + "\n" + text


def _progress(text: str, draw: random.Random) -> str:
    bar = f"Epoch 1:  {draw.randrange(9)}%|\u2588         | 12/400 [00:03<01:30,  4.28it/s, loss=0.412]"
    return f"{bar}\r{bar}\n" + text


def _ranks(text: str, _: random.Random) -> str:
    lines = text.split("\n")
    return "\n".join(f"[rank{n}]: {line}" for line in lines for n in range(2))


def _twice(text: str, _: random.Random) -> str:
    return f"{text}\n{text}"


def _said(text: str, _: random.Random) -> str:
    return f"Hi all,\n\nI get this when I start my script:\n\n{text}\n\nThanks in advance for your help\nMara"


def _fenced(text: str, _: random.Random) -> str:
    return f"### Output\n\n```\n{text}\n```\n"


def _details(text: str, _: random.Random) -> str:
    return f"<details><summary>Log</summary>\n<pre><code>{html.escape(text)}</code></pre>\n</details>"


def _breaks(text: str, _: random.Random) -> str:
    return "<p>" + html.escape(text).replace("\n", "<br>\n") + "</p>"


def _junit(text: str, _: random.Random) -> str:
    inside = html.escape(text).replace("\n", "&#10;")
    return f'<testcase name="test_train"><failure message="failed">{inside}</failure></testcase>'


def _json_lines(text: str, _: random.Random) -> str:
    rows = ({"ts": f"2024-05-01T12:00:0{n % 10}Z", "level": "error", "msg": t} for n, t in enumerate(text.split("\n")))
    return "\n".join(json.dumps(row) for row in rows)


def _cell(text: str, _: random.Random) -> str:
    return json.dumps({"cells": [{"outputs": [{"name": "stderr", "text": text.splitlines(keepends=True)}]}]}, indent=1)


STYLES: dict[str, Change] = {
    "wrap-80": wrapped(80),
    "wrap-100": wrapped(100),
    "wrap-132": wrapped(132),
    "wrap-80-quoted": wrapped(80, "> "),
    "fill-72": filled(72),
    "fill-72-quoted": filled(72, "> "),
    "fill-100": filled(100),
    "crlf": lambda text, _: text.replace("\n", "\r\n"),
    "colours": coloured,
    "blank-lines": _spaced,
    "nbsp": _nbsp,
    "typographic": _typographic,
    "entities": lambda text, _: html.escape(text),
    "html-details": _details,
    "html-breaks": _breaks,
    "junit": _junit,
    "table": _table,
    "box": _box,
    "bold": lambda text, _: "\n".join(f"**{line}**" if line.strip() else line for line in text.split("\n")),
    "backticks": lambda text, _: "\n".join(f"`{line}`" if line.strip() else line for line in text.split("\n")),
    "fenced": _fenced,
    "json-string": lambda text, _: json.dumps({"log": text, "stream": "stderr"}),
    "json-bare": lambda text, _: json.dumps(text),
    "json-lines": _json_lines,
    "json-docker": lambda text, _: "\n".join(
        json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "2024-05-01T12:00:00Z"})
        for line in text.split("\n")
    ),
    "notebook": _cell,
    "repr": lambda text, _: repr(text),
    "bytes-repr": lambda text, _: repr(text.encode()),
    "csv": lambda text, _: 'id,output\n7,"' + text.replace('"', '""') + '"\n',
    "yaml-block": lambda text, _: "log: |\n" + "\n".join(f"  {line}" for line in text.split("\n")),
    "trailing-spaces": lambda text, _: "\n".join(f"{line:<120}" for line in text.split("\n")),
    "before": _noise,
    "progress": _progress,
    "two-ranks": _ranks,
    "twice": _twice,
    "mail": _said,
    "prompt": lambda text, _: (
        f"(venv) mara@node7:~/proj$ python train.py --epochs 3\n{text}\n(venv) mara@node7:~/proj$ "
    ),
}


def below(tail: str) -> Change:
    """What a launcher says below the failure of the program it started."""
    return lambda text, _: f"{text.rstrip()}\n{tail}\n"


TORCHRUN = """E0501 12:00:01.123000 140 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 4021) of binary: /opt/venv/bin/python
Traceback (most recent call last):
  File "/opt/venv/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 269, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2024-05-01_12:00:01
  host      : node7
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 4021)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================"""
ACCELERATE = """Traceback (most recent call last):
  File "/opt/venv/bin/accelerate", line 8, in <module>
    sys.exit(main())
  File "/opt/venv/lib/python3.11/site-packages/accelerate/commands/launch.py", line 1104, in simple_launcher
    raise subprocess.CalledProcessError(returncode=process.returncode, cmd=cmd)
subprocess.CalledProcessError: Command '['/opt/venv/bin/python', 'train.py']' returned non-zero exit status 1."""
IGNORED = """Exception ignored in: <function Logger.__del__ at 0x7f3a5c0d0e50>
Traceback (most recent call last):
  File "/home/mara/proj/log.py", line 41, in __del__
    self.writer.close()
AttributeError: 'NoneType' object has no attribute 'close'"""
LAUNCHED: dict[str, Change] = {
    "torchrun": below(TORCHRUN),
    "accelerate": below(ACCELERATE),
    "srun-exit": below("srun: error: node7: task 0: Exited with exit code 1\nsrun: Terminating StepId=4021.0"),
    "make": below("make: *** [Makefile:12: train] Error 1"),
    "conda-run": below("ERROR conda.cli.main_run:execute(124): `conda run python train.py` failed. (See above for error)"),
    "wandb": below("wandb: \nwandb: You can sync this run to the cloud by running:\nwandb: Find logs at: ./wandb/offline-run-1/logs"),
    "semaphores": below(
        "/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 6 "
        "leaked semaphore objects to clean up at shutdown\n  warnings.warn('resource_tracker: There appear to be %d '"
    ),
    "ignored": below(IGNORED),
    "hydra": lambda text, _: (
        f"Error executing job with overrides: ['lr=0.1']\n{text.rstrip()}\n\n"
        "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n"
    ),
    "ci": below("##[error]Process completed with exit code 1.\nPost job cleanup."),
    "docker-exit": below("train-1 exited with code 1"),
    "time": below("\nreal\t0m12.345s\nuser\t0m8.123s\nsys\t0m1.456s"),
}  # fmt: skip

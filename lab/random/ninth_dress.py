"""What stands around a failing program of the ninth part: other launchers, reporters and terminals than before.

A dress runs `job.py`, which lies beside it; a shell dress stands around the whole command. None changes why the job fails, and the line RESULT stays as it is.
"""

from __future__ import annotations

from lab.random.eighth_dress import GO, RUN

DRESSES: dict[str, str] = {
    "reporter": """
import traceback
try:
    GO
except Exception as e:
    frame = traceback.extract_tb(e.__traceback__)[-1]
    print('=== crash report 5f21 (kept locally, upload is off) ===', file=sys.stderr)
    print(f'event.type: {type(e).__module__}.{type(e).__name__}', file=sys.stderr)
    print('event.value: ' + str(e), file=sys.stderr)
    print(f'event.where: {frame.name} at {os.path.basename(frame.filename)}:{frame.lineno}', file=sys.stderr)
    sys.exit(134 - 128)
""",
    "remote": """
import traceback
class RemoteTaskError(Exception):
    pass
try:
    GO
except Exception as e:
    text = ''.join(traceback.format_exception(e))
    raise RemoteTaskError('task train_step[3] on worker w-11 failed, its words:\\n' + '\\n'.join('> ' + line for line in text.splitlines())) from None
""",
    "hook": """
import traceback
def told(kind, value, trace):
    print(f'\\x1b[31m\\x1b[1m{kind.__name__}\\x1b[0m: {value}', file=sys.stderr)
    for frame in traceback.extract_tb(trace)[-3:]:
        print(f'  \\x1b[36m{frame.filename}\\x1b[0m:{frame.lineno} {frame.line}', file=sys.stderr)
sys.excepthook = told
GO
""",
    "shutdown": """
import atexit, threading
atexit.register(lambda: print('[runner] releasing 1 lease, flushing 0 metrics', file=sys.stderr))
class Handle:
    def __del__(self):
        raise RuntimeError('handle was still open')
handle = Handle()
GO
""",
    "repeated": """
import traceback
try:
    GO
except Exception:
    text = traceback.format_exc()
    for place in ('stderr', 'job log', 'mail to the owner'):
        print(f'---- {place} ----\\n{text}', file=sys.stderr)
    os._exit(1)
""",
    "notes": """
try:
    GO
except Exception as e:
    e.add_note('while: step 12 of stage "encode", batch ids 96..127')
    e.add_note('hint of the runner: see the handbook, chapter 4')
    raise
""",
}
SHELLS: dict[str, str] = {
    "journal": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/Nov 16 04:12:07 gpu-node-7 trainer[2207]: /'",
    "dos": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/$/\\r/'",
    "compose": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/\\x1b[33mtrainer-1  |\\x1b[0m /' || { c=$?; echo \"trainer-1 exited with code $c\"; exit $c; }",
    "cron": "{ @JOB@; } > $W/cron.txt 2>&1; c=$?; echo 'Subject: cron <root@node> nightly'; sed '/^RESULT/!s/^/    /' $W/cron.txt; exit $c",
}


def dressed(name: str) -> str:
    """The program that runs job.py in that dress."""
    return RUN + DRESSES[name].lstrip("\n").replace("GO", GO)


def shelled(name: str, command: str) -> str:
    """The command inside a script's own way to keep its output."""
    return SHELLS[name].replace("@JOB@", f"( {command or '$PYTHON $SCRIPT'} )")

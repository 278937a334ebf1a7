"""What stands around a failing program of the thirteenth part: a remote task, a scheduler's task log, a web worker, a notebook's run, a service's journal.

A dress runs `job.py`, which lies beside it; a shell dress stands around the whole command. None changes why the job fails,
and the line RESULT stays as it is.
"""

from __future__ import annotations

DRESSES: dict[str, str] = {
    "remote-task": """
import traceback
try:
    GO
except Exception as e:
    text = traceback.format_exc()
    print(f'RayTaskError({type(e).__name__}): \\x1b[36mray::train_fn()\\x1b[39m (pid={os.getpid()}, ip=10.0.0.7)', file=sys.stderr)
    for line in text.splitlines()[1:]:
        print(line, file=sys.stderr)
    sys.exit(1)
""",
    "task-log": """
import traceback
def at(level, text):
    print(f'[2026-11-16T04:12:07.551+0000] {{taskinstance.py:3313}} {level} - {text}', file=sys.stderr)
at('INFO', 'Executing <Task(PythonOperator): embed> on 2026-11-16 00:00:00+00:00')
try:
    GO
except Exception:
    at('ERROR', 'Task failed with exception')
    traceback.print_exc()
    at('INFO', 'Marking task as FAILED. dag_id=nightly, task_id=embed, map_index=-1')
    sys.exit(1)
""",
    "web-worker": """
import traceback
print(f'INFO:     Started server process [{os.getpid()}]\\nINFO:     Waiting for application startup.', file=sys.stderr)
try:
    GO
except Exception:
    for number, line in enumerate(traceback.format_exc().splitlines()):
        print(('ERROR:    ' if number == 0 else '') + line, file=sys.stderr)
    print('\\nERROR:    Application startup failed. Exiting.', file=sys.stderr)
    sys.exit(3)
""",
    "notebook-run": """
import traceback
try:
    GO
except Exception as e:
    print('---------------------------------------------------------------------------\\nException encountered at "In [7]":', file=sys.stderr)
    print('---------------------------------------------------------------------------', file=sys.stderr)
    print(f'{type(e).__name__:<42}Traceback (most recent call last)', file=sys.stderr)
    for frame in traceback.extract_tb(e.__traceback__)[-2:]:
        print(f'Cell In[7], line {frame.lineno}\\n----> {frame.lineno} {frame.line}', file=sys.stderr)
    print(f'\\n{type(e).__name__}: {e}', file=sys.stderr)
    sys.exit(1)
""",
    "group": """
try:
    GO
except Exception as e:
    raise ExceptionGroup('unhandled errors in a TaskGroup', [e]) from None
""",
    "last-words-only": """
try:
    GO
except Exception as e:
    print(f'train: error: {type(e).__name__}: {e}', file=sys.stderr)
    sys.exit(2)
""",
}
SHELLS: dict[str, str] = {
    "kubelet": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/2026-11-16T04:12:07.551203118Z stderr F /'",
    "actions": "echo '##[group]Run python train.py'; echo '##[endgroup]'; { @JOB@; } || { c=$?; echo \"##[error]Process completed with exit code $c.\"; exit $c; }",
    "parallel": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/[job 3 gpu-07] /' || { c=$?; echo \"parallel: This job failed: train 3 (exit $c)\" >&2; exit $c; }",
}

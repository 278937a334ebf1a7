"""What stands around a failing program of the tenth part: boxes, key and value pairs, job managers, cluster prefixes.

A dress runs `job.py`, which lies beside it; a shell dress stands around the whole command. None changes why the job fails,
and the line RESULT stays as it is.
"""

from __future__ import annotations

from lab.random.eighth_dress import GO, RUN

DRESSES: dict[str, str] = {
    "boxed": """
import textwrap, traceback
try:
    GO
except Exception as e:
    width = 96
    print('+' + ' Traceback (most recent call last) '.center(width, '-') + '+', file=sys.stderr)
    for frame in traceback.extract_tb(e.__traceback__)[-4:]:
        print(f'| {frame.filename}:{frame.lineno} in {frame.name}'.ljust(width + 1) + '|', file=sys.stderr)
        print(f'| > {frame.lineno} | {frame.line}'.ljust(width + 1) + '|', file=sys.stderr)
    print('+' + '-' * width + '+', file=sys.stderr)
    print('\\n'.join(textwrap.wrap(f'{type(e).__name__}: {e}', width)), file=sys.stderr)
    sys.exit(1)
""",
    "pairs": """
try:
    GO
except Exception as e:
    said = str(e).replace('\\n', '\\\\n').replace('"', "'")
    print(f'time=2026-11-16T04:12:07Z level=ERROR run=r-88 component=trainer err_kind={type(e).__name__} err="{said}"', file=sys.stderr)
    print('time=2026-11-16T04:12:07Z level=INFO run=r-88 component=trainer msg="shutting down" code=1', file=sys.stderr)
    sys.exit(1)
""",
    "overrides": """
import traceback
try:
    GO
except Exception as e:
    print("Error executing job with overrides: ['model=small', 'trainer.max_steps=3']", file=sys.stderr)
    traceback.print_exc()
    print('\\nSet the environment variable FULL_ERROR=1 for a complete stack trace.', file=sys.stderr)
    sys.exit(1)
""",
    "test-report": """
import traceback
try:
    GO
except Exception as e:
    print('=================================== FAILURES ===================================')
    print('_______________________________ test_whole_run _________________________________')
    for frame in traceback.extract_tb(e.__traceback__)[-2:]:
        print(f'\\n>       {frame.line}\\nE       {type(e).__name__}: ' + str(e).replace('\\n', '\\nE       ') + f'\\n\\n{os.path.basename(frame.filename)}:{frame.lineno}: {type(e).__name__}')
    print('=========================== short test summary info ============================')
    print(f'FAILED test_whole_run - {type(e).__name__}: {str(e)[:60]}...\\n1 failed in 3.12s')
    sys.exit(1)
""",
    "group": """
errors = []
try:
    GO
except Exception as e:
    errors.append(e)
if errors:
    raise ExceptionGroup('1 of 1 stages failed', errors)
""",
    "queue": """
import queue, threading, traceback
told = queue.Queue()
def work():
    try:
        GO
        told.put(None)
    except BaseException:
        told.put(traceback.format_exc())
t = threading.Thread(target=work, name='stage-1')
t.start()
t.join()
words = told.get()
if words:
    print('stage-1 failed:\\n' + words, file=sys.stderr)
    os._exit(3)
""",
}
SHELLS: dict[str, str] = {
    "srun": "{ @JOB@; } || { c=$?; echo \"srun: error: gpu-node-12: task 0: Exited with exit code $c\" >&2; echo 'srun: Terminating StepId=771204.0' >&2; exit $c; }",
    "pod": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/2026-11-16T04:12:07.551203911Z stderr F /'",
    "actor": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/(Trainer pid=2207, ip=10.4.0.7) /'",
    "workflow": "set -o pipefail; echo '##[group]Run train'; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/2026-11-16T04:12:07.5512039Z /' || { c=$?; echo \"##[error]Process completed with exit code $c.\"; exit $c; }",
    "mpi": "{ @JOB@; } || { c=$?; printf '%s\\n' '--------------------------------------------------------------------------' 'Primary job terminated normally, but 1 process returned' 'a non-zero exit code. Per user-direction, the job has been aborted.' '--------------------------------------------------------------------------' >&2; exit $c; }",
}


def dressed(name: str) -> str:
    """The program that runs job.py in that dress."""
    return RUN + DRESSES[name].lstrip("\n").replace("GO", GO)


def shelled(name: str, command: str) -> str:
    """The command inside a script's own way to keep its output."""
    return SHELLS[name].replace("@JOB@", f"( {command or '$PYTHON $SCRIPT'} )")

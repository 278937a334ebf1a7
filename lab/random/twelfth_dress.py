"""What stands around a failing program of the twelfth part: a sweep's table, a callback, a worker's report, markdown, syslog, retries by a script.

A dress runs `job.py`, which lies beside it; a shell dress stands around the whole command. None changes why the job fails,
and the line RESULT stays as it is.
"""

from __future__ import annotations

DRESSES: dict[str, str] = {
    "trial": """
import traceback
print('[I 2026-11-16 04:12:01,118] A new study created in memory with name: lr-sweep', file=sys.stderr)
try:
    GO
except Exception as e:
    print(f"[W 2026-11-16 04:12:07,551] Trial 3 failed with parameters: {{'lr': 0.003, 'layers': 4}} because of the following error: {e!r}.", file=sys.stderr)
    traceback.print_exc()
    sys.exit(1)
""",
    "rich": """
import traceback
try:
    GO
except Exception as e:
    print('\\u256d' + '\\u2500' * 30 + ' Traceback (most recent call last) ' + '\\u2500' * 30 + '\\u256e', file=sys.stderr)
    for frame in traceback.extract_tb(e.__traceback__)[-3:]:
        print(f'\\u2502 {frame.filename}:{frame.lineno} in {frame.name}'.ljust(96) + '\\u2502', file=sys.stderr)
        print(f'\\u2502 \\u2771 {frame.lineno:>3} {frame.line}'.ljust(96) + '\\u2502', file=sys.stderr)
    print('\\u2570' + '\\u2500' * 95 + '\\u256f', file=sys.stderr)
    print(f'{type(e).__name__}: {e}', file=sys.stderr)
    sys.exit(1)
""",
    "markdown": """
import traceback
try:
    GO
except Exception:
    print('## Nightly: **failed**\\n\\n<details><summary>log</summary>\\n\\n```text', file=sys.stderr)
    print(traceback.format_exc() + '```\\n</details>', file=sys.stderr)
    sys.exit(1)
""",
    "future": """
from concurrent.futures import Future
done = Future()
def told(f):
    print('callback:', 'ok' if f.exception() is None else 'task failed', file=sys.stderr)
done.add_done_callback(told)
try:
    GO
    done.set_result(0)
except Exception as e:
    done.set_exception(e)
done.result()
""",
    "loguru": """
import datetime, traceback
try:
    GO
except Exception as e:
    now = datetime.datetime.now().strftime('%Y-%m-%d %H:%M:%S.%f')[:-3]
    print(f"{now} | ERROR    | __main__:<module>:41 - An error has been caught in function '<module>', process 'MainProcess' ({os.getpid()}), thread 'MainThread' (140):", file=sys.stderr)
    for line in traceback.format_exc().splitlines():
        print(line.replace('  File', '> File', 1), file=sys.stderr)
    sys.exit(1)
""",
}
SHELLS: dict[str, str] = {
    "twice": 'for t in 1 2; do { @JOB@; } && exit 0; c=$?; echo "run.sh: attempt $t of 2 ended with $c" >&2; done; exit $c',
    "syslog": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/<11>1 2026-11-16T04:12:07.551Z gpu-07 train 2207 - - /'",
    "blob": "{ @JOB@; } > $W/o.txt 2>&1; c=$?; [ $c = 0 ] && { cat $W/o.txt; exit 0; }; echo 'subprocess.CalledProcessError: step exited; output follows'; fold -s -w 160 $W/o.txt; exit $c",
}

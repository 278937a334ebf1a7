"""What stands around a failing program: how real programs tell of their failures.

A dress runs `job.py`, which lies beside it, in the same process or in a child; a shell dress stands around the whole
command. None of them changes why the job fails, and each hands a failure on as an exit code.
"""

from __future__ import annotations

RUN = "import os, runpy, sys\nJOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'job.py')\n"
GO = "runpy.run_path(JOB, run_name='__main__')"
DRESSES: dict[str, str] = {
    "logged": """
import logging
logging.basicConfig(format='%(asctime)s %(levelname)-8s [%(process)d] %(name)s: %(message)s', level=logging.INFO)
log = logging.getLogger('acme.train')
log.info('starting run 2026-10-03-a, seed 17')
try:
    GO
except Exception:
    log.exception('run failed, see traceback')
    sys.exit(1)
log.info('run finished')
""",
    "json": """
import datetime, json, traceback
def say(level, message, **more):
    print(json.dumps({'ts': datetime.datetime.now().isoformat(), 'level': level, 'logger': 'svc.worker', 'msg': message, **more}), file=sys.stderr, flush=True)
say('info', 'worker up', version='3.2.0', shard=4)
try:
    GO
except Exception as e:
    say('error', 'unhandled exception in step', exc_type=type(e).__name__, exc=str(e), stack=traceback.format_exc())
    sys.exit(70)
say('info', 'worker done')
""",
    "own-error": """
class StageFailed(RuntimeError):
    def __init__(self, stage, run):
        super().__init__(f'stage {stage!r} of run {run} failed')
try:
    GO
except Exception as e:
    raise StageFailed('fit', 'r-0417') from e
""",
    "told-again": """
class PipelineError(Exception):
    pass
try:
    GO
except Exception as e:
    raise PipelineError(f'node "encode" could not be computed: {type(e).__name__}: {e}') from None
""",
    "one-line": """
try:
    GO
except Exception as e:
    first = str(e).strip().splitlines() or ['']
    print(f'predict: error: {type(e).__name__}: {first[0]}', file=sys.stderr)
    sys.exit(2)
""",
    "retried": """
import logging, time
logging.basicConfig(format='%(levelname)s:%(name)s:%(message)s')
for attempt in (1, 2, 3):
    try:
        GO
        break
    except Exception as e:
        logging.warning('attempt %d of 3 failed: %s; waiting 0.2 s', attempt, e)
        last = e
        time.sleep(0.2)
else:
    raise RuntimeError('giving up after 3 attempts') from last
""",
    "notebook": """
import traceback
try:
    GO
except Exception as e:
    print('-' * 75, file=sys.stderr)
    print(f'{type(e).__name__:<42}Traceback (most recent call last)', file=sys.stderr)
    for number, frame in enumerate(traceback.extract_tb(e.__traceback__)[3:]):
        place = f'Cell In[{number + 7}], line {frame.lineno}' if frame.filename == JOB else f'File {frame.filename}:{frame.lineno}, in {frame.name}(...)'
        print(f'{place}\\n----> {frame.lineno} {frame.line}\\n', file=sys.stderr)
    print(f'{type(e).__name__}: {e}', file=sys.stderr)
    sys.exit(1)
""",
    "thread-pool": """
from concurrent.futures import ThreadPoolExecutor
def step(path):
    return runpy.run_path(path, run_name='__main__')
with ThreadPoolExecutor(2, thread_name_prefix='gpu-worker') as pool:
    for done in [pool.submit(step, JOB)]:
        done.result()
""",
    "async": """
import asyncio
async def handle(request):
    return await asyncio.to_thread(runpy.run_path, JOB, run_name='__main__')
async def serve():
    async with asyncio.TaskGroup() as group:
        group.create_task(handle({'id': 7}), name='request-7')
asyncio.run(serve())
""",
    "cleanup-fails": """
try:
    GO
finally:
    try:
        open('/run/acme/lock/gpu0.lock').close()
    except OSError as e:
        print('warning: lock not released:', e, file=sys.stderr)
""",
    "unit-test": """
import unittest
class TestJob(unittest.TestCase):
    def test_end_to_end(self):
        GO
unittest.main(argv=['test_job'], verbosity=2)
""",
    "child": """
import subprocess
child = subprocess.Popen([sys.executable, '-u', JOB], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
for line in child.stdout:
    print('[worker-0]', line, end='', flush=True)
code = child.wait()
if code:
    raise subprocess.CalledProcessError(code, ['python', 'job.py', '--shard', '0'])
""",
    "captured": """
import subprocess
done = subprocess.run([sys.executable, JOB], capture_output=True, text=True, errors='replace')
print(done.stdout, end='')
if done.returncode:
    raise SystemExit(f'job ended with {done.returncode}; last words:\\n' + '\\n'.join('  | ' + line for line in done.stderr.splitlines()[-40:]))
""",
    "process-pool": """
import multiprocessing
def work(path):
    runpy.run_path(path, run_name='job')
if __name__ == '__main__':
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context('spawn')) as pool:
        pool.submit(work, JOB).result(timeout=50)
""",
    "torchrun": """
import subprocess
sys.exit(subprocess.run([sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '1', JOB]).returncode)
""",
}
SHELLS: dict[str, str] = {
    "stamped": "set -o pipefail; { @JOB@; } 2>&1 | while IFS= read -r line; do printf '%(%Y-%m-%dT%H:%M:%S)T %s\\n' -1 \"$line\"; done",
    "ranked": "set -o pipefail; { @JOB@; } 2>&1 | sed -u 's/^/0: /'",
    "tee": 'set -o pipefail; { @JOB@; } 2>&1 | tee $W/train.log || { code=$?; echo "train.sh: job failed with exit code $code, log kept" >&2; exit $code; }',
    "quiet-then-told": "{ @JOB@; } > $W/all.log 2>&1 || { code=$?; echo '===== last 60 lines ====='; tail -n 60 $W/all.log; exit $code; }",
}


def dressed(name: str) -> str:
    """The program that runs job.py in that dress."""
    return RUN + DRESSES[name].lstrip("\n").replace("GO", GO)


def shelled(name: str, command: str) -> str:
    """The command inside a script's own way to keep its output."""
    return SHELLS[name].replace("@JOB@", f"( {command or '$PYTHON $SCRIPT'} )")

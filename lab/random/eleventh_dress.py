"""What stands around a failing program of the eleventh part: reports by mail, records, cells, colours, systemd, make, docker compose.

A dress runs `job.py`, which lies beside it; a shell dress stands around the whole command. None changes why the job fails,
and the line RESULT stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.random.eighth_dress import GO, RUN

DRESSES: dict[str, str] = {
    "mail": """
import traceback
try:
    GO
except Exception as e:
    body = ''.join(traceback.format_exception(e))
    print('To: oncall@acme.example\\nSubject: [nightly] run 88 FAILED on gpu-07\\n', file=sys.stderr)
    print('\\n'.join('> ' + line for line in body.splitlines()), file=sys.stderr)
    sys.exit(1)
""",
    "coloured": """
import traceback
try:
    GO
except Exception as e:
    for line in ''.join(traceback.format_exception(e)).splitlines():
        print('\\x1b[31m' + line + '\\x1b[0m', file=sys.stderr)
    print('\\x1b[1;31m\\u2718 failed\\x1b[0m after 1 stage', file=sys.stderr)
    sys.exit(1)
""",
    "record": """
import json, traceback
try:
    GO
except Exception as e:
    doc = {'event': {'kind': 'alert', 'outcome': 'failure'}, 'error': {'type': type(e).__name__, 'message': str(e), 'stack_trace': traceback.format_exc().splitlines()}, 'service': {'name': 'embedder'}}
    print(json.dumps(doc, indent=1), file=sys.stderr)
    sys.exit(1)
""",
    "noted": """
try:
    GO
except Exception as e:
    e.add_note('while running step 3 of 7 (config configs/base.yaml, host gpu-07)')
    raise
""",
    "chained-twice": """
class StepError(Exception):
    pass
class FlowError(Exception):
    pass
try:
    try:
        GO
    except Exception as e:
        raise StepError('step train') from e
except StepError as e:
    raise FlowError('flow nightly, 1 of 3 steps failed') from e
""",
    "slow-news": """
import atexit, traceback
words = []
atexit.register(lambda: [print('summary |', w, file=sys.stderr) for w in words])
try:
    GO
except Exception as e:
    words += traceback.format_exc().splitlines()
    print('stage 1: FAILED (details below)', file=sys.stderr)
    sys.exit(4)
""",
}
SHELLS: dict[str, str] = {
    "unit": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/Nov 16 04:12:07 gpu-07 trainer[2207]: /' || { c=$?; echo \"Nov 16 04:12:08 gpu-07 systemd[1]: trainer.service: Main process exited, code=exited, status=$c/n/a\"; exit $c; }",
    "compose": "set -o pipefail; { @JOB@; } 2>&1 | sed -u '/^RESULT/!s/^/train-1  | /' || { c=$?; echo \"train-1 exited with code $c\"; exit $c; }",
    "make": '{ @JOB@; } || { c=$?; echo "make: *** [Makefile:14: train] Error $c" >&2; exit $c; }',
    "traced": "set -o pipefail; PS4='+ run.sh:12: '; { @JOB@; } 2>&1 | tee -a $W/trace.log; c=$?; [ $c = 0 ] || { echo \"+ run.sh:19: exit $c\" >&2; exit $c; }",
}


@dataclass(frozen=True)
class Wardrobe:
    """What a part can put around a program, by name."""

    dresses: Mapping[str, str]
    shells: Mapping[str, str]

    def dressed(self, name: str) -> str:
        """The program that runs job.py in that dress."""
        return RUN + self.dresses[name].lstrip("\n").replace("GO", GO)

    def shelled(self, name: str, command: str) -> str:
        """The command inside a script's own way to keep its output."""
        return self.shells[name].replace("@JOB@", f"( {command or '$PYTHON $SCRIPT'} )")

"""Eleventh operators, no matter of the GPU: programs that compute well and end by themselves in other trades, and healthy ones with frightening words."""

from __future__ import annotations

from collections.abc import Mapping

from lab.random.eleventh import ANY, LIGHT, LIM, OT, PATH, PEER, SET, SHA, Case, enter
from lab.random.eleventh_cpp import cu


def ends(target: str, after: str, expect: str, also: tuple[str, ...] = (), needs: str = ANY, before: str = "") -> Case:
    """A program that works on the card, and an end of its own behind it."""
    return Case(needs, target, OT, also, before=before, after=after, expect=expect, void="")


enter(
    "innocent-evaluations",
    ends("answer is not in the list", "pred, choices = 'E', ['A', 'B', 'C', 'D']\nif pred not in choices:\n    raise LookupError(f'model answered {pred!r}, choices are {choices} (question 17, device cuda:0)')\n", "question 17"),
    ends("judge gives no number", "reply = 'The answer is excellent.'\nscore = int(reply.split('Score:')[1])\n", "IndexError"),
    ends("too few right", "acc = 0.41\nassert acc > 0.6, f'accuracy {acc} below the gate 0.6 after 3 GPU epochs'\n", "below the gate"),
    ends("reference was made by another release", "want, got = 'b7c1', 'b7c4'\nif want != got:\n    raise SystemExit(f'golden logits differ: {got} != {want} (recorded on A100, now on H200)')\n", "golden logits"),
    ends("prompt longer than the template allows", "raise ValueError(\"This model's maximum context length is 4096 tokens. However, you requested 9120 tokens.\")\n", "maximum context", (SHA, SET)),
)  # fmt: skip
enter(
    "innocent-parsers",
    ends("answer of a model is no JSON", "import json\njson.loads('```json\\n{\"gpu\": 0,}\\n```')\n", "JSONDecodeError"),
    ends("date of another form", "import datetime\ndatetime.datetime.strptime('16/11/2026', '%Y-%m-%d')\n", "does not match format"),
    ends("table with a quote too many", "import csv, io\nrows = list(csv.reader(io.StringIO('a,b\\n\"cuda,1\\n'), strict=True))\nprint(rows)\n", "(?i)csv|quote|EOF|unexpected end"),
    ends("expression with a slip", "import re\nre.compile('cuda:(\\\\d+')\n", "(?i)unterminated|parenthesis"),
    ends("options without their file", "import argparse\np = argparse.ArgumentParser('train')\np.add_argument('--gpus', type=int, choices=[1, 2])\np.parse_args(['--gpus', '16'])\n", "invalid choice", (SET,)),
    ends("settings that are no TOML", "import tomllib\ntomllib.loads('[train]\\nbatch = 8,\\ndevice = \"cuda\"')\n", "(?i)TOML"),
)  # fmt: skip
enter(
    "innocent-objects",
    ends("interface half made", "import abc\nclass Engine(abc.ABC):\n    @abc.abstractmethod\n    def to_gpu(self): ...\nclass Fast(Engine):\n    pass\nFast()\n", "abstract"),
    ends("called with one word too many", "def launch(kernel, *, grid):\n    return kernel\nlaunch('k', grid=1, cluster=2)\n", "unexpected keyword", (SHA,)),
    ends("frozen settings changed", "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Cfg:\n    device: str = 'cuda'\nCfg().device = 'cpu'\n", "FrozenInstance"),
    ends("circle of imports", "import sys, types\nm = types.ModuleType('gpu_utils')\nsys.modules['gpu_utils'] = m\nfrom gpu_utils import pick_device\n", "pick_device"),
    ends("key that changes", "cache = {}\ncache[['cuda', 0]] = 1\n", "unhashable"),
    ends("too deep", "def walk(n):\n    return walk(n + 1)\nwalk(0)\n", "recursion"),
)  # fmt: skip
enter(
    "innocent-money-and-time",
    ends("budget of the month is spent", "import sys\nprint('billing: project gpu-research is over its budget (8,200 of 8,000 GPU hours), new steps are refused', file=sys.stderr)\nsys.exit(64)\n", "over its budget", (LIM,)),
    ends("window of the night is over", "raise TimeoutError('night window ended 06:00, 3 of 12 GPU jobs not begun')\n", "night window", (LIM,)),
    ends("preempted by the scheduler", "import os, signal, sys\nprint('slurmstepd: error: *** JOB 881 ON gpu-07 CANCELLED AT 2026-11-16T04:12:07 DUE TO PREEMPTION ***', file=sys.stderr, flush=True)\nos.kill(os.getpid(), signal.SIGTERM)\n", "PREEMPTION", (LIM, PEER)),
    ends("time limit of the queue", "import os, signal, sys\nprint('slurmstepd: error: *** STEP 881.0 ON gpu-07 CANCELLED AT 2026-11-16T04:12:07 DUE TO TIME LIMIT ***', file=sys.stderr, flush=True)\nos.kill(os.getpid(), signal.SIGTERM)\n", "TIME LIMIT", (LIM, PEER)),
)  # fmt: skip
enter(
    "innocent-stores",
    ends("bucket without leave", "class ClientError(Exception):\n    pass\nraise ClientError('An error occurred (AccessDenied) when calling the PutObject operation: Access Denied (bucket gpu-results)')\n", "AccessDenied", (LIM, PEER)),
    ends("server of runs wants a key", "class UsageError(Exception):\n    pass\nraise UsageError('api_key not configured (no-tty). call wandb.login(key=[your_api_key])')\n", "api_key", (SET,)),
    ends("data base refuses", "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table runs (id integer primary key, gpu text not null)')\nc.execute('insert into runs values (1, null)')\n", "NOT NULL"),
    ends("row there already", "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table runs (id integer primary key)')\nc.execute('insert into runs values (7)')\nc.execute('insert into runs values (7)')\n", "UNIQUE"),
    ends("certificate nobody trusts", "import ssl\nraise ssl.SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate in certificate chain (models.acme.example)')\n", "CERTIFICATE_VERIFY", (PEER, SET)),
)  # fmt: skip
enter(
    "innocent-frames",
    ends("column that is not there", "import pandas as pd\ndf = pd.DataFrame({'cuda_ms': [1.0, 2.0]})\nprint(df['gpu_ms'].mean())\n", "gpu_ms"),
    ends("joined on unlike kinds", "import pandas as pd\na = pd.DataFrame({'k': [1]})\nb = pd.DataFrame({'k': ['1']})\na.merge(b, on='k')\n", "(?i)merge"),
    ends("plot without a screen", "import os\nos.environ.pop('DISPLAY', None)\nraise RuntimeError('cannot connect to X server: no display name and no $DISPLAY environment variable (gpu preview)')\n", "no display", (SET,)),
    ends("NumPy's own shapes", "import numpy\nprint(numpy.ones((3, 4)) + numpy.ones((2, 4)))\n", "broadcast", (SHA,)),
    ends("NumPy's own matrix is singular", "import numpy\nnumpy.linalg.inv(numpy.zeros((3, 3)))\n", "(?i)singular"),
    ends("optimum not found on the host", "from scipy.optimize import brentq\nprint(brentq(lambda v: v * v + 1, 0, 1))\n", "(?i)different signs|sign"),
)  # fmt: skip
enter(
    "innocent-quotes",
    ends("tells of a colleague's card, then its own slip", "print('Ticket 88: \"RuntimeError: CUDA error: an illegal memory access was encountered\" (solved, bad cable)')\nrows = []\nprint(max(rows))\n", "(?i)max\\(\\)|empty"),
    ends("looks for words in old logs", "text = 'CUDA out of memory. Tried to allocate 2.00 GiB'\nhits = [w for w in ('Xid 79', 'ECC') if w in text]\nprint('searched for', ('Xid 79', 'ECC', 'NCCL timeout'))\nassert hits, 'triage: no known pattern in the log of run 71'\n", "no known pattern"),
    ends("help text and a typing slip", "print('usage: bench [--device cuda] ; error codes: 2 = no kernel image is available, 3 = driver too old')\nprint('total: ' + 3)\n", "(?i)concatenate"),
    ends("translations of messages", "words = {'CUDA driver version is insufficient': 'Treiber zu alt'}\nprint(words['device-side assert triggered'])\n", "KeyError"),
    ends("tests its own parser of errors", "import re\nm = re.match(r'(\\w+): CUDA error: (.+)', 'torch.AcceleratorError: CUDA error: device-side assert triggered')\nprint(m.group(3))\n", "(?i)NoneType|no such group"),
)  # fmt: skip
enter(
    "innocent-cpp-ends",
    cu("list read beyond its end, with a check", OT, (), "std::vector<int> v(3); v.at(7) = 1;", expect="(?i)range_check|out_of_range"),
    cu("its own contract broken", OT, (), 'int cells = 0; if (!cells) { fprintf(stderr, "mesh: precondition cells > 0 failed in refine() [device 0]\\n"); return 70; }', expect="precondition"),
    cu("input that is a folder", OT, (PATH,), 'FILE* f = fopen("/tmp", "r"); char b[8]; if (!f || fread(b, 1, 8, f) == 0) { perror("mesh: cannot read /tmp"); return 66; }', expect="cannot read"),
    cu("sum of the energy differs", OT, (), 'double e = 1.003; if (e != 1.0) { fprintf(stderr, "mesh: energy drift %.1e after 10 GPU steps, limit 1e-6\\n", e - 1); return 71; }', expect="energy drift"),
    cu("ended by a user's signal", OT, (LIM,), 'fprintf(stderr, "mesh: got SIGUSR1 from the scheduler, stopping after step 3\\n"); return 138;', expect="SIGUSR1"),
)  # fmt: skip


def step(target: str, command: str, expect: str, also: tuple[str, ...] = ()) -> Case:
    """The program ends well; what the script does next does not."""
    return Case(LIGHT, target, OT, also, command=command, expect=expect, void="", dress="none")


enter(
    "innocent-scripts-after",
    step("archive of nothing", "$PYTHON $SCRIPT && tar czf $W/r.tgz -C $W results_gpu", "results_gpu", (PATH,)),
    step("copied to a host nobody knows", "$PYTHON $SCRIPT && $PYTHON -c 'import socket; socket.getaddrinfo(\"gpu-store.invalid\", 22)'", "(?i)name|resol|gaierror", (PEER,)),
    step("two values compared as numbers", "$PYTHON $SCRIPT && [ \"H200\" -eq 200 ] || { echo 'gate: unexpected card name' >&2; exit 3; }", "(?i)integer expression|gate"),
    step("rights of a script", "$PYTHON $SCRIPT && printf '#!/bin/sh\\necho hi\\n' > $W/post.sh && $W/post.sh", "(?i)permission denied", (LIM,)),
    step("script of another system", "$PYTHON $SCRIPT && printf '#!/bin/bash\\r\\necho hi\\r\\n' > $W/post.sh && chmod 755 $W/post.sh && $W/post.sh", "(?i)bad interpreter|not found|required file|No such", (PATH,)),
    step("patch that does not fit", "$PYTHON $SCRIPT && cd $W && echo a > f && printf -- '--- f\\n+++ f\\n@@ -1 +1 @@\\n-b\\n+c\\n' > p && { patch -p0 < p || { echo 'post: patch for kernels.cu does not apply' >&2; exit 1; }; }", "(?i)does not apply|FAILED|not found"),
)  # fmt: skip


def healthy(target: str, before: str = "", needs: str = LIGHT, command: str = "", environ: Mapping[str, str] | None = None) -> Case:  # fmt: skip
    """A program that ends well, in company that frightens."""
    return Case(needs, f"harmless: {target}", OT, (), before=before, command=command, environ=environ or {})


TRY = "import sys, traceback\ntry:\n{0}\nexcept Exception:\n    traceback.print_exc()\n    print('optional part left out', file=sys.stderr)\n"
enter(
    "healthy-with-optional-parts",
    healthy("faster attention is not here", TRY.format("    import flash_attn")),
    healthy("quantiser is not here", TRY.format("    import bitsandbytes")),
    healthy("inference engine is not here", TRY.format("    import tensorrt")),
    healthy("a watcher cannot be reached", TRY.format("    import socket\n    socket.create_connection(('127.0.0.1', 9), 1)")),
    healthy("second card is not here", TRY.format("    import torch\n    torch.ones(1, device='@D@:1' if '@D@' == 'cuda' else 'cuda')"), "torch-matmul torch-fft"),
    healthy("a header of the toolkit is not here", TRY.format("    open('/usr/local/cuda/include/cudss.h')")),
)  # fmt: skip
enter(
    "healthy-under-watch",
    healthy("exceptions as the system sees them", command="exec $PYTHON -X faulthandler -X importtime $SCRIPT 2> >(tail -n 4 >&2)"),
    healthy("with its own limits shown", command="ulimit -a >&2; exec $PYTHON $SCRIPT"),
    healthy("after a build that failed and was not needed", command="echo 'int main( {' > $W/t.c; gcc -o $W/t $W/t.c; exec $PYTHON $SCRIPT"),
    healthy("after a kernel that nvcc refused", command="command -v nvcc > /dev/null && { echo 'x' > $W/t.cu; nvcc -o $W/t $W/t.cu; }; exec $PYTHON $SCRIPT"),
    healthy("while the management tool asks every moment", command="(for i in 1 2 3 4; do nvidia-smi > /dev/null 2>&1; sleep 0.4; done) & $PYTHON $SCRIPT; c=$?; wait; exit $c"),
    healthy("started a second time after a killed one", command="$PYTHON $SCRIPT > /dev/null 2>&1 & p=$!; sleep 0.5; kill -9 $p; wait $p 2>/dev/null; exec $PYTHON $SCRIPT"),
)  # fmt: skip
enter(
    "healthy-after-mending-itself",
    healthy("half the batch after the first try", "import torch\nif '@D@' == 'cuda':\n    torch.cuda.set_per_process_memory_fraction(0.004)\n    n = 4096\n    while True:\n        try:\n            torch.empty(n << 20, dtype=torch.uint8, device='cuda')\n            break\n        except RuntimeError as e:\n            print('batch', n, 'did not fit:', str(e).splitlines()[0])\n            n //= 2\n    torch.cuda.set_per_process_memory_fraction(1.0)\n", "torch-matmul torch-fft"),
    healthy("port taken, the next one free", "import socket\na = socket.socket()\na.bind(('127.0.0.1', 0))\na.listen()\nb = socket.socket()\ntry:\n    b.bind(a.getsockname())\nexcept OSError as e:\n    print('rendezvous:', e, '; trying another port')\nb.bind(('127.0.0.1', 0))\na.close()\nb.close()\n"),
    healthy("cut cache thrown away and made anew", "import json\nopen('tune.json', 'w').write('{\"sm_90\": ')\ntry:\n    json.load(open('tune.json'))\nexcept ValueError as e:\n    print('autotune cache is corrupt, rebuilding:', e)\n    open('tune.json', 'w').write('{}')\n"),
    healthy("back end of the host when the first word fails", "import os\nprint('WARNING: CUDA graphs disabled: operation not permitted when stream is capturing (known, falling back to eager)', flush=True)\n"),
)  # fmt: skip

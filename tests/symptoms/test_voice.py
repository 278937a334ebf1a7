"""Whose words are these: what a text only quotes is no failure of the program that printed it."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text, read_text

LOST = "GPU has fallen off the bus"
NO_IMAGE = "no kernel image is available for execution on the device"
OOM = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"
QUOTED = {
    "a search's hits": f"logs/a.log:12:{OOM}\nlogs/b.log:7:NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    "subjects": f"3f9a1c2 Catch {OOM}\n77ab01d docs: GPU has fallen off the bus",
    "counts": f"     41 {OOM}\n      3 NVRM: Xid (PCI:0000:3b:00): 79, {LOST}.",
    "a table": f"id,host,message\n1,a,CUDA driver version is insufficient for CUDA runtime version\n2,b,{LOST}",
    "a chat": f'[09:12] ann: yesterday it said "{OOM}"\n[09:13] bob: the card was swapped',
    "a notice": "[RESOLVED] GPU lost\nNVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.",
    "a compared value": f'x_test.go:4: Kind("{OOM}") = "unknown", want "memory"\nFAIL\nFAIL\tacme/kind\t0.004s',
    "labelled sides": f"expected: CUDA error: invalid device ordinal\ngot: CUDA error: {NO_IMAGE}\n1 failed",
    "a manual": 'NAME\n       x - y\n\nDIAGNOSTICS\n       "GPU has fallen off the bus"\n              Reseat it.\n',
    "an option's help": f"usage: x [-h]\n\n  -h, --help  show\n  --again N   after '{OOM}'\n",
    "settings": f"groups:\n  - name: a\n    rules:\n      - alert: b\n        say: '{OOM}'\n",
    "a sentence": "This change makes the trainer survive CUDA out of memory by a smaller batch.\nAll green.",
    "a manual's term": f'**"{NO_IMAGE}"**\n   The wheel was not built for this card, take another.',
    "a feature": f'When a kernel ends, the window shows only "CUDA error: {NO_IMAGE}".\nA button would be nice.',
    "a row of data": f'ERROR:  duplicate key value\nCONTEXT:  COPY events, line 3: "gpu17\t79\t{LOST}"',
    "a translation": f'msgid "{NO_IMAGE}"\nmsgstr "kein Code"',
    "a counter": f'failures{{message="{LOST}"}} 0\nfailures{{message="{NO_IMAGE}"}} 0',
    "a table of texts": "no CUDA-capable device is detected\ninvalid device ordinal\n"
    "unspecified launch failure\nan illegal memory access was encountered",
    "a search without hits": '$ rg -n "CUDA out of memory" src\n$ echo done\ndone',
    "a note of a manual": f".. note::\n\n   After a fork PyTorch raises {OOM}, which our launcher never does.",
    "what a chat has solved": f"[09:12] ann: the {OOM} was my other notebook, fixed\n[09:13] bob: good, cards are idle",
    "a condition": f'if "{OOM}" in str(error):\n    retry()',
}
SPOKEN = {
    "one search": f"$ grep -i error train.log\n{OOM}",
    "a thrown value": 'Torch("CUDA error: no kernel image is available for execution on the device")',
    "a test that asks": f"g.cu:4: Failure\n  cudaGetLastError()\n    Which is: {NO_IMAGE}\n1 failed",
    "a test that raised": f"E       {OOM}\n\ntests/test_a.py:14: RuntimeError\n1 failed in 4.02s",
    "a complaint": f'Since today it says "{NO_IMAGE}" when I call .cuda(), how can I fix it?',
    "a compiler": "a.cu:12:5: error: x\nb.cu:7:1: error: no kernel image is available for execution on the device",
    "a record": f'level=ERROR msg="load" error="{OOM}"',
}


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_quoted_words_accuse_nobody(text):
    assert not [c for c in explain_text(text).causes if c.confidence >= 0.5 and c.id != "other.not_gpu"]


@pytest.mark.parametrize("text", SPOKEN.values(), ids=SPOKEN)
def test_spoken_words_are_taken_for_what_they_say(text):
    assert not any(one.borrowed for one in read_text(text).symptoms)
    assert explain_text(text).causes[0].confidence >= 0.5


@pytest.mark.parametrize(
    "text",
    [
        "aggregating gpu_utilization\nFATAL ERROR: Reached heap limit - JavaScript heap out of memory",
        "connecting to gpu_assets\nError: Can't open lib 'ODBC Driver 18' : driver not found",
        "a: /home/u/main.cu:9: int main(): Assertion `layers == 4' failed.\nAborted (core dumped)",
    ],
)
def test_anybodys_words_need_a_part_of_the_stack_beside_them(text):
    assert not [c for c in explain_text(text).causes if c.confidence >= 0.5 and c.id != "other.not_gpu"]


def test_a_thread_that_failed_while_the_program_worked_on():
    text = (
        "Exception in thread monitor:\nTraceback (most recent call last):\n  File \"a.py\", line 2, in poll\n    f()\n"
        "RuntimeError: NVML: Driver/library version mismatch\nepoch 0 loss 1.0\nepoch 1 loss 0.5\nepoch 2 loss 0.3\n"
    )  # fmt: skip
    assert not [c for c in explain_text(text).causes if c.confidence >= 0.5]


LIBCUDA = "AssertionError: libcuda.so cannot found!"
ENDED = {
    "run.sh: line 2: 165 Alarm clock             $PYTHON a.py": "other.not_gpu",
    "slurm: job 4711 ended (152), time limit reached": "env.limit",
    "triton.compiler.errors.CompilationError: at 3:37:\ndef k(x):\nNameError('scale is not defined')": "program.build",
}


@pytest.mark.parametrize(("text", "cause"), ENDED.items())
def test_who_ended_it(text, cause):
    assert explain_text(f"epoch 1 loss 1.0\nepoch 2 loss 0.5\n{text}").causes[0].id == cause


BEGAN = "PyTorch 2.6.0+cu124, CUDA available, 2 GPUs\nTraceback (most recent call last):\n"


@pytest.mark.parametrize(
    ("code", "cause"), [('os.listdir("/data/private")', "other.not_gpu"), ('open("/data/private", "w")', "env.limit")]
)
def test_what_the_users_own_code_may_not_read(code, cause):
    raised = (
        f'  File "/home/a/train.py", line 3, in <module>\n    {code}\nPermissionError: [Errno 13] Permission denied: '
    )
    assert explain_text(f"{BEGAN}{raised}'/data/private'\n").causes[0].id == cause


def test_a_hub_that_is_not_reached_is_no_closed_cache():
    frames = (
        '  File "/v/site-packages/transformers/utils/hub.py", line 4, in cached_file\n    raise EnvironmentError(\n'
    )
    ended = (
        "OSError: We couldn't connect to 'https://hub.example' to load this file, and it is not in the cached files."
    )
    assert "env.limit" not in [one.id for one in explain_text(f"{BEGAN}{frames}{ended}\n").causes[:1]]


def test_what_a_wrapper_announces_is_the_ending():
    ending = read_text(f"torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n{LIBCUDA}").ending
    assert (ending.name, ending.wrappers) == ("AssertionError", ("torch._dynamo.exc.BackendCompilerFailed",))


MODULE = "Your driver CUDA version is 12.2 but the module you want to load requires CUDA 12.4.\n"


@pytest.mark.parametrize("heading", ["Lmod has detected the following warning:", "Warnings:", "*** WARNING ***"])
def test_below_a_heading_that_says_so_stands_a_warning(heading):
    below = read_text(f"{heading}\n{MODULE}").symptoms
    assert [one.warned for one in below if one.signature == "said.driver_older"] == [True]
    apart = read_text(f"{heading}\nnone\n\n{MODULE}").symptoms
    assert [one.warned for one in apart if one.signature == "said.driver_older"] == [False]


def test_a_programs_own_fatal_error_below_its_heading_ends_it():
    ended = "$ gmx mdrun\nFatal error:\nFile input/output error: md.tpr\n"
    report = explain_text(f"Lmod has detected the following warning:\n{MODULE}\n{ended}")
    assert report.causes[0].id == "other.not_gpu"
    assert "md.tpr" in report.causes[0].fixes[0].text
    assert explain_text(f"Fatal error:\n{MODULE}").causes[0].id == "driver.too_old"


def test_a_chat_without_times_quotes_too():
    said = '<ann> remember my "no kernel image is available for execution on the device"?\n<bob> yes\n<ann> works now\n'
    assert all(one.confidence < 0.5 for one in explain_text(said).causes)


LOADER = (
    '  File "/v/site-packages/torch/utils/data/_utils/worker.py", line 2, in _worker_loop\n    data = fetch(index)\n'
)


@pytest.mark.parametrize(
    ("frame", "ended"),
    [
        ('PIL/ImageFile.py", line 9, in load\n    "(%d bytes)" % n', "OSError: image file is truncated (27 bytes)"),
        ('imageio/a.py", line 4, in f\n    open(n, "rb")', "PermissionError: [Errno 13] Permission denied: '/a.png'"),
        ('pandas/io/common.py", line 8, in get_handle\n    handle = open(path)', "EOFError: file is damaged"),
    ],
)  # fmt: skip
def test_what_a_package_for_data_raises_is_about_the_data(frame, ended):
    text = f'{BEGAN}{LOADER}  File "/v/site-packages/{frame}\n{ended}\n'
    assert explain_text(text).causes[0].id == "other.not_gpu"

"""The ending of a text: read as a value, opened down to the inner exception, told apart from what came before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.model.ending import Ending, Frame
from gpuwhy.symptoms.ending import ending_of, owner_of
from gpuwhy.symptoms.own import judged

PLAIN = """\
2026-11-15 10:00:00.123456: I tensorflow/core/util/port.cc:153] oneDNN custom operations are on.
step 1
Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    main()
  File "/home/me/train.py", line 8, in main
    rate = config["lr"]
           ~~~~~~^^^^^^
KeyError: 'lr'
"""

LIBRARY = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    x = torch.zeros(3).cuda()
  File "/venv/lib/python3.11/site-packages/torch/cuda/__init__.py", line 363, in _lazy_init
    torch._C._cuda_init()
RuntimeError: No CUDA GPUs are available
"""

CAUSED = """\
Traceback (most recent call last):
  File "a.py", line 1, in load
    json.loads(text)
ValueError: bad text

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "a.py", line 9, in <module>
    start()
RuntimeError: cannot start
"""

REMOTE = '''\
concurrent.futures.process._RemoteTraceback:
"""
Traceback (most recent call last):
  File "/usr/lib/python3.11/concurrent/futures/process.py", line 256, in _process_worker
    r = call_item.fn(*call_item.args, **call_item.kwargs)
  File "/home/me/w.py", line 4, in work
    return 1 / x
ZeroDivisionError: division by zero
"""

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/me/w.py", line 9, in <module>
    print(f.result())
ZeroDivisionError: division by zero
'''

REPLICA = """\
Traceback (most recent call last):
  File "t.py", line 30, in <module>
    out = model(x)
RuntimeError: Caught OutOfMemoryError in replica 1 on device 1.
Original Traceback (most recent call last):
  File "/venv/lib/python3.10/site-packages/torch/nn/parallel/parallel_apply.py", line 83, in _worker
    output = module(*input, **kwargs)
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
"""

IPYTHON = """\
---------------------------------------------------------------------------
FileNotFoundError                         Traceback (most recent call last)
Cell In[3], line 2
      1 import pandas as pd
----> 2 df = pd.read_csv("data.csv")

File ~/venv/lib/python3.10/site-packages/pandas/io/parsers/readers.py:912, in read_csv(filepath)
    911 kwds.update(kwds_defaults)
--> 912 return _read(filepath_or_buffer, kwds)

FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'
"""

FAULT = """\
loading
Fatal Python error: Segmentation fault

Current thread 0x00007f1 (most recent call first):
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/conv.py", line 456 in _conv_forward
  File "/home/me/train.py", line 9 in <module>

Extension modules: numpy (total: 1)
"""


def test_a_plain_exception_is_the_users_own():
    ending = ending_of(PLAIN)
    assert (ending.kind, ending.type, ending.message, ending.line) == ("exception", "KeyError", "'lr'", 9)
    assert ending.frame == Frame("/home/me/train.py", 8, "main", 'rate = config["lr"]', "user")
    assert (ending.first, ending.last) == (3, 9)
    assert ending.holds(9)
    assert not ending.holds(1)
    assert ending.quotes(7)


def test_the_frame_tells_whose_code_raised():
    ending = ending_of(LIBRARY)
    assert ending.owner == "torch"
    assert [f.owner for f in ending.stack] == ["user", "torch"]


def test_the_exception_that_another_was_raised_from_decides():
    ending = ending_of(CAUSED)
    assert (ending.type, ending.message, ending.wrappers) == ("ValueError", "bad text", ("RuntimeError",))
    assert ending.last == 11


def test_an_exception_while_another_was_handled_keeps_both_in_order():
    text = CAUSED.replace(
        "The above exception was the direct cause of the following exception:",
        "During handling of the above exception, another exception occurred:",
    )
    ending = ending_of(text)
    assert ending.type == "RuntimeError"
    assert [one.type for one in ending.chain] == ["ValueError"]
    assert ending.holds(4)


def test_a_process_pool_is_opened():
    ending = ending_of(REMOTE)
    assert ending.type == "ZeroDivisionError"
    assert ending.frame is not None
    assert ending.frame.code == "return 1 / x"


def test_a_replica_is_opened():
    ending = ending_of(REPLICA)
    assert ending.type == "torch.cuda.OutOfMemoryError"
    assert ending.wrappers == ("RuntimeError",)


@pytest.mark.parametrize(
    "text, kind, message",
    [
        ("torch._inductor.exc.InductorError: RuntimeError: no nvcc", "RuntimeError", "no nvcc"),
        (
            "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nOutOfMemoryError: full",
            "OutOfMemoryError",
            "full",
        ),
        ("ray.exceptions.RayTaskError(ValueError): ray::f() (pid=1)\nValueError: odd shape", "ValueError", "odd shape"),
    ],
)
def test_wrappers_are_opened_by_their_message(text, kind, message):
    ending = ending_of(text)
    assert (ending.name, ending.message) == (kind, message)


def test_a_notebook_traceback():
    ending = ending_of(IPYTHON)
    assert ending.type == "FileNotFoundError"
    assert [f.owner for f in ending.stack] == ["user", "pandas"]
    assert ending.stack[0].code == 'df = pd.read_csv("data.csv")'


def test_ranks_and_times_before_the_lines_do_not_hide_it():
    text = "\n".join(f"[rank0]: {line}" for line in LIBRARY.splitlines())
    ending = ending_of(text)
    assert (ending.type, ending.owner) == ("RuntimeError", "torch")


def test_a_launchers_word_gives_way_to_the_process_that_failed():
    text = LIBRARY + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \nmain.py FAILED\n"
    assert ending_of(text, exit_code=1).message == "No CUDA GPUs are available"


def test_a_fault_with_its_stack():
    ending = ending_of(FAULT, signal="SIGSEGV")
    assert (ending.kind, ending.type) == ("signal", "SIGSEGV")
    assert ending.owner == "torch"


@pytest.mark.parametrize(
    "text, kind, name",
    [
        ("terminate called after throwing an instance of 'A::B'\n  what():  no", "fatal", "A::B"),
        ("F tf/x.cc:516] Check failed: cudnnSet", "fatal", "tf/x.cc:516"),
        ("train.py: error: unrecognized arguments: --bach", "fatal", "usage"),
        ("./a: error while loading shared libraries: libcudart.so.12", "fatal", "error while loading shared libraries"),
        ("Segmentation fault (core dumped)", "signal", "SIGSEGV"),
        ("./run.sh: line 3: 123 Aborted                 (core dumped) ./prog", "signal", "SIGABRT"),
        ("hello\ncuDNN create failed: 4", "status", ""),
        ("cudaMalloc failed: out of memory", "status", "cudaMalloc"),
        ("epoch 1 loss 0.1", "none", ""),
    ],
)  # fmt: skip
def test_other_endings(text, kind, name):
    ending = ending_of(text)
    assert (ending.kind, ending.type) == (kind, name)


def test_success_and_silence():
    assert ending_of(PLAIN, exit_code=0).kind == "none"
    ending = ending_of("step 1\nno data\n", exit_code=3)
    assert (ending.kind, ending.message, ending.line, ending.exit_code) == ("exit", "no data", 2, 3)
    assert ending_of("", exit_code=3) == Ending("exit", exit_code=3)


def test_two_runs_end_alike_but_for_numbers_and_paths():
    one = Ending("exception", "RuntimeError", "Tried to allocate 2.00 GiB at /a/b/c.py:3", (Frame("/x/t.py", 3, "f"),))
    two = Ending("exception", "RuntimeError", "Tried to allocate 3.50 GiB at /q/c.py:9", (Frame("/y/t.py", 9, "f"),))
    assert one.alike(two)
    assert not one.alike(Ending("exception", "RuntimeError", "another", (Frame("/x/t.py", 3, "f"),)))


@pytest.mark.parametrize(
    "file, owner",
    [
        ("/venv/lib/python3.11/site-packages/jax/_src/xla_bridge.py", "jax"),
        ("/usr/lib/python3/dist-packages/numpy/core.py", "numpy"),
        ("/usr/lib/python3.11/json/__init__.py", "python"),
        ("<frozen importlib._bootstrap>", "python"),
        (r"C:\Users\me\venv\Lib\site-packages\tensorflow\python\pywrap.py", "tensorflow"),
        ("<stdin>", "user"),
        ("train.py", "user"),
    ],
)
def test_owners(file, owner):
    assert owner_of(file) == owner


@given(st.text(alphabet=st.sampled_from('TraceERFile "line,:()\n\t 0x[]E>-'), max_size=400))
def test_any_text_has_an_ending(text):
    ending_of(text, exit_code=1)
    ending_of(text, signal="SIGSEGV")


def test_an_exception_that_carries_another_with_its_frames_is_opened():
    frames = "".join(
        f'  File "/v/lib/python3.11/site-packages/torch/f{n}.py", line {n}, in f\n    g()\n' for n in range(1, 40)
    )
    text = f"Traceback (most recent call last):\n{FRAME}ray.exceptions.RayTaskError(ValueError): ray::f() (pid=1)\n"
    ending = ending_of(f"{text}{frames}ValueError: bad start method\n")
    assert (ending.name, ending.message, ending.owner) == ("ValueError", "bad start method", "torch")
    assert ending.wrappers == ("ray.exceptions.RayTaskError",)
    assert len(ending.stack) == 40


FRAME = '  File "/home/mara/train.py", line 3, in <module>\n    main()\n'


def test_an_exception_below_a_loggers_note_ended_the_program():
    text = "WARNING:accel:off\nTraceback (most recent call last):\n  File \"a.py\", line 2, in f\nKeyError: 'x'\n"
    assert ending_of(text).type == "KeyError"
    assert ending_of(text + "epoch 2 done\nepoch 3 done\n").kind != "exception"


def test_an_exception_within_a_group_is_opened():
    text = (
        "  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: work (1 sub-exception)\n"
        "  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n"
        '    |   File "a.py", line 3, in job\n    |     x = 1 / 0\n    | ZeroDivisionError: division by zero\n'
        "    +------------------------------------\n"
    )
    assert ending_of(text).type == "ZeroDivisionError"


def test_the_traceback_of_a_process_is_the_end_where_the_rest_was_not_pasted():
    cut = REMOTE.partition("The above")[0].replace("_RemoteTraceback:\n", "_RemoteTraceback: \n")
    assert ending_of(cut).type == "ZeroDivisionError"


def test_a_traceback_that_is_cut_off_has_no_reason_of_its_own():
    assert judged(Ending(kind="exception", type="KeyError", message="'lr'")).own
    assert not judged(Ending(kind="exception", stack=(Frame(file="train.py", owner="user", code="main()"),))).own

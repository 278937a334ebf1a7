"""Answers made by hand, one for each thing that gpuwhy can say, and one of another command."""

from __future__ import annotations

from gpuwhy.advise.remedy import Install, Restart
from gpuwhy.answer.answer import (
    Answer,
    CauseFound,
    Ended,
    Fix,
    Frame,
    Layer,
    LogLine,
    Noticed,
    Open,
    Point,
    Proof,
    Question,
    Reason,
    Row,
    RuledOut,
    Symptom,
    Untried,
)
from gpuwhy.answer.blocks import pair, pairs
from gpuwhy.answer.tree import (
    Bar,
    Command,
    Document,
    Heading,
)

GIB = 1 << 30


def answer(verdict="found", status="broken", headline="", causes=(), **more) -> Answer:
    empty = dict.fromkeys(("ruled_out", "undetermined", "crashed", "layers", "unseen"), ())
    given = {**empty, "facts": {}, "gpuwhy": "1.0.0", "took": 0.2, "made_on": "2026-11-18", **more}
    return Answer(status=status, headline=headline, causes=causes, verdict=verdict, **given)


def cause(name, title, confidence, *because, fixes=(), **more) -> CauseFound:
    given = {"subject": "", "explains": (), **more}
    return CauseFound(
        id=name, title=title, confidence=confidence, because=because, fixes=fixes, **given
    )


def fix(text, command="", **more) -> Fix:
    given = {"safe": True, "root": False, "reboot": False, "check": "", **more}
    return Fix(text=text, command=command, **given)


LAYERS = (
    Layer("GPU", "NVIDIA H200 · 139.8 GiB · compute capability 9.0", "ok", ""),
    Layer("driver", "580.159.04 · supports CUDA up to 13.0", "ok", ""),
    Layer("CUDA", "13.0.96 from pip", "ok", ""),
    Layer("cuDNN", "9.19.0 from pip", "ok", ""),
    Layer("Python", "3.12.3 · /opt/torch/.venv", "ok", ""),
    Layer("PyTorch", "2.11.0 · built for CUDA 13.0", "ok", ""),
    Layer("JAX", "0.11.2 · built for CUDA 13", "ok", ""),
    Layer("TensorFlow", "not installed", "none", ""),
)

HEALTHY = answer(
    "healthy",
    "healthy",
    "PyTorch 2.11.0 and JAX 0.11.2 should find this GPU: nothing wrong was found",
    layers=LAYERS,
    command="check",
    unseen=("the kernel log: no permission to read /dev/kmsg",),
    not_tried=(
        Untried("importing the frameworks", "gpuwhy check --import"),
        Untried("using the GPU", "gpuwhy check --probe"),
    ),
    ruled_out=(RuledOut("driver.too_old", "driver 580.159.04 supports CUDA 13.0"),),
    more="gpuwhy check -v",
)

WRONG_CUDNN = cause(
    "cudnn.version_mismatch",
    "the cuDNN that is loaded is not one that the framework can use",
    0.97,
    Reason(
        "PyTorch 2.11.0 was built with cuDNN 9.19.0 and loads 9.14.0",
        saw=(
            Proof(
                "libcudnn.so.9 is 9.14.0, found by LD_LIBRARY_PATH",
                "/usr/local/cuda/lib64/libcudnn.so.9",
            ),
            Proof("libcudnn.so.9 is 9.19.0, not taken", "nvidia-cudnn-cu13 9.19.0.56"),
        ),
        know=(Proof("PyTorch needs the minor version it was built with, or a newer one", ""),),
    ),
    subject="PyTorch 2.11.0",
    fixes=(
        fix(
            "let PyTorch use the cuDNN that it brought",
            "unset LD_LIBRARY_PATH",
            worked_if="gpuwhy check shows cuDNN 9.19.0",
            if_not="~/.bashrc sets it again: remove /usr/local/cuda/lib64 there",
        ),
        fix(
            "remove the older cuDNN of the system",
            "sudo apt remove libcudnn9-cuda-13",
            root=True,
            safe=False,
            worked_if="ldconfig -p no longer lists libcudnn.so.9",
        ),
    ),
)

BROKEN = answer(
    headline="PyTorch 2.11.0 loads cuDNN 9.14.0 but was built with 9.19.0",
    causes=(WRONG_CUDNN,),
    layers=(
        *LAYERS[:3],
        Layer("cuDNN", "9.14.0 from /usr/local/cuda/lib64", "bad", "cudnn.version_mismatch"),
        LAYERS[4],
        Layer("PyTorch", "2.11.0 · built for CUDA 13.0", "bad", "cudnn.version_mismatch"),
        *LAYERS[6:],
    ),
    command="check",
    not_tried=HEALTHY.not_tried,
    unseen=HEALTHY.unseen,
    ruled_out=HEALTHY.ruled_out,
    undetermined=(
        Open("driver.xid", "the kernel log was not read", "sudo dmesg | grep NVRM"),
        Open("memory.held", "NVML was not asked", ""),
    ),
    noticed=(Noticed("env.limit", "ulimit -n is 1024"),),
    more="gpuwhy check -v",
)

LOADED = "Loaded runtime CuDNN library: 8.5.0 but source was compiled with: 8.6.0."
SURE = answer(
    headline="JAX loaded cuDNN 8.5.0 but was built with 8.6.0",
    causes=(
        cause(
            "cudnn.version_mismatch",
            "the cuDNN that is loaded is not one that the framework can use",
            0.93,
            Reason(
                "JAX was built with cuDNN 8.6.0 and loaded 8.5.0",
                told=(Proof(LOADED, "l1.txt (line 1)"),),
                know=(Proof("cuDNN 8 needs the minor version of the build, or a newer one", ""),),
                line=1,
            ),
            fixes=(
                fix(
                    "install cuDNN 8.6 or a newer 8.x, then restart the notebook kernel",
                    'pip install -U "nvidia-cudnn-cu11>=8.6,<9"',
                    worked_if='the line "Loaded runtime CuDNN library" is gone',
                    if_not="an older cuDNN is still found first: unset LD_LIBRARY_PATH",
                    action=(
                        Install(("nvidia-cudnn-cu11>=8.6,<9",), upgrade=True),
                        Restart("kernel"),
                    ),
                ),
                fix(
                    "install the JAX release that was built with cuDNN 8.5",
                    'pip install "jax[cuda11_cudnn82]==0.4.1" -f'
                    " https://storage.googleapis.com/jax-releases/jax_cuda_releases.html",
                ),
            ),
        ),
        cause(
            "cudnn.mixed_libraries",
            "libraries of two cuDNN releases are loaded together",
            0.04,
            Reason("the message is the same when sub-libraries differ"),
            fixes=(fix("remove the second copy"),),
        ),
    ),
    command="explain",
    about="l1.txt",
    more="gpuwhy explain -v l1.txt",
    symptoms=(
        Symptom(
            "cudnn.loaded_older", "error", 1, LOADED, {"loaded": "8.5.0", "built": "8.6.0"}, None, 1
        ),
        Symptom("jax.failed_precondition", "echo", 4, "FAILED_PRECONDITION: DNN", {}, 0, 2),
    ),
    ending=Ended(
        "exception",
        "XlaRuntimeError",
        "FAILED_PRECONDITION: DNN library initialization failed",
        4,
        None,
        False,
        Frame("train.py", 12, "main", "user"),
        (),
        (),
    ),
    ruled_out=(RuledOut("cudnn.missing", "line 1 states a loaded version"),),
)

UNDECIDED = answer(
    "undecided",
    "broken",
    "CUDA sees no GPU; the log does not show why (3 causes fit)",
    causes=(
        cause(
            "device.none",
            "the GPU is off the bus, or bound to another driver",
            0.36,
            Reason(
                "CUDA reports no device",
                told=(Proof("RuntimeError: No CUDA GPUs are available", "train.log (line 41)"),),
                line=41,
            ),
        ),
        cause("driver.not_loaded", "no driver is loaded", 0.33, Reason("CUDA reports no device")),
        cause(
            "env.visible_devices",
            "CUDA_VISIBLE_DEVICES hides the GPU",
            0.31,
            Reason("CUDA reports no device"),
        ),
    ),
    question=Question(
        "nvidia-smi",
        "",
        "nvidia-smi",
        {
            "no_devices": "device.none",
            "fails": "driver.not_loaded",
            "lists": "env.visible_devices",
        },
        (
            Row(
                'it prints "No devices were found"',
                "device.none",
                "the GPU is off the bus, or bound to another driver",
            ),
            Row(
                "it is not found, or fails",
                "driver.not_loaded",
                "no driver is loaded",
                "",
                "sudo apt install nvidia-driver-580",
            ),
            Row(
                "it lists your GPU",
                "env.visible_devices",
                "CUDA_VISIBLE_DEVICES hides it",
                "",
                "unset CUDA_VISIBLE_DEVICES",
            ),
        ),
    ),
    command="explain",
    about="train.log",
    more="gpuwhy explain -v train.log",
)

UNRECOGNISED = answer(
    "unrecognised",
    "unknown",
    "Not recognised: gpuwhy knows no message of build.log",
    command="explain",
    about="build.log",
    last_line=LogLine(212, "ninja: build stopped: subcommand failed."),
    not_tried=(
        Untried("give the log from its first line on; the first error decides", ""),
        Untried("let gpuwhy watch the program", "gpuwhy run python setup.py build"),
        Untried("look at this machine", "gpuwhy check"),
    ),
)

NOT_GPU = answer(
    headline="Not a GPU problem: KeyError 'lr' at train.py:41",
    causes=(
        cause(
            "other.not_gpu",
            "the program failed for a reason of its own",
            0.98,
            Reason(
                "KeyError 'lr' at train.py:41",
                told=(Proof("KeyError: 'lr'", "train.log (line 9)"),),
                line=9,
            ),
        ),
    ),
    command="explain",
    about="train.log",
)

ANSWERED = answer(
    "answered",
    "healthy",
    "An RTX 5090 needs CUDA 12.8 or newer",
    command="ask",
    points=(
        Point("Driver", "570.26 or newer on Linux, 572.16 on Windows", source="CUDA 12.8 notes"),
        Point(
            "PyTorch",
            "2.7.0 or newer",
            'pip install "torch>=2.7" --index-url https://download.pytorch.org/whl/cu128',
            "its wheels have code for sm_120",
        ),
        Point("TensorFlow", "2.20 and older have no code for it and compile at the first start"),
        Point("Why", "compute capability 12.0 came with CUDA 12.8"),
    ),
    more="gpuwhy ask -v …",
)

ANSWERS = {
    "check-healthy": HEALTHY,
    "check-broken": BROKEN,
    "explain-sure": SURE,
    "explain-undecided": UNDECIDED,
    "explain-unrecognised": UNRECOGNISED,
    "explain-not-gpu": NOT_GPU,
    "ask": ANSWERED,
}


FIT = Document(
    (
        Heading(("Llama-2-13B does not fit: 27.5 GiB are needed, the GPU has 24 GiB",), "bad"),
        Bar(
            (("weights", 26033541120), ("KV cache", 3 * GIB), ("activations", GIB // 4)),
            24 * GIB,
            "NVIDIA GeForce RTX 4090",
        ),
        pairs(pair("Do this", "load the weights in 8 bits: 14.9 GiB", Command("--load-in-8bit"))),
    ),
    title="Llama-2-13B",
    made_by="gpuwhy 1.0.0",
)

DOCUMENTS = {"fit": FIT}

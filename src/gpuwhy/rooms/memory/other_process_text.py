"""memory.other_process in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.messages import NO_CUDNN, NO_MEMORY, NO_START
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import told
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.amounts import none_own, others_fill
from gpuwhy.rooms.text.common import FIGURES, GRABS, OF_MEMORY, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, field, line, no, whole, with_
from gpuwhy.rooms.text.figures import free_but_refused, others_hold, own_little
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.memory_ways import other_gpu
from gpuwhy.rooms.text.room import Text


def _late(s: Symptom, r: Reading) -> bool:
    """In a running training, not at the start."""
    return bool(r.has("torch.lazy_init"))


def _named(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """End the process that the message names."""
    for one in symptoms:
        if one.signature == "memory.torch_oom" and one.get("pid"):
            pid = one.get("pid")
            windows = reading.told.os == "windows"
            yield Fix(
                f"End process {pid}, which holds {one.get('held')}, where it is yours and not needed",
                f"kill {pid}" if windows else on.linux(f"ps -o user,etime,cmd -p {pid}\nkill {pid}"),
                check="gpuwhy explain LOG",
            )
            return


TEXT = Text(
    "memory.other_process",
    signatures=(
        told("remark.held", r"\bis still (?:open|running|loaded)\b|\bin use before (?:we|i|it|the \w+) (?:even )?starts?\b|\bby pid \d+\b", "is still", "in use before", "by pid"),
    ),
    clues=(
        ("remark.held", 4.0, "the text names another program that holds the memory", OF_MEMORY),
        ("said.no_memory", 1.4, "memory may be held by another process"),
        ("remark.others", 4.4, "the text names another program that holds the memory", OF_MEMORY),
        ("remark.busy", 3.8, "the text says that others have the GPU", OF_MEMORY),
        ("told.device_made", 4.2, "TensorFlow got {memory} MB of the card at its start: others hold the rest", all_of(OF_MEMORY, field("memory", r"\d{1,3}$"))),
        *((one, 4.6, "this process holds nothing, and hardly anything is free: others hold the rest", none_own) for one in ("memory.",
            "said.no_memory", "cuda.out_of_memory", "title.oom")),
        ("title.grabs", 1.8, "another process holds the memory"),
        ("cuda.out_of_memory", 4.0, "not even a context fits: other processes hold the memory", line(r"primaryctxretain|implicit initialization|failed initializing streamexecutor")),
        ("memory.buffer", 1.6, "other programs may hold the memory"),
        ("memory.torch_oom", 4.2, "{wanted} was asked for; {free} of {total} was free, and process {pid} held {held}", all_of(others_hold, field("pid", "."))),
        ("memory.torch_oom", 4.0, FIGURES + ": others hold the rest", others_hold),
        ("memory.torch_oom", 3.0, FIGURES + ", yet it was refused: others, or the system, hold it", all_of(free_but_refused, own_little)),
        ("memory.torch_oom", 1.2, FIGURES, no(others_hold)),
        ("memory.torch_oom_bare", 1.5, "other programs may hold the memory"),
        ("memory.other_holders", 2.0, "process {pid} holds {held}"),
        ("cuda.out_of_memory", 3.5, "CUDA is out of memory (error 2) without figures: it could not even start", _late),
        ("cuda.out_of_memory", 3.0, "CUDA is out of memory (error 2) without the figures of PyTorch's allocator", all_of(no(GRABS), whole(r"torch|tensorflow|jax|paddle|\bc10\b"))),
        ("cuda.out_of_memory", 2.4, "CUDA is out of memory (error 2) without figures"),
        ("memory.oom_words", 4.6, "nothing of the card is free, and this process holds only a small part of it", others_fill),
        ("memory.oom_words", 1.9, "other programs may hold the memory"),
        ("memory.tf_grab", 2.6, "{wanted} could not be had when the framework started: others hold it"),
        ("memory.dst_tensor", 2.4, "the GPU is full, perhaps of others"),
        ("memory.at_start", 4.4, "{free} of {total} GiB was free before the program had taken any"),
        ("memory.tensorrt", 1.6, "other programs may hold the memory"),
        ("memory.dispatched", 1.4, "other programs may hold the memory"),
        ("memory.xla_request", 1.8, "other programs may hold the memory"),
        ("memory.kv_cache", 1.8, "other programs may hold the memory"),
        ("cudnn.not_initialized", 1.4, "cuDNN did not start, which is typical of a full GPU memory"),
        ("cudnn.alloc_failed", 1.4, "cuDNN could not get memory"),
        ("cudnn.internal_error", 1.0, "cuDNN failed inside, which is typical of a full GPU memory"),
        ("cublas.not_initialized", 1.6, "cuBLAS did not start, as on a full GPU"),
        ("cublas.alloc_failed", 1.4, "cuBLAS could not get memory"),
        ("tf.cudnn_handle", 1.4, "cuDNN did not start, which is typical of a full GPU memory"),
        ("tf.blas", 1.9, "cuBLAS failed, as on a GPU that another program fills"),
        ("told.gpu_memory", 0.8, "{free} of {total} was free"),
        ("tf.used_elsewhere", 1.6, "no context could be made on the GPU"),
        ("memory.xla_oom", 1.4, "other programs may hold the memory"),
        ("title.held", 2.7, "the text says that another process, or a dead one, holds the memory"),
        ("title.held", 3.4, "the text says that another process, or a dead one, holds the memory", with_("memory.", "cuda.out_of_memory")),
        ("title.oom", 1.2, "the text says that memory ran out", nothing_else),
        ("title.trouble", 0.9, "the text says that memory fails", said_of("memory|vram")),
    ),
    remedies=(
        meant("Check who holds the memory, and end what is not needed (kill PID; shut a notebook's kernel down)",
              "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", safe=True, look=True),
        meant("Use another GPU", "export CUDA_VISIBLE_DEVICES=1", safe=True),
    ),
    admitted_by=(*NO_CUDNN, *NO_START, *NO_MEMORY),
    ladder=other_gpu,
    named=_named,
)  # fmt: skip

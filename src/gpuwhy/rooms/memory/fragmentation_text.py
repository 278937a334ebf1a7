"""memory.fragmentation in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.signature import error, told
from gpuwhy.rooms.text.amounts import pool_idle
from gpuwhy.rooms.text.common import FIGURES, OF_MEMORY, nothing_else
from gpuwhy.rooms.text.conditions import all_of, field, no, whole
from gpuwhy.rooms.text.figures import free_but_refused, own_little, splintered
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "memory.fragmentation",
    signatures=(
        error("memory.pieces", r"\bno contiguous (?:block|chunk|region|segment|memory)"
              r"|\blargest (?:free |available |contiguous )?(?:chunk|block|segment|region)\b[^\n\d]{0,24}\d"
              r"|\b(?:free|idle|unused)\b[^\n]{0,24}\bin (?:many )?small (?:blocks|pieces|chunks)\b"
              r"|\bfree blocks?, none (?:is )?(?:large|big)|\bnone (?:is )?(?:large|big) enough for\b"
              r"|\binactive split blocks?\b|\bnon-releasable memory\b", "contiguous", "largest", " small ", "none ",
              "inactive split", "non-releasable", covers=("title.", "memory.oom_words")),
        told("remark.idle", r"\bidle in the (?:memory )?pool\b|\barena grew to\b"
             r"|\bksameasrequested\b[^\n]{0,12}\b(?:works|helps|fixe[sd])"
             r"|\bnaive_best_fit (?:avoids|works|helps|fixe[sd])", "idle in the", "arena grew", "ksameasrequested",
             "naive_best_fit"),
    ),
    clues=(
        ("memory.pieces", 4.6, "enough memory is free, but in pieces that are too small", whole(r"cuda|gpu|alloc|bfc|\boom\b|vram|torch|cupy|mxnet")),
        ("remark.idle", 4.2, "the pool holds memory that it does not use, in pieces", OF_MEMORY),
        ("memory.torch_oom", 4.0, "{wanted} was asked for; this process holds {unused} that it does not use, but in pieces", splintered),
        ("memory.torch_oom", 1.4, FIGURES, no(splintered)),
        ("memory.torch_oom", 2.4, FIGURES + ", so more was free than asked for", free_but_refused),
        ("memory.torch_oom", 3.2, FIGURES + ", so more was free than asked for", all_of(free_but_refused, no(own_little))),
        ("memory.bfc", 2.6, "{wanted} did not fit although it is little", field("wanted", r"[\d.]+ ?(?:M|K)i?B")),
        ("memory.bfc", 1.5, "{wanted} did not fit"),
        ("ort.arena", 1.6, "the arena may be in pieces"),
        ("memory.torch_oom_bare", 0.9, "the memory may be in pieces"),
        ("memory.xla_oom", 0.8, "the memory may be in pieces"),
        ("memory.tf_oom", 0.8, "the memory may be in pieces"),
        *((one, 4.6, "the program's own pool has more than it uses, and yet no piece was large enough", pool_idle) for one in ("memory.",
            "said.no_memory", "cuda.out_of_memory", "title.oom")),
        ("remark.emptied", 3.6, "the text says that emptying the pool helps", OF_MEMORY),
        ("title.fragmented", 2.8, "the text says that memory is fragmented"),
        ("title.oom", 0.6, "the text says that memory ran out", nothing_else),
    ),
    remedies=(
        meant("PyTorch: use expandable segments", "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", by="torch", safe=True),
        meant("PyTorch 1.10 and newer, on any system: do not split large blocks of memory", "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128", by="torch", safe=True),
        meant("TensorFlow: use CUDA's own pool", "export TF_GPU_ALLOCATOR=cuda_malloc_async", by="tensorflow", safe=True),
        meant("CuPy: give back what the pool holds and does not use, between the steps", on.code("cupy.get_default_memory_pool().free_all_blocks(); cupy.get_default_pinned_memory_pool().free_all_blocks()"),
              by="cupy", safe=True),
        meant("CuPy: or use CUDA's own pool, which joins free pieces, at the start of the program", on.code("cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)"),
              by="cupy", safe=True),
        meant("JAX: use CUDA's own pool, and take nothing ahead", "export XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async XLA_PYTHON_CLIENT_PREALLOCATE=false", by="jax", safe=True),
        meant("Keep shapes the same from step to step"),
    ),
)  # fmt: skip

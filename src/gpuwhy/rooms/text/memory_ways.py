"""Memory ways: how this very program takes less of the GPU's memory, or leaves some of it free, or finds who holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from gpuwhy.knowledge.programs import APPLICATIONS
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import commands
from gpuwhy.rooms.text.smi import Card, cards, holders
from gpuwhy.rooms.text.ways import own_ways, tried
from gpuwhy.rooms.text.where import at_spot

_SHAPE = Later(r"tensor (?:with|of) shape ?\[(?P<shape>\d+(?:, ?\d+)*)\](?: and type (?P<type>\w+))?")
_BYTES = {"double": 8, "float": 4, "half": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int8": 1, "uint8": 1, "bool": 1, "complex64": 8}  # fmt: skip
_TRAINS = Later(r"backward\(|optimi[sz]er|\.fit\(|train|gradients?/|loss\b|epoch", re.IGNORECASE)
_INFERS = Later(r"predict|infer|generat|\beval|detect|encode|decode|sampl|upscale|pipeline|transcri", re.IGNORECASE)
_OLD_TF = Later(r"cuda_blas\.cc:(?:3|4[5-9]|5|6)\d+\]|stream\.cc:1\d{3}\]|tensorflow_core|tensorflow[^\n]{0,12}[ =]1\.\d|cuda_dnn\.cc:\d+\] could not|direct_session|tf\.Session|ConfigProto|client/session\.py|tensorflow[-_]gpu[= ]*1\.|tf\.contrib|TensorFlow (?:version:? )?1\.\d|local_client|_recv|Caused by op")  # fmt: skip
_NO_TIME = Later(r"(?m)^[EWIF] tensorflow/")
"""The lines of TensorFlow before 1.4 have no time in front."""
_NEW_TF = Later(
    r"\b(?:TF|tensorflow)(?:[-_]gpu)?[ :=v]{1,3}2\.\d|tf\.function|stream_executor/cuda/cuda_dnn\.cc:\d+\] Could not|pluggable_device|local_xla|tsl/"
)
_NOTEBOOK = Later(r"ipykernel|ipython-input|jupyter|colab|In \[\d+\]", re.IGNORECASE)
_STATUS = Later(r"\bCU(?P<of>BLAS|DNN|SOLVER|SPARSE|FFT)_STATUS")


def _for_tf1(case: Asked) -> bool:
    """Whether a program for TensorFlow 1 speaks: by its release, by its words, by how its lines begin."""
    if case.version:
        return case.version.startswith("1.")
    if _NEW_TF.search(case.text):
        return False
    return bool(_OLD_TF.search(case.text) or _NO_TIME.search(case.reading.excerpt))


def smaller(case: Asked) -> Iterator[Fix]:
    """Less memory: the program's own options, the tensor that did not fit, the framework's way, the place."""
    yield from _hardly_any(case)
    yield from _tensor(case)
    yield from _typed_smaller(case)
    yield from own_ways(case, "less", vram="--lowvram" if 0 < _total(case) <= 4.5 * 2**30 else "--medvram")
    yield from _FRAMEWORKS.get(case.framework, _plain)(case)


_BATCH = re.compile(
    r"(?P<option>(?:--(?:\w+[-_])*batch(?:[-_]size)?(?:[-_]per[-_]\w+)?|-bs?)[ =])(?P<size>\d+)(?=\s|$)"
)


def _typed_smaller(case: Asked) -> Iterator[Fix]:
    """The command that was typed, by its own option: the generation of the program is the one that is there."""
    typed = next((one.command for one in reversed(commands(case.text)) if ".py" in one.command and _BATCH.search(one.command)), "")  # fmt: skip
    found = _BATCH.search(typed)
    if not found or int(found["size"]) < 2:
        return
    less = 1 << max(0, (int(found["size"]) // 3).bit_length() - 1)
    command = typed[: found.start("size")] + str(less) + typed[found.end("size") :]
    yield tried(f"A smaller batch, {less} in place of {found['size']}, by the option that was typed; where that is still too much, smaller pictures or sequences, then a smaller model, by their options", on.code(command) if case.windows else command)  # fmt: skip


def _total(case: Asked) -> float:
    """The card's memory, where a message tells it."""
    return max((one.size("total") for one in case.reading.symptoms), default=-1)


def _tensor(case: Asked) -> Iterator[Fix]:
    """The one tensor that did not fit, and which of its sizes is the batch."""
    found = _SHAPE.search(case.lines) or _SHAPE.search(case.text)
    if not found:
        return
    shape = [int(one) for one in found["shape"].split(",")]
    size = prod(shape) * _BYTES.get(found["type"] or "float", 4) / 2**30
    if size < 0.05 or _is_kernel(shape):
        return
    takes = f"One tensor of shape [{found['shape']}] takes {size:.1f} GiB"
    if len(shape) > 2 and 1 < shape[0] <= 4096:
        rest = " x ".join(map(str, shape[1:]))
        yield tried(
            f"{takes}: make the batch, its first size, smaller ({max(1, shape[0] // 4)} instead of {shape[0]}); else the picture, the sequence or the layer behind {rest}"
        )
    else:
        yield tried(
            f"{takes}, and in training its gradient and the optimiser's copies as much again: make that layer smaller (fewer units, pooling before a dense layer), or the batch where the size comes from it"
        )


def _is_kernel(shape: list[int]) -> bool:
    """Whether a shape is that of a convolution's weights: 3 x 3 x channels x channels."""
    return len(shape) == 4 and shape[0] == shape[1] <= 11


_LIMIT = Later(r"^Limit: +(\d+)\s*$", re.MULTILINE)


def _hardly_any(case: Asked) -> Iterator[Fix]:
    """TensorFlow's pool was a small part of any card from its start: others, or a board's own programs, hold the rest."""
    found = _LIMIT.search(case.text)
    if not found or int(found[1]) > 2**29:
        return
    held = f"TensorFlow found only {int(found[1]) >> 20} MiB of the GPU's memory free when it started"
    if "jetson" in case.tools:
        yield tried(f"{held}: a board's GPU shares the computer's memory. End the desktop and other programs, and add swap for what need not be on the GPU", on.linux("sudo systemctl isolate multi-user.target; sudo fallocate -l 8G /swapfile && sudo chmod 600 /swapfile && sudo mkswap /swapfile && sudo swapon /swapfile"), root=True)  # fmt: skip
    else:
        yield tried(f"{held}: end what else holds it (an earlier run, a notebook, a second TensorFlow)", "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv")  # fmt: skip


def _torch(case: Asked) -> Iterator[Fix]:
    here = at_spot(case.frame)
    if status := _STATUS.search(case.lines):
        yield from _library_full(status["of"], here)
        return
    if _TRAINS.search(case.text):
        yield tried(f"Training{here}: half the batch and two summed steps, with half precision; keep losses with loss.item(), not the tensors",
                    on.code("with torch.autocast('cuda', dtype=torch.float16): loss = criterion(model(batch), target) / 2"))  # fmt: skip
        yield tried(
            "Evaluation and inference: keep no gradients", on.code("with torch.no_grad(): output = model(batch)")
        )
    elif not _INFERS.search(case.text):
        yield tried(f"Make the batch a half or a quarter{here}, or the pictures or sequences smaller, with half precision", on.code("with torch.autocast('cuda', dtype=torch.float16): output = model(batch)"))  # fmt: skip
        yield tried(
            "Where nothing is trained, keep no gradients", on.code("with torch.no_grad(): output = model(batch)")
        )
    else:
        yield tried(f"Keep no gradients where nothing is trained{here}, and take a smaller batch or picture", on.code("with torch.no_grad(): output = model(batch)"))  # fmt: skip
        yield tried("Half precision for the model and its input", on.code("model.half(); output = model(batch.half())"))
    if _NOTEBOOK.search(case.text):
        yield tried("In a notebook, restart the kernel first: earlier cells keep their tensors on the GPU")


def _library_full(library: str, here: str) -> Iterator[Fix]:
    """A library of CUDA that found no memory, or fails as if it had found none."""
    yield tried(f"Make the batch smaller{here}, or take half precision: cuBLAS and cuDNN need memory for themselves, and none was left",
                on.code("with torch.autocast('cuda', dtype=torch.float16): output = model(batch)"))  # fmt: skip
    if library == "DNN":
        yield tried("If the memory is not full: let cuDNN not try its algorithms out, which takes memory and fails in some releases", on.code("torch.backends.cudnn.benchmark = False"))  # fmt: skip
    else:
        yield tried("If the memory is not full, an index out of range fails just so: run the step on the CPU, which then names it", "CUDA_VISIBLE_DEVICES= python PROGRAM")  # fmt: skip


def _tensorflow(case: Asked) -> Iterator[Fix]:
    here = at_spot(case.frame)
    yield tried(f"Make the batch a half or a quarter{here} (batch_size in fit(), evaluate() and predict(), or the batch of the data set), and the pictures or sequences smaller", on.code("model.fit(x, y, batch_size=8)"))  # fmt: skip
    if _for_tf1(case):
        yield tried("TensorFlow 1: end other programs on the GPU, and let the session grow", on.code("config = tf.ConfigProto(); config.gpu_options.allow_growth = True; sess = tf.Session(config=config)"))  # fmt: skip
    else:
        half = tried("Half precision, before the model is made", on.code("tf.keras.mixed_precision.set_global_policy('mixed_float16')"))  # fmt: skip
        pool = tried("Take memory from CUDA's own pool, which leaves fewer pieces", "export TF_GPU_ALLOCATOR=cuda_malloc_async")  # fmt: skip
        yield from (pool, half) if "cuda_malloc_async" in case.text else (half, pool)


def _jax(case: Asked) -> Iterator[Fix]:
    yield tried(f"Make the batch smaller{at_spot(case.frame)}, or compute it in parts and again on the way back: jax.lax.map, jax.checkpoint", on.code("loss = jax.checkpoint(loss)"))  # fmt: skip
    yield tried("JAX: let it take more than three quarters of the memory", "export XLA_PYTHON_CLIENT_MEM_FRACTION=.95")


def _onnxruntime(case: Asked) -> Iterator[Fix]:
    yield tried("Feed smaller inputs, and let the arena grow only by what is asked for", on.code("sess = ort.InferenceSession(MODEL, providers=[('CUDAExecutionProvider', {'arena_extend_strategy': 'kSameAsRequested', 'cudnn_conv_algo_search': 'HEURISTIC'})])"))  # fmt: skip
    yield tried(
        "Convert the model to half precision", on.code("onnxconverter_common.float16.convert_float_to_float16(model)")
    )


def _cupy(case: Asked) -> Iterator[Fix]:
    yield tried(f"Work on parts of the array{at_spot(case.frame)}, in float32, and give back what is free", on.code("cupy.get_default_memory_pool().free_all_blocks()"))  # fmt: skip
    yield tried("Let the GPU's memory spill to the host's", on.code("cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)"))  # fmt: skip


def _plain(case: Asked) -> Iterator[Fix]:
    if not any(program.less for program in case.programs):
        yield tried(f"Give the GPU less work at once{at_spot(case.frame)}: a smaller batch, picture, sequence or grid; half precision; parts one after the other")  # fmt: skip
        yield tried("End what else holds the GPU's memory", "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv")  # fmt: skip


_FRAMEWORKS = {"torch": _torch, "tensorflow": _tensorflow, "jax": _jax, "onnxruntime": _onnxruntime, "cupy": _cupy}


def growing(case: Asked) -> Iterator[Fix]:
    """A framework that takes all memory ahead: told not to, in its own way."""
    if case.framework == "tensorflow" and _for_tf1(case):
        yield tried("TensorFlow 1: let each session take memory only as it needs it (from 1.14 on also by TF_FORCE_GPU_ALLOW_GROWTH=true)", on.code("config = tf.ConfigProto(); config.gpu_options.allow_growth = True; sess = tf.Session(config=config)    # Keras: keras.backend.set_session(sess)"))  # fmt: skip
        yield from _less_beside()
    elif case.framework == "tensorflow":
        yield tried("TensorFlow: allocate memory only as it is needed, by a variable before the program starts; in the program by tf.config.experimental.set_memory_growth(gpu, True) for every GPU, right after the import", "export TF_FORCE_GPU_ALLOW_GROWTH=true")  # fmt: skip
        if (
            not case.version
            and "2." not in case.version
            and re.search(r"InternalError|see above for traceback|Session", case.text)
        ):
            yield tried("A program for TensorFlow 1: let each session take memory only as it needs it", on.code("config = tf.compat.v1.ConfigProto(); config.gpu_options.allow_growth = True; sess = tf.compat.v1.Session(config=config)"))  # fmt: skip
        yield from _less_beside()
    elif case.framework == "onnxruntime":
        yield tried("ONNX Runtime: give its arena a limit", on.code("providers = [('CUDAExecutionProvider', {'gpu_mem_limit': 2 * 1024**3, 'arena_extend_strategy': 'kSameAsRequested'})]"))  # fmt: skip


def _less_beside() -> Iterator[Fix]:
    yield tried("Where that does not do: end what else holds the GPU's memory (an earlier run, a notebook), or make the batch or the model smaller: the card is too full for it", "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv")  # fmt: skip


def other_gpu(case: Asked) -> Iterator[Fix]:
    """Who holds the memory, by what nvidia-smi shows in the text; and the card that has most of it free."""
    yield from _within_free(case)
    seen = tuple(holders(case.reading.excerpt))
    if seen:
        most = max(seen, key=lambda one: one.used)
        yield tried(f"End process {most.pid} ({most.name}), which holds {most.used} MiB of GPU {most.gpu}, where it is yours and not needed", f"kill {most.pid}", safe=False)  # fmt: skip
    free = max(cards(case.reading.excerpt), key=lambda one: one.total - one.used, default=None)
    others = tuple(own_ways(case, "less"))
    if any(one.name in APPLICATIONS for one in case.programs):
        yield from others
        others = ()
    if not seen:
        yield tried("End the program that holds the memory, an earlier run or a notebook's kernel: nvidia-smi lists them, kill PID ends one", "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv")  # fmt: skip
    if case.framework == "jax":
        yield tried("Or, where this process itself, or PyTorch beside JAX, holds it: let JAX take memory only as it is needed", "export XLA_PYTHON_CLIENT_PREALLOCATE=false")  # fmt: skip
    yield from _free_card(free)
    if case.framework == "tensorflow":
        yield tried("Or let TensorFlow live with what is left: memory only as it is needed", "export TF_FORCE_GPU_ALLOW_GROWTH=true")  # fmt: skip
    yield from others


_DESIRED = Later(r"Free memory on device \(([\d.]+)/([\d.]+) GiB\)[^\n]*utilization \(([\d.]+)")


def _within_free(case: Asked) -> Iterator[Fix]:
    """vLLM asks for a share of the whole card: the one that is free now."""
    if found := _DESIRED.search(case.text):
        share = int(100 * float(found[1]) / float(found[2])) / 100 - 0.02
        yield tried(f"vLLM: ask for less than is free now ({found[1]} of {found[2]} GiB)", f"vllm serve MODEL --gpu-memory-utilization {share:.2f}")  # fmt: skip


def _free_card(free: Card | None) -> Iterator[Fix]:
    if free is None or free.total - free.used < free.total * 0.3:
        yield tried("Use another GPU", "export CUDA_VISIBLE_DEVICES=1")
    else:
        yield tried(f"Use GPU {free.index}, which has {free.total - free.used} of {free.total} MiB free", f"export CUDA_VISIBLE_DEVICES={free.index}")  # fmt: skip

"""Program ways: the mistake in the user's own program, by what the message says and by the place in the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.installs import NEWEST
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.ending import PYTHON, USER
from gpuwhy.rooms.text.asked import TITLES, Asked
from gpuwhy.rooms.text.driver_ways import uvm_again
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.remedies import SYNCHRONOUS
from gpuwhy.rooms.text.ways import own_ways, tried
from gpuwhy.rooms.text.where import at_spot, spot

_SOURCE = Later(r"\b([\w./\\-]+\.(?:cu|cuh|cpp|cc|cxx|c|hpp|h))(?:[':\"(]| in line | line | at line |, line |:){1,2} *(\d+)")  # fmt: skip
_OWN_CUDA = Later(r"\.cuh?\b|cudaMalloc|cudaMemcpy|cudaDeviceSynchronize|cudaGetLastError|gpuassert|<<<|nvcc\b|thrust::|cub::|CMAKE_CUDA_ARCH", re.IGNORECASE)  # fmt: skip
_FOREIGN = Later(r"ggml|aten/|torch/|THC|caffe2|tensorflow/|stream_executor|onnxruntime|(?:^|/)src/(?:tree|common|c_api|data|predictor|objective)/|updater_gpu|device_helpers|/csrc/|/workspace/|xla/|jaxlib|site-packages|thrust|cub/", re.IGNORECASE)  # fmt: skip


def source(case: Asked) -> str:
    """The line of a C++ or CUDA file of the user's that the message names: solver.cu, line 226."""
    found = next((one for one in _SOURCE.finditer(case.lines) if not _FOREIGN.search(one[1])), None)
    return f"{found[1].replace(chr(92), '/').rpartition('/')[2]}, line {found[2]}" if found else ""


def is_native(case: Asked) -> bool:
    """Whether a C++ program of the user's own speaks: no framework, and CUDA's own calls or files."""
    raised = case.reading.ending.kind == "exception" and bool(case.reading.ending.stack)
    return not (case.framework or case.programs or raised) and bool(_OWN_CUDA.search(case.text))


def owner_of(case: Asked) -> str:
    """The package, other than a framework, whose code raised it."""
    stack = reversed(case.reading.ending.stack)
    return next((one.owner for one in stack if one.owner not in ("", USER, PYTHON, *TITLES)), "")


def newest(case: Asked, why: str) -> Iterator[Fix]:
    """The newest release of what speaks: the application, the package whose code failed, the framework."""
    made = tuple(own_ways(case, "newest"))
    yield from made
    owner = owner_of(case)
    if owner and not made:
        yield tried(f"Install the newest release of {owner}, {why}", f"pip install --upgrade {owner}")
    if case.framework == "cupy":
        yield tried(f"Install the newest CuPy for this CUDA, {why}", f"pip install --upgrade cupy-cuda{case.cuda_major or 12}x")  # fmt: skip
    elif case.framework == "tensorflow" and case.version.startswith("1."):
        yield tried(f"Install the last TensorFlow 1, {why} (Python 3.5 to 3.7); programs for it do not run on TensorFlow 2", 'pip install "tensorflow==1.15.5"')  # fmt: skip
    elif case.framework and not made:
        yield tried(f"Install the newest {case.title}, {why}", f'pip install --upgrade "{NEWEST[case.framework]}"')


def out_of_bounds(case: Asked) -> Iterator[Fix]:
    """A kernel that touched foreign memory: the user's, by its file; a library's, by another release or another way."""
    place = source(case)
    if place or is_native(case):
        before = f"launched before {place}" if place else "that was launched last"
        yield tried(f"Guard the kernel {before}: each thread must stop where its index is beyond the array, and every pointer must be of GPU memory of that size", on.code("if (i >= n) return;"))  # fmt: skip
        yield tried("Let the sanitizer name the kernel, the thread and the line (compile with -lineinfo)", on.linux("nvcc -lineinfo FILE.cu -o PROGRAM && compute-sanitizer ./PROGRAM"))  # fmt: skip
        return
    here = at_spot(case.frame)
    if "numba" in case.tools and not owner_of(case):
        yield tried(f"Guard the kernel that was launched before{here}: each thread must stop where its index is beyond the array", on.code("i = cuda.grid(1)\nif i >= a.size: return"))  # fmt: skip
        yield tried("Let the sanitizer name the kernel and the thread (compile with @cuda.jit(debug=True, opt=False), which names the line)", "compute-sanitizer python PROGRAM")  # fmt: skip
        return
    if not (owner_of(case) or case.frame or case.programs):
        yield tried("See which call really fails: kernels fail later than they are called, and only so the traceback names the line", SYNCHRONOUS)  # fmt: skip
        yield tried("Let the sanitizer name the kernel that touches foreign memory", on.linux("compute-sanitizer python PROGRAM"))  # fmt: skip
    yield from newest(case, "whose kernel may be at fault")
    if case.programs and not case.frame:
        yield tried("Where other programs fail so too, it is the card, not the program: the kernel's log then has an Xid (13, 31, 62 …); seat the card anew, look at its power and heat", on.host("sudo dmesg -T | grep -i xid"))  # fmt: skip
    if case.framework == "torch":
        yield tried(f"Check the indices and labels{here}: on the CPU the same step names one that is out of range", "CUDA_VISIBLE_DEVICES= python PROGRAM")  # fmt: skip
        yield tried("Leave cuDNN's and the compiler's fast paths out, to see which is at fault", on.code("torch.backends.cudnn.benchmark = False; torch.backends.cudnn.enabled = False"))  # fmt: skip
    if case.framework in ("tensorflow", "jax"):
        setting = (
            "TF_FORCE_GPU_ALLOW_GROWTH=true"
            if case.framework == "tensorflow"
            else "XLA_PYTHON_CLIENT_PREALLOCATE=false"
        )
        yield tried("A card that is nearly full fails so too, above all one that shares its memory (Jetson): less ahead, a smaller batch, no other program on it", f"export {setting}")  # fmt: skip
    yield tried(f"See which call really fails{here}: kernels fail later than they are called", SYNCHRONOUS)


_INDEX = Later(r"index (?P<index>-?\d+) is out of bounds for (?:dimension|axis) \d+ with size (?P<limit>\d+)|= (?P<index2>\d+) is not in \[0, ?(?P<limit2>\d+)\)|Target (?P<index3>-?\d+) is out of bounds")  # fmt: skip
_OF_LABELS = Later(r"n_classes|cur_target|nll_loss|ClassNLL|CrossEntropy|SpatialClassNLL|BCELoss|input_val|target_val|class values|labels?\b", re.IGNORECASE)  # fmt: skip
_OF_TABLE = Later(r"srcSelectDim|indexSelect|embedding|IndexKernel|vectorized_gather|input_ids|tokens?\b|position", re.IGNORECASE)  # fmt: skip
_BCE = Later(r"input_val >= zero|target_val >= zero|BCELoss|between 0 and 1", re.IGNORECASE)
_PROBABILITY = Later(r"multinomial|probability tensor|isfinite|\binf\b|\bnan\b", re.IGNORECASE)


def in_range(case: Asked) -> Iterator[Fix]:
    """Which index is out of which range, by what the assertion says."""
    here = at_spot(case.frame)
    if found := _INDEX.search(case.text):
        index, limit = found["index"] or found["index2"] or found["index3"], found["limit"] or found["limit2"]
        rows = f" and there are {limit} rows, 0 to {int(limit) - 1}" if limit else ""
        yield tried(f"Index {index} was asked for{rows}{here}: where the data counts from 1, subtract 1; else give the table, or the last layer, more rows")  # fmt: skip
    if _BCE.search(case.text):
        yield tried(f"The loss{here} takes numbers from 0 to 1: put a sigmoid before it, or use the loss that has one; labels too must lie there", on.code("loss = torch.nn.functional.binary_cross_entropy_with_logits(output, target)"))  # fmt: skip
    elif _PROBABILITY.search(case.text):
        yield tried(f"The numbers were NaN or infinite before the draw{here}: use float32 or bfloat16 instead of float16, a lower learning rate, or a temperature above 0", on.code("model = model.to(torch.bfloat16)"))  # fmt: skip
    elif _OF_TABLE.search(case.lines) and not _OF_LABELS.search(case.lines):
        yield tried(f"An index is beyond its table{here} (a token beyond the embedding, a position beyond the longest sequence, a vertex beyond the list): see the largest, then resize the table or cut the input", on.code("print(index.min(), index.max(), table.shape)    # transformers: model.resize_token_embeddings(len(tokenizer))"))  # fmt: skip
    else:
        yield tried(f"A label is not below the number of classes{here}: count labels from 0, give the last layer one output for each, and name the label that is to be left out (CrossEntropyLoss(ignore_index=255))", on.code("print(labels.min(), labels.max(), outputs.shape[1])"))  # fmt: skip
    yield tried("Run the step on the CPU: its message names the index; then restart the process", "CUDA_VISIBLE_DEVICES= python PROGRAM")  # fmt: skip


_SHARED = Later(r"(?:shared memory|smem)\D{0,40}?(?P<needed>\d{4,7})\D{1,40}?(?P<limit>\d{4,7})", re.IGNORECASE)


_IN_PARTS = {
    "torch": "output = torch.cat([layer(part) for part in x.split(32768)])",
    "tensorflow": "output = tf.concat([layer(part) for part in tf.split(x, 4)], 0)    # data: dataset.batch(32, drop_remainder=True)",
    "jax": "output = jnp.concatenate([f(part) for part in jnp.array_split(x, 4)])",
    "cupy": "output = cupy.concatenate([f(part) for part in cupy.array_split(x, 4)])",
}
"""The work in parts, in each framework's own words."""


_SERVED = {
    "vllm": ("vLLM", "vllm serve MODEL --dtype half --attention-backend FLASHINFER    # before 0.11: VLLM_ATTENTION_BACKEND=XFORMERS"),
    "sglang": ("SGLang", "python -m sglang.launch_server --model-path MODEL --dtype half --attention-backend torch_native"),
    "transformers": ("transformers", "AutoModelForCausalLM.from_pretrained(\"MODEL\", attn_implementation=\"sdpa\")"),
}  # fmt: skip


def _served(case: Asked) -> tuple[str, str] | None:
    """The program whose kernel it is, not the user's own, and how it takes another one."""
    named = next((one.name for one in case.programs if one.name in _SERVED), "")
    if not named:
        return None
    title, command = _SERVED[named]
    return title, on.code(command) if named == "transformers" else on.linux(command)


def within_card(case: Asked) -> Iterator[Fix]:
    """A launch beyond the card: by figures where the message has them, and for the program that makes the kernel."""
    place = source(case)
    found = _SHARED.search(case.text)
    if found and int(found["needed"]) > int(found["limit"]) and (served := _served(case)):
        yield tried(f"One block of {served[0]}'s kernel asks for {found['needed']} bytes of shared memory, and the card has {found['limit']} (it is not the card's memory that is full): take another attention backend and half precision; or a GPU with more (Ampere and newer have 100 KB and more)", served[1])  # fmt: skip
        yield from newest(case, "which may have smaller kernels for this card")
    elif found and int(found["needed"]) > int(found["limit"]):
        ratio = int(found["needed"]) / int(found["limit"])
        yield tried(f"The kernel asks for {found['needed']} bytes of shared memory, the card has {found['limit']}: num_stages=1 or 2 first, then blocks {ratio:.1f} times smaller, or inputs of 16 bits; of a library's kernel a smaller head dimension or chunk", on.code("triton.Config({'BLOCK': 32}, num_stages=1, num_warps=4)"))  # fmt: skip
        yield from newest(case, "which may have smaller kernels for this card")
    elif is_native(case) or place:
        at = f" before {place}" if place else ""
        yield tried(f"Launch the kernel{at} with fewer threads in a block (256), at most 1024 in all, and at least one block", on.code("kernel<<<(n + 255) / 256, 256>>>(...);    // and __launch_bounds__(256) at the kernel"))  # fmt: skip
        yield tried("Or let the compiler use fewer registers", "nvcc -maxrregcount=64 FILE.cu")
    elif "numba" in case.tools:
        yield tried(f"Launch with fewer threads in a block{at_spot(case.frame)}, and let the compiler use fewer registers", on.code("@cuda.jit(max_registers=64)    # kernel[(n + 255) // 256, 256](...)"))  # fmt: skip
    elif case.framework or case.programs:
        yield tried(f"Give the call less at once{at_spot(case.frame)}: a smaller batch, never an empty one, fewer than 65536 in the second and third size; in parts where it is larger", on.code(_IN_PARTS.get(case.framework, "for part in parts: run(part)    # none of them empty")))  # fmt: skip
        yield from newest(case, "which may launch it otherwise")


_WEB = Later(r"\bgunicorn\b|--preload", re.IGNORECASE)
_LOADER = Later(r"dataloader|worker_init|__getitem__|collate|num_workers", re.IGNORECASE)
_MAPPED = Later(r"\bdatasets[/\\.]|num_proc|\.map\(", re.IGNORECASE)


_SHUT_DOWN = Later(r"\berror (?:#|code )?4\b|DEINITIALIZED|CudartUnloading|driver shutting down", re.IGNORECASE)


def not_forked(case: Asked) -> Iterator[Fix]:
    """CUDA in a child that was forked: by who forks."""
    if _SHUT_DOWN.search(case.lines) and not case.framework and not case.reading.ending.stack:
        yield tried("The driver was being shut down when the program, at its end, gave its GPU memory back: what was computed before is complete. Install the program's newest release, or the one before, where the end is in order")  # fmt: skip
        yield tried("In a program of your own: free GPU memory and end MPI before main returns, not in destructors of global objects", on.code("cudaDeviceSynchronize(); cudaFree(p); MPI_Finalize(); return 0;"))  # fmt: skip
        return
    if any(one.name in ("ollama", "ggml", "blender", "ffmpeg") for one in case.programs):
        yield from uvm_again(case)
        yield tried("The driver did not start for this program: start its service, or the machine, anew; a driver older than its CUDA needs an update", on.linux("nvidia-smi && sudo systemctl restart ollama    # or the service that runs it"))  # fmt: skip
        yield from own_ways(case, "newest")
        return
    yield from own_ways(case, "processes")
    if _WEB.search(case.text):
        yield tried("gunicorn: leave --preload out, and load the model in each worker", "gunicorn app:app --workers 1 --threads 4")  # fmt: skip
    if re.search(r"\bcelery\b", case.text, re.IGNORECASE):
        yield tried("Celery: use a pool that does not fork", "celery -A APP worker --pool=solo")
    if _LOADER.search(case.text):
        yield tried(f"Keep CUDA out of the data set{at_spot(case.frame)}: return CPU tensors and move the batch in the loop; or load in the main process", on.code("DataLoader(dataset, num_workers=0)    # or multiprocessing_context='spawn'"))  # fmt: skip
    if _MAPPED.search(case.text):
        yield tried("datasets: map in one process, or start its processes with spawn", on.code("dataset.map(function, num_proc=None)    # or, first: multiprocess.set_start_method('spawn')"))  # fmt: skip
    name = "torch.multiprocessing" if case.framework == "torch" else "multiprocessing"
    yield tried(f"Start processes with spawn, before anything touches CUDA{at_spot(case.frame)}", on.code(f"if __name__ == '__main__': {name}.set_start_method('spawn', force=True)"))  # fmt: skip
    yield tried("Use CUDA only in the child processes: no .cuda(), device_count() or tensor on the GPU before they are started, at import neither")  # fmt: skip


_CAPTURE = Later(r"captur|cuda ?graph|reduce-overhead", re.IGNORECASE)


def in_order(case: Asked) -> Iterator[Fix]:
    """What is not allowed at that moment: by what was being done."""
    here = at_spot(case.frame)
    if _CAPTURE.search(case.lines):
        yield from own_ways(case, "graphs")
        if case.framework == "torch":
            yield tried(f"Leave CUDA graphs out{here}: compile in the default mode; or run the step three times on a side stream before the capture, with no .item(), .cpu(), print or new size in it", on.code("torch.compile(model, mode='default')    # not 'reduce-overhead' or 'max-autotune'"))  # fmt: skip
        elif case.framework == "onnxruntime":
            yield tried("ONNX Runtime: switch its CUDA graphs off", on.code("providers = [('CUDAExecutionProvider', {'enable_cuda_graph': '0'})]"))  # fmt: skip
        elif case.framework in ("jax", "tensorflow"):
            yield tried("XLA: switch command buffers, its CUDA graphs, off", "export XLA_FLAGS=--xla_gpu_enable_command_buffer=")  # fmt: skip
        if is_native(case):
            yield tried("Synchronise, allocate and copy before the capture begins, and capture this thread's calls only", on.code("cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)"))  # fmt: skip
        elif not case.framework and not case.programs:
            yield tried("Do without CUDA graphs: PyTorch torch.compile(mode='default'), vLLM --enforce-eager, SGLang --disable-cuda-graph, llama.cpp GGML_CUDA_DISABLE_GRAPHS=1, ONNX Runtime enable_cuda_graph '0'")  # fmt: skip
        yield tried("Or run the step a few times before the capture, and keep synchronising, allocating, .item(), .cpu() and prints out of it")  # fmt: skip
    elif case.framework == "tensorflow":
        yield tried(f"Move this set-up{here} to the top of the program, right after import tensorflow and before any other import, model or tensor; in a notebook restart the kernel and run that cell once, first", on.code("import tensorflow as tf; gpus = tf.config.list_physical_devices('GPU')"))  # fmt: skip
        if re.search("growth|physical", case.text, re.IGNORECASE):
            yield tried("Or by a variable, before the program starts", "export TF_FORCE_GPU_ALLOW_GROWTH=true")
    elif place := spot(case.frame):
        yield tried(f"Move the call at {place} to the start of the program, before the GPU is used; or do it once only")

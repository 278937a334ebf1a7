"""memory.oom in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.amounts import asks_much
from gpuwhy.rooms.text.common import FIGURES, GRABS, OF_MEMORY, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, any_of, counting, field, line, no, with_
from gpuwhy.rooms.text.figures import capped, free_but_refused, has_figures, others_hold, own_full, splintered
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.memory_ways import smaller
from gpuwhy.rooms.text.remedies import WSL_MEMORY
from gpuwhy.rooms.text.room import Text

_SET = re.compile(r"\b(CUBLAS_WORKSPACE_CONFIG|TF_CUDNN_USE_AUTOTUNE|TF_CUDNN_DETERMINISTIC)=")
_ACCUMULATE = "(loss / {n}).backward()    # and every {n} steps: optimizer.step(); optimizer.zero_grad()"


_TIRED = re.compile(r"fit|batch|small|memory|g[ia]ve?n? up|giving up|too (?:large|big)|no room", re.IGNORECASE)


def _gave_up(_: Symptom, r: Reading) -> bool:
    """The program ended by its own word, of what did not fit."""
    return r.ending.kind != "exception" or bool(_TIRED.search(r.ending.message.partition("\n")[0]))


def _named(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """A setting that takes memory away; and by how much the work is too large, where the message gives the figures."""
    if (found := _SET.search(reading.excerpt)) and any(
        s.signature.startswith(("cublas.", "tf.", "title.")) for s in symptoms
    ):
        yield Fix(
            f"Try it without {found[1]}, which the text sets",
            f"unset {found[1]}",
            safe=True,
            check="gpuwhy explain LOG",
        )
    for one in symptoms:
        wanted, held, total = one.size("wanted"), one.size("allocated"), one.size("total")
        if one.signature != "memory.torch_oom" or min(wanted, held, total) <= 0 or wanted + held <= total:
            continue
        times = max(2, ceil(1.1 * (wanted + held) / total))
        need = f"{(wanted + held) / 2**30:.1f} of {total / 2**30:.1f} GiB"
        text = f"At least {need} was needed: make the batch, or the image's area or the sequence, about {times} times smaller; in training, sum the gradients of {times} such steps"
        yield Fix(text, on.code(_ACCUMULATE.format(n=times)), check="gpuwhy explain LOG")
        return


TEXT = Text(
    "memory.oom",
    signatures=(
        error("memory.darknet", r"try to set subdivisions=\d+", "try to set subdivisions"),
        error(
            "ort.arena_small",
            r"available memory of (?P<free>\d+) is smaller than requested bytes of (?P<wanted>\d+)",
            "is smaller than requested bytes",
        ),
        error("tensorrt.workspace",
              r"due to insufficient workspace|insufficient workspace[^\n]{0,60}(?:node|layer|tactic)"
              r"|tactic[^\n]{0,80}(?:insufficient|not enough) memory", "workspace", "tactic", covers=("title.",
            "said.no_memory")),
        error("memory.device_lost_room",
              r"error_?out_?of_?device_?memory|gpu(?:split\w*|retry)oom\b|\bgpu outofmemory\b"
              r"|memory_?allocation_?failure[^\n]{0,20}device|cl_mem_object_allocation_failure", "devicememory",
              "device_memory", "oom", "outofmemory", "allocation_failure", "allocationfailure", covers=("title.",
            "said.no_memory", "memory.oom_words")),
        error("memory.rmm", r"std::bad_alloc: (?:cuda|out_of_memory)|rmm[^\n]*(?:out_of_memory|maximum pool size)", "std::bad_alloc: ", "maximum pool size",
              covers=("memory.cpu_allocator",)),
    ),
    clues=(
        ("tensorrt.library", 2.2, "{what} did not start, as where the memory is full"),
        ("tensorrt.workspace", 3.2, "TensorRT found no way to build a layer in the memory that it may take"),
        ("memory.device_lost_room", 3.8, "the program says that the GPU's memory is used up"),
        ("kin.empty", 3.8, "{library} found no memory left for what it has to make ({name})"),
        ("said.no_memory", 3.2, "the program says that it got too little memory"),
        ("said.no_cache", 4.0, "the model leaves no room for the cache"),
        *((one, 3.8, "a large piece was asked for by the program's own work", asks_much) for one in ("cuda.out_of_memory", "memory.oom_words", "memory.tf_grab")),
        ("memory.darknet", 3.6, "Darknet could not get the memory that a layer needs"),
        ("memory.buffer", 4.0, "{what} did not get the memory that it asked for"),
        ("memory.system_ram", 1.8, "{wanted} is needed, {free} is there"),
        ("cuda.out_of_memory", 3.5, "an allocation of the program itself failed", all_of(line(r"cuda error:? (?:in \w+:? ?)?\d|check_error|\[trt\]|tensorrt|file exists|retry failed|darknet"),
            no(counting))),
        ("memory.torch_oom", 4.4, "{wanted} was asked for, more than the part of the card that the program allows itself", all_of(capped, no(splintered))),
        ("memory.torch_oom", 4.4, FIGURES, all_of(own_full, no(splintered), no(others_hold))),
        ("memory.torch_oom", 3.6, "{wanted} more was asked for than the GPU had left", no(has_figures)),
        ("memory.torch_oom", 3.0, FIGURES, all_of(has_figures, no(others_hold), no(free_but_refused), no(capped))),
        ("memory.torch_oom", 2.2, FIGURES, all_of(has_figures, no(others_hold))),
        ("memory.torch_oom", 1.8, FIGURES, others_hold),
        ("memory.torch_oom_bare", 3.6, "the GPU's memory was used up"),
        ("memory.tf_oom", 4.6, "a tensor did not fit into the GPU's memory", field("device", "gpu")),
        ("memory.tf_oom_bare", 3.2, "a tensor did not fit into memory"),
        ("memory.bfc", 3.4, "{wanted} did not fit into what {allocator} had left", no(field("harmless", "."))),
        ("memory.bfc", 1.6, "{wanted} did not fit at first", field("harmless", ".")),
        ("memory.xla_oom", 4.0, "{wanted} did not fit into the GPU's memory"),
        ("memory.tf_grab", 3.4, "{wanted} could not be had from the GPU", no(any_of(GRABS, line(r"\([\d,]+ bytes\) from device")))),
        ("memory.tf_grab", 2.4, "{wanted} could not be had from the GPU"),
        ("memory.dst_tensor", 2.6, "a tensor could not be copied to a full GPU"),
        ("memory.rmm", 4.0, "the GPU's memory pool is used up"),
        ("memory.tensorrt", 4.2, "TensorRT could not get GPU memory"),
        ("memory.dispatched", 4.2, "the model does not fit into the GPU's memory"),
        ("memory.xla_request", 3.4, "{wanted} did not fit into the GPU's memory"),
        ("memory.at_start", 2.4, "{wanted} GiB is wanted, {free} of {total} GiB was free"),
        ("memory.wsl_resident", 3.2, "Windows could not keep the memory on the GPU"),
        ("memory.kv_cache", 3.8, "the model leaves no room for the cache"),
        ("memory.no_batch", 3.6, "the program tried smaller and smaller batches, and none has room on the GPU", _gave_up),
        ("memory.oom_words", 2.9, "the GPU's memory was used up"),
        ("cuda.out_of_memory", 2.8, "CUDA is out of memory (error 2)", no(counting)),
        ("cuda.out_of_memory", 3.6, "CUDA is out of memory while the model is loaded", with_("llama.here")),
        ("cuda.out_of_memory", 3.4, "an allocation of the program itself failed", line(r"cudamalloc|cudasuccess \(2|syncedmem|cumemalloc|cupy|numba")),
        ("cuda.out_of_memory", 3.6, "PyTorch's old allocator is out of memory", with_("torch.old_allocator")),
        ("tf.rnn", 2.0, "cuDNN's RNN failed, as on a full GPU"),
        ("ort.arena", 4.2, "{wanted} bytes did not fit into the GPU's memory"),
        ("ort.arena_small", 4.4, "{wanted} bytes were asked for, {free} were left"),
        ("cudnn.alloc_failed", 3.4, "cuDNN could not get memory"),
        ("cudnn.internal_error_device_allocation_failed", 4.2, "cuDNN could not get GPU memory"),
        ("cudnn.not_initialized", 2.3, "cuDNN did not start, which is typical of a full GPU memory"),
        ("cudnn.internal_error", 2.3, "cuDNN failed inside, which is typical of a full GPU memory"),
        ("cudnn.execution_failed", 1.5, "cuDNN failed to run, as on a full GPU"),
        ("cudnn.mapping_error", 1.4, "cuDNN could not map memory"),
        ("cublas.alloc_failed", 2.9, "cuBLAS could not get memory for its handle"),
        ("cublas.not_initialized", 2.8, "cuBLAS did not start, as on a full GPU"),
        ("cublas.internal_error", 1.7, "cuBLAS failed inside, as on a full GPU"),
        ("cublas.execution_failed", 1.2, "cuBLAS failed to run"),
        ("cusolver.alloc_failed", 3.2, "cuSOLVER could not get memory"),
        ("cusolver.internal_error", 1.8, "cuSOLVER failed inside, as on a full GPU"),
        ("cusparse.alloc_failed", 3.2, "cuSPARSE could not get memory"),
        ("cusparse.insufficient_resources", 3.0, "cuSPARSE could not get memory"),
        ("cufft.alloc_failed", 3.2, "cuFFT could not get memory"),
        ("cufft.internal_error", 1.4, "cuFFT failed inside"),
        ("curand.allocation_failed", 3.2, "cuRAND could not get memory"),
        ("curand.initialization_failed", 1.6, "cuRAND did not start"),
        ("nvml.memory", 2.2, "NVML is out of memory"),
        ("torch.no_engine", 2.5, "cuDNN finds no algorithm whose workspace fits"),
        ("torch.nvml_assert", 2.8, "the allocator asked NVML while it was out of memory"),
        ("tf.no_algorithm", 2.1, "no algorithm's workspace fits"),
        ("tf.conv_algorithm", 1.4, "cuDNN did not start"),
        ("tf.blas", 1.3, "cuBLAS failed, as on a full GPU"),
        ("signal.windows", 0.9, "a crash without words"),
        ("cuda.launch_out_of_resources", 0.8, "too many resources were asked for (error 701)"),
        ("title.oom", 2.2, "the text says that memory ran out", nothing_else),
        ("title.fragmented", 1.2, "the text says that memory is fragmented", nothing_else),
        ("title.held", 1.0, "memory is said not to be given back", nothing_else),
        ("told.smaller", 1.8, "the text says that less work at once helps", OF_MEMORY),
        ("title.trouble", 1.8, "the text says that memory fails", said_of(r"memory|vram|too (?:large|big)")),
        ("cudnn.execution_failed_cublas", 1.4),
        ("cudnn.execution_failed_cudart", 1.4),
        ("cusolver.not_initialized", 3.0),
        ("cusolver.execution_failed", 2.2),
        ("cufft.setup_failed", 3.0),
        ("cufft.no_workspace", 3.0),
        ("cusparse.not_initialized", 3.0),
        ("cusparse.internal_error", 3.0),
    ),
    ladder=smaller,
    remedies=(
        meant("Give the GPU less work at once: a smaller batch, picture, sequence or grid; half precision; parts one after the other"),
        meant("vLLM: make the context shorter, or give the cache more of the memory",
              "vllm serve MODEL --max-model-len 8192 --gpu-memory-utilization 0.95", said="memory.kv_cache", by="vllm"),
        *WSL_MEMORY,
        meant("PyTorch: check what holds the memory: in the program, where the error is caught (except torch.cuda.OutOfMemoryError:)",
              on.code("print(torch.cuda.memory_summary())"), by="torch", safe=True, look=True),
    ),
    named=_named,
)  # fmt: skip

"""memory.preallocation in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.common import GRABS, OF_MEMORY
from gpuwhy.rooms.text.conditions import all_of, alone, no, with_
from gpuwhy.rooms.text.figures import held_beside, splintered
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.memory_ways import growing
from gpuwhy.rooms.text.room import Text


def _little_left(s: Symptom, r: Reading) -> bool:
    return int(s.get("free")) < 0.3 * int(s.get("total"))


def _much_left(s: Symptom, r: Reading) -> bool:
    return int(s.get("free")) > 0.6 * int(s.get("total"))


TEXT = Text(
    "memory.preallocation",
    signatures=(
        error("memory.xla_grab", r"failed to allocate (?P<wanted>[\d.]+ ?\w*)[^\n]*for new constant|hbm|memory fraction",
              "for new constant", "memory fraction"),
    ),
    clues=(
        ("memory.torch_oom", 5.5, "this process holds {reserved}, and next to nothing of it through PyTorch", all_of(held_beside, no(splintered))),
        ("remark.grabbed", 5.8, "the text says that a framework had grabbed the memory before", OF_MEMORY),
        ("remark.grabbed", 1.8, "the text says that a framework grabs the memory"),
        ("title.grabs", 3.2, "the framework takes all memory"),
        ("tf.cudnn_handle", 3.4, "cuDNN got no GPU memory: the framework had taken it all ({status})"),
        ("tf.conv_algorithm", 2.9, "cuDNN did not start at the first convolution, as beside a framework that grabs all memory"),
        ("tf.dnn_init", 2.7, "cuDNN did not start, as beside a framework that grabs all memory", alone),
        ("tf.blas", 2.4, "cuBLAS got no memory beside what the framework had grabbed"),
        ("tf.memory_usage", 1.2, "{free} of {total} bytes were left", _little_left),
        ("tf.memory_usage", -1.8, "{free} of {total} bytes were free: it is not the memory", _much_left),
        ("tf.rnn", 2.4, "cuDNN's RNN failed, as beside a framework that grabs all memory"),
        ("tf.no_algorithm", 1.8, "no algorithm's workspace fits beside what the framework had grabbed"),
        ("cudnn.not_initialized", 3.2, "cuDNN did not start beside a framework that grabs all memory", GRABS),
        ("cudnn.internal_error", 3.2, "cuDNN failed beside a framework that grabs all memory", GRABS),
        ("cudnn.execution_failed", 2.8, "cuDNN failed beside a framework that grabs all memory", GRABS),
        ("cudnn.alloc_failed", 2.8, "cuDNN got no memory beside a framework that grabs all", GRABS),
        ("cudnn.not_initialized", 1.3, "cuDNN did not start, as beside a framework that grabs all memory"),
        ("cudnn.internal_error", 1.6, "cuDNN failed, as beside a framework that grabs all memory"),
        ("cublas.not_initialized", 3.2, "cuBLAS did not start beside a framework that grabs all memory", GRABS),
        ("cublas.not_initialized", 2.4, "cuBLAS did not start, as beside a framework that grabs all memory", no(with_("torch.", "python."))),
        ("cublas.alloc_failed", 2.4, "cuBLAS got no memory beside a framework that grabs all", GRABS),
        ("cusolver.", 2.4, "cuSOLVER did not start beside a framework that grabs all memory", GRABS),
        ("cusparse.", 2.0, "cuSPARSE did not start beside a framework that grabs all memory", GRABS),
        ("memory.tf_grab", 2.3, "the framework tried to grab {wanted} at its start"),
        ("memory.xla_oom", 1.7, "JAX grabs three quarters of the memory at its start"),
        ("memory.xla_grab", 2.4, "JAX grabs three quarters of the memory at its start"),
        ("memory.dst_tensor", 1.6, "the framework may have grabbed all memory"),
        ("cuda.out_of_memory", 1.7, "a framework in another process may have grabbed all memory", GRABS),
        ("tf.stream_failed", 0.8, "the work on the GPU failed"),
        ("cuda.launch_failed", 0.8, "the work on the GPU failed", GRABS),
        ("tf.conv_check", 2.0, "cuDNN failed at the first convolution"),
        ("memory.xla_request", 2.6, "JAX grabs three quarters of the memory at its start, and what is beside it is full"),
        ("memory.at_start", 1.8, "the share of memory that is grabbed is set too high"),
        ("memory.kv_cache", 1.4, "the share of memory that is grabbed is set wrongly"),
        ("told.growth", 2.6, "memory growth is in play", OF_MEMORY),
        ("told.growth", 1.0, "memory growth is in play"),
        ("cusolver.not_initialized", 2.2),
    ),
    remedies=(
        meant("Then check that no earlier run still holds the memory, and end it (kill PID)",
              "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", by="tensorflow", safe=True, look=True),
        meant("JAX: do not take memory ahead", "export XLA_PYTHON_CLIENT_PREALLOCATE=false", by="jax", safe=True),
        meant("JAX: or set a smaller share of the memory", "export XLA_PYTHON_CLIENT_MEM_FRACTION=.60", by="jax", safe=True),
        meant("Beside another framework: set TensorFlow and JAX to allocate memory only as it is needed",
              "export TF_FORCE_GPU_ALLOW_GROWTH=true XLA_PYTHON_CLIENT_PREALLOCATE=false", by="torch onnxruntime cupy",
              safe=True),
    ),
    ladder=growing,
)  # fmt: skip

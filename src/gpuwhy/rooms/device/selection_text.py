"""device.selection in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re

from gpuwhy.knowledge.messages import NO_ANSWER, NO_DRIVER, NO_GPU
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.conditions import all_of, field, line, no, with_
from gpuwhy.rooms.text.job_ways import chosen
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text

_LIST = re.compile(r"(?i)\b(?:\w*gpus?|\w*devices?)(?:\(\s*['\"]?\w*['\"]?\s*\))?\[\w+\]")


def _from_list(symptom: Symptom, reading: Reading) -> bool:
    """An index beyond a list of GPUs or devices, in the line that raised."""
    frame = reading.ending.frame
    return frame is not None and reading.ending.name == "IndexError" and bool(_LIST.search(frame.code))


def _some_seen(s: Symptom, r: Reading) -> bool:
    """The text says that CUDA is available, so that the number asked for is what is wrong."""
    return bool(re.search(r"is_available\(\)\W{1,6}True|device_count\(\)\W{1,6}[1-9]", r.excerpt))


_ECHOED = re.compile(
    r"echo \"?\$\{?CUDA_VISIBLE_DEVICES\}?\"?[ \t\r]*\n(?:\d{4}-\S{6,30} )?(?:NoDevFiles|-1|none|void)?[ \t\r]*(?:\n|$)",
    re.IGNORECASE,
)


def _echoed_empty(s: Symptom, r: Reading) -> bool:
    """The variable was echoed, and its value leaves no GPU."""
    return bool(_ECHOED.search(r.excerpt))


TEXT = Text(
    "device.selection",
    signatures=(
        error("device.no_such_id", r"\bid #?\d+\b[^\n]{0,60}\b(?:not for a compatible gpu"
              r"|is not a (?:valid|usable|visible) (?:gpu|device))"
              r"|\b(?:gpu|device|card)(?: id| index| number| ordinal)? ?#?\d+\b[^\n]{0,30}\b(?:does not exist"
              r"|doesn't exist|not present|is not visible|not among|beyond the)"
              r"|\bonly (?:\d+|one|two) (?:gpus?|devices?|cards?) (?:is |are )?(?:visible|available|present"
              r"|found)[^\n]{0,40}\b(?:asked|requested|index|id|but)\b"
              r"|\bnvidia-smi\W{1,4}-i\W{1,4}(?P<device>\d+)\b[^\n]{0,60}non-zero exit status 6\b", "compatible gpu",
              "is not a", "not exist", "n't exist", "not present", "not visible", "not among", "beyond the", "only ",
              "exit status 6", covers=("title.", "python.", "nvidia.none_found")),
        error("device.of_number",
              r"no (?:cuda |gpu |such )?(?:device|gpu|card) (?:with|of|has|at) (?:the )?(?:id|index|number"
              r"|ordinal) ?(?P<device>\d{1,2})", "no device", "no gpu", "no card", "no cuda device", "no such", covers=("title.",
            "python.")),
        error("torch.other_backend",
              r"could not run '[\w:.]{1,80}' with arguments from the '(?P<backend>MPS|XLA|XPU|HIP|HPU|IPU|Vulkan"
              r"|Metal|MTIA|PrivateUse\d)' backend", "could not run '", covers=("torch.", "python.")),
        error("jax.tpu_asked", r"^(?!\w*:? ?(?:info"
              r"|warning))[^\n]{0,120}backend '?tpu'? failed to initialize[^\n]{0,200}available backends are"
              r"|unknown backend:? '?tpu'?", "backend 'tpu'", "backend tpu", "unknown backend", covers=("loader.",
            "title.", "python.", "jax.")),
        error("tf.no_partition", r"creating a partition for (?P<device>/?\S{1,80}) which doesn't exist", "creating a partition for", covers=("title.",)),
        error("device.out_of_range",
              r"\b(?:(?:gpu|device)[ _-]?(?:id|index|ordinal|number|num)\b[ =:#]{0,3}(?P<device>\d{1,2})?"
              r"|(?:(?:gpu|device)(?:[ _]device)?[ :#_]{1,2}"
              r"|cuda:)(?P<device2>\d{1,2}))\b[^\n.;]{0,30}\b(?:is )?(?:out of range|out of bounds"
              r"|exceeds the (?:number|count) of (?:\w+ )?(?:gpus?|devices)|does not exist"
              r"|must be (?:less|smaller|lower) than (?:the )?(?:number of |count of )?(?:gpus?|devices?)(?: count)?"
              r"|must be between \d+ and \d+)"
              r"|(?:invalid|bad|unknown|wrong|illegal) (?:value for |argument |option )?(?:-{0,2}main[_-]gpu"
              r"|gpu[_ -]?(?:id|index|device)|device[_ ](?:id|index))\b|main[_-]gpu \d+ (?:is )?invalid"
              r"|\bgpu ?#?\d+ (?:is )?not available[^\n]{0,30}\d+ devices?\b"
              r"|device specified by the parameter[^\n]{0,30}does not exist",
              "out of range", "out of bounds", "exceeds the", "does not exist", "must be", "invalid", "bad gpu",
              "unknown gpu", "wrong gpu", "illegal", "not available", covers=("title.", "generic.", "python.value",
                  "program.")),
        error("tf.no_such_device",
              r"could not satisfy explicit device specification '[^'\n]*device:gpu:(?P<device>\d+)"
              r"|cannot assign a device for operation(?:[^\n]*?assigned to [^\n]{0,80}?device:gpu:(?P<device2>\d+)"
              r"|[^\n]*device:gpu:(?P<device3>\d+))",
              "explicit device specification", "cannot assign a device"),
        error(
            "torch.deserialize_device",
            r"attempting to deserialize object on cuda device (?P<device>\d+) but torch\.cuda\.device_count\(\) is (?P<count>\d+)",
            "deserialize object on cuda device",
        ),
        error("torch.needs_index", r"expected a cuda device with a specified index|invalid device argument"
              r"|device should be an? (?:int|integer|string)", "with a specified index", "invalid device argument",
              "device should be", covers=("python.exception",)),
        error("torch.device_bounds", r"device >= 0 && device < (?:static_cast<\w+>\()?num_gpus", "device < num_gpus", "device < static_cast",
              covers=("torch.internal_assert",)),
        error("torch.no_allocator", r"allocator not initialized for device", "allocator not initialized", covers=("python.", "torch.internal_assert")),
        error("torch.device_string", r"device type at start of device string|invalid device string|invalid device id"
              r"|device index out of range|invalid cuda device index|no such (?:cuda )?device", "device string",
              "invalid cuda device index",
              "invalid device id", "device index out of range"),
        error("torch.too_many", r"(?:device|gpu) (?:index |id )?\d+ (?:is )?not available"
              r"|(?:invalid|unsupported) (?:gpu|device) (?:id|index) \d|device ordinal \d+ (?:is )?out of range"
              r"|invalid device ordinal|(?:larger|greater|more|exceeds?)[^\n]{0,40}(?:number of )?available gpus"
              r"|you requested gpus?:? ?\[|(?:machine|node|system) only has:? ?(?:\[|\d+ gpu)|required gpus exceeds",
              "device ordinal", "not available", "gpu id", "gpu index", "device index", "available gpus",
              "requested gpu", "only has", "required gpus", covers=("python.exception",)),
    ),
    clues=(
        ("torch.no_allocator", 4.2, "PyTorch has no allocator for the device that it was told: the number is beyond the GPUs that are seen"),
        ("refused.device", 3.8, "a framework is asked for a device that it does not have, or that is no name of one"),
        ("nvml.invalid_argument", 3.4, "NVML was asked for a device that is not there"),
        ("nvml.not_found", 2.6, "NVML was asked for a device that is not there"),
        ("device.no_such_id", 4.4, "the device that was asked for by its number is not there"),
        ("jax.tpu_asked", 3.6, "a TPU is asked for, and there is none: the backends that are there are named"),
        ("said.resources", 3.2, "more GPUs are asked for than the cluster has free"),
        ("torch.invalid_requested", 4.4, "a GPU is asked for by a number that is not there: others are", _some_seen),
        ("said.no_device", 1.6, "the GPU that is asked for may not be there"),
        ("tf.no_partition", 3.6, "an operation is put on {device}, which is not among the devices there"),
        ("torch.too_many", 4.0, "a GPU is asked for that is not there, such as cuda:1 where one GPU is, or that CUDA_VISIBLE_DEVICES hides"),
        ("jax.falls_back", 1.4, "JAX sees no GPU; this happens when CUDA_VISIBLE_DEVICES hides all"),
        ("tf.few_devices", 4.0, "a GPU is asked for that TensorFlow does not have", no(line(r"Supported device types \[CPU\]"))),
        ("tf.few_devices", 2.8, "a GPU is asked for, and TensorFlow has none", line(r"Supported device types \[CPU\]")),
        ("torch.needs_index", 3.6, "the device is named without its number, or wrongly"),
        ("device.of_number", 4.2, "the program asks for GPU {device}, and none has that number"),
        ("torch.other_backend", 4.2, "the program asks for {backend}, a device of another kind, for which this build has nothing"),
        ("device.out_of_range", 4.6, "the program asks for a GPU by a number that none has"),
        ("cuda.invalid_device", 4.6, "the program asked for a GPU number that does not exist, such as cuda:1 where one GPU is, or that CUDA_VISIBLE_DEVICES hides (error 101)"),
        ("torch.device_bounds", 4.4, "the program asked for a GPU number that does not exist"),
        ("python.exception", 5.6, "the program takes a GPU from a list that has fewer, or none", _from_list),
        ("ending.own", 5.6, "the program takes a GPU from a list that has fewer, or none", _from_list),
        ("tf.no_such_device", 4.0, "GPU {device} is asked for, and TensorFlow has none of that number"),
        ("torch.nccl_no_gpu", 1.6, "PyTorch sees no GPU"),
        ("torch.deserialize_device", 4.6, "the file is for GPU {device}, and there are {count}"),
        ("torch.device_string", 4.2, "the program gives a device name that does not exist"),
        ("torch.invalid_requested", 3.6, "GPU {device} is asked for", field("device", "[1-9]")),
        ("torch.invalid_requested", 2.4, "the device that is asked for does not exist"),
        ("torch.no_gpus", 2.7, "PyTorch sees no GPU; this happens when CUDA_VISIBLE_DEVICES hides all"),
        ("container.ray", 2.8, "CUDA_VISIBLE_DEVICES hides the GPUs that Ray was told of"),
        ("generic.no_compatible", 1.4, "no GPU is found"),
        ("cuda.no_device", 2.7, "the driver starts and sees no device; this happens when CUDA_VISIBLE_DEVICES hides all", all_of(with_("tf.cuinit"), no(with_("tf.no_kernel")))),
        ("cuda.no_device", 2.0, "CUDA sees no device; this happens when CUDA_VISIBLE_DEVICES hides all"),
        ("cuda.no_device", 3.0, "a scheduler hands out the GPUs, and none was asked for", with_("told.scheduler")),
        ("torch.no_gpus", 3.0, "a scheduler hands out the GPUs, and none was asked for", with_("told.scheduler")),
        ("told.visible_devices", 3.6, "CUDA_VISIBLE_DEVICES is {value}", field("value", r"\W*-1$|\W*none|\W*$")),
        *((one, 4.8, "CUDA_VISIBLE_DEVICES hides all GPUs: that is what it was echoed as", _echoed_empty) for one in ("title.bare_false",
            "cuda.no_device", "torch.unavailable", "torch.no_gpus", "title.empty_list", "tf.no_gpu_found",
            "jax.falls_back")),
        ("told.visible_devices", 4.8, "CUDA_VISIBLE_DEVICES is NoDevFiles: the scheduler gave the job no GPU", field("value", r"\W*NoDevFiles")),
        ("told.visible_devices", 2.6, "CUDA_VISIBLE_DEVICES is {value}, which the shell fills in", field("value", r"\$")),
        ("told.visible_devices", 1.2, "CUDA_VISIBLE_DEVICES is {value}"),
        ("torch.unknown_init", 1.8, "CUDA_VISIBLE_DEVICES may have been changed after the start"),
        ("cuda.unknown", 1.2, "CUDA_VISIBLE_DEVICES may have been changed after the start"),
        ("torch.nvml_assert", 1.9, "NVML was asked for a device that is not this one's"),
        ("jax.no_visible", 2.2, "JAX sees no GPU; this happens when CUDA_VISIBLE_DEVICES hides all"),
        ("nccl.duplicate_gpu", 3.8, "two ranks use one GPU"),
        ("tf.cpu_device_only", 1.6, "the device that is asked for does not exist"),
        ("torch.deserialize_cpu", 1.2, "CUDA is not available to PyTorch"),
        ("program.devices", 1.2, "tensors are on different devices"),
        ("cuda.invalid_context", 1.2, "the context belongs to another device"),
        ("cuda.peer_access_", 2.2, "the two GPUs cannot reach each other's memory"),
        ("tf.ignored_cores", 2.0, "TensorFlow leaves out the smaller GPU"),
        ("nvidia.mig", 1.8, "a MIG device is named wrongly"),
        ("container.device_error", 5.6, "the device that the container asks for does not exist", field("what", ".*unknown device")),
        ("nvml.not_found", 2.4, "NVML does not know the device"),
        ("nvml.invalid_argument", 2.0, "NVML does not know the device"),
        ("cufft.invalid_device", 3.0),
    ),
    ladder=chosen,
    remedies=(
        meant("Load the file onto a GPU that is there", on.code("torch.load(PATH, map_location='cuda:0')"), said="torch.deserialize", line=r"CUDA device \d", safe=True, more=True),
        meant("Ask how many GPUs there are before one is taken from the list, and use number 0 where there is one",
              "python -c 'import tensorflow as tf; print(tf.config.list_physical_devices(\"GPU\"))'", said="python.exception ending.own",
              look=True, more=True),
        meant("Let TensorFlow put operations without GPU code on the CPU, at the start of the program", on.code("tf.config.set_soft_device_placement(True)    # TensorFlow 1: tf.Session(config=tf.ConfigProto(allow_soft_placement=True))"),
              said="tf.no_such_device", line="no supported kernel for GPU", more=True),
        meant("Check which GPUs there are, and which CUDA_VISIBLE_DEVICES allows", "nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES", safe=True, look=True),
    ),
    admitted_by=(*NO_GPU, *NO_ANSWER, *NO_DRIVER),
)  # fmt: skip

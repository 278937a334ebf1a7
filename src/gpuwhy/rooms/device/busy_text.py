"""device.busy in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.messages import NO_ANSWER, NO_DRIVER, NO_GPU, NO_MEMORY
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.conditions import line, with_, xid
from gpuwhy.rooms.text.job_ways import by_slice, shared_out
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import TDR
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "device.busy",
    signatures=(
        error("nvidia.sessions", r"\btoo many concurrent (?:nvenc |encod\w{1,4} )?sessions\b"
              r"|\bgpu reset couldn't run because\b[^\n]{0,60}\b(?:primary|being used|in use)", "concurrent",
              "reset couldn't", covers=("title.", "said.video", "memory.")),
        error("nvenc.session",
              r"openencodesessionex[^\n]{0,60}(?:failed|: ?10\b|out of memory|\(10\))|openencodesession failed",
              "openencodesession", covers=("memory.", "title.")),
        error("nvidia.exclusive", r"exclusive[_ ](?:process|thread)|compute mode[^\n]*(?:exclusive|prohibited)|\be\. (?:process|thread)\b",
              "exclusive", "compute mode", "e. process", "e. thread"),
        error("nvidia.in_use", r"\bin use by another client\b"
              r"|exclusive[_ -]?(?:process |compute )?mode[^\n]{0,60}\b(?:in use|used|holds?|another|other"
              r"|already)\b|\bgpu\b[^\n]{0,40}\bin use by (?:another|other)\b"
              r"|failed to create cuda context, no more unused gpus|\bstat: unavailable\b"
              r"|(?:create|creating) (?:a |an )?(?:compute|gpu) instance[^\n]{0,40}insufficient resources"
              r"|all (?:devices|gpus) (?:are )?(?:in use|taken|busy) by other",
              "in use by", "exclusive", "no more unused gpus", "stat: unavailable", "insufficient resources",
              "all devices", "all gpus", covers=("title.", "nvidia.mig", "memory.oom_words", "nvidia.exclusive",
                                                 "generic.")),
        error("generic.gres", r"invalid generic resource \(gres\) specification|requested node configuration is not available", "generic resource (gres)",
              "node configuration is not available"),
        error("nvidia.prohibited", r"\|[^|\n]{0,40}%\s+prohibited \|", "prohibited |"),
    ),
    clues=(
        ("nvidia.sessions", 4.6, "others use the GPU or its encoder"),
        ("cuda.invalid_device", 5.6, "the GPU's context is refused: it takes one process only, and another has it", line("cudeviceprimaryctxretain")),
        ("cuda.invalid_device", 0.2, "the GPU may be taken"),
        ("said.resources", 2.4, "the GPUs of the cluster are taken"),
        ("said.busy", 3.8, "the GPU is busy or unavailable (error 46)"),
        ("nvidia.prohibited", 4.6, "nvidia-smi shows the compute mode Prohibited: CUDA is switched off on this card"),
        ("nvenc.session", 3.4, "the encoder gives out no further session: GeForce cards allow only a few at a time"),
        ("cuda.device_unavailable", 4.4, "all GPUs are busy or unavailable (error 46)"),
        ("cuda.context_already_in_use", 4.2, "the GPU is in exclusive mode and in use (error 216)"),
        ("nvidia.in_use", 4.8, "the GPU, or the part of it that is asked for, is in use by others"),
        ("remark.busy", 3.8, "the text says that others have the GPU", with_("cuda.", "nvidia.", "nvml.", "title.", "tf.", "torch.", "llama.")),
        ("nvidia.exclusive", 3.0, "an exclusive compute mode is set"),
        ("nvml.in_use", 3.6, "the GPU is in use"),
        ("generic.gres", 3.2, "the cluster does not hand out the GPUs that are asked for"),
        ("container.k8s", 2.6, "all GPUs of the cluster are taken"),
        ("nvidia.no_instance", 4.4, "MIG is on, and no instance was made: there is nothing to run on", with_(*NO_GPU)),
        ("nvidia.mig", 1.8, "MIG instances are not free"),
        ("cuda.mps_max_", 3.0, "MPS has no room for another client"),
        ("nvidia.mps", 1.2, "MPS is in play"),
        ("cuda.launch_timeout", 1.4, "the display's watchdog ended a kernel that took too long (error 702)"),
        ("tf.used_elsewhere", 1.8, "no context could be made on the GPU"),
        ("cuda.device_not_licensed", 2.0),
        ("cuda.mps_rpc_failure", 2.0),
        ("cuda.mps_client_terminated", 2.0),
        ("nvml.insufficient_resources", 2.0),
        ("kernel.xid", 2.6, "Xid {xid}: a command did not finish in time; this happens when others keep the GPU busy", xid(8)),
    ),
    first=by_slice,
    ladder=shared_out,
    remedies=(
        *TDR,
        meant("A virtual GPU: profiles that end in A (applications) or B have no CUDA: give the machine one that ends in Q or C, in its hypervisor",
              said="nvidia.prohibited", more=True),
        meant("Otherwise: allow programs on the card again, as an administrator", "sudo nvidia-smi -c DEFAULT", said="nvidia.prohibited", root=True, more=True),
        meant("Check which pods hold the GPUs; end them, or wait", "kubectl describe nodes | grep -e ^Name -e nvidia.com/gpu", said="container.k8s", safe=True, look=True),
        meant("Allow several programs on the card again, as an administrator: its mode lets one in (E. Process), or none",
              "sudo nvidia-smi -c DEFAULT", said="cuda.device_unavailable cuda.devices title.", root=True, unless="kubernetes"),
        meant("Or end the program that holds the card: an earlier run, a notebook's kernel",
              "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", said="cuda.device_unavailable cuda.devices title."),
        meant("Check the compute mode, and which process uses the GPU", "nvidia-smi -q -d COMPUTE,PIDS", safe=True, look=True),
    ),
    admitted_by=(*NO_GPU, *NO_ANSWER, *NO_DRIVER, *NO_MEMORY),
)  # fmt: skip

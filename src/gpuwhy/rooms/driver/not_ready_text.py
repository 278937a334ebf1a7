"""driver.not_ready in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.messages import NO_ANSWER, NO_DRIVER, NO_GPU
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.common import SAID_TO_FAIL, nothing_else
from gpuwhy.rooms.text.conditions import field, with_
from gpuwhy.rooms.text.driver_ways import uvm_again
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import CDI
from gpuwhy.rooms.text.room import Text

_UNSEEN = with_(
    "cuda.unknown", "cuda.launch", "cuda.not_init", "torch.unknown", "nvidia.", "nvml.", "cuda.no_device", "torch.no_", "title.gpu_unseen", "torch.unavailable"
)  # fmt: skip

TEXT = Text(
    "driver.not_ready",
    signatures=(
        error("remark.mig_pending",
              r"\bmig mode is in pending|\bmig\b[^\n]{0,50}\bpending\b|\bpending ?: ?(?:en|dis)abled\b", "pending",
              covers=("nvidia.", "title.", "device.", "said.busy")),
        error("remark.not_yet", r"\bfabric[- ]?manager(?:\.service)?\b[^\n]{0,40}\b(?:disabled|inactive|dead"
              r"|not (?:yet )?(?:running|started|active|installed|enabled|up)|failed|stopped|masked)\b"
              r"|\bdriver[- ](?:installer|daemonset|container"
              r"|pod)\b[^\n]{0,60}(?:not (?:yet )?(?:finished|ready|done|completed?)|\bstill\b|init:\d"
              r"|has(?:n't| not)|\b0/1\b)"
              r"|\bbefore the (?:nvidia |gpu )?driver\b[^\n]{0,40}\b(?:finished|ready|installed|loaded)\b"
              r"|\bnvidia-persistenced\b[^\n]{0,20}\bstill starting"
              r"|\bright after (?:the )?(?:node |machine |host |system |server |vm )?(?:re)?(?:boots?"
              r"|starts?)\b[^\n]{0,60}(?:later|minutes?)|\bfails? with (?:error |code )?802\b"
              r"|\b(?:init failure|initialization error): 3\b",
              "fabric", "driver installer", "driver-installer", "driver daemonset", "driver-daemonset",
              "driver container", "driver-container", "driver pod", "before the", "persistenced", "right after",
              " with 802", "error 802", "code 802", "init failure", "initialization error", covers=("title.",
                  "cuda.not_initialized", "cuda.initialization")),
        error("nvidia.no_slices", r"no mig devices associated with|migenabled=true was not configured", "no mig devices associated", "migenabled=true"),
        error("kernel.suspend", r"(?:after|from) (?:suspend|sleep|hibernat\w+|resume|waking)|suspend/resume|nvidia[-_]uvm[^\n]*(?:fail|error|unload|reload)",
              "suspend", "sleep", "hibernat", "nvidia_uvm", "nvidia-uvm"),
        error("nvidia.fabric",
              r"(?:fabric[ -]?manager|nvswitch|fabric)[^\n]*(?:fail|not |error|inactive|dead|stop|in progress|n't"
              r"|restart|start)|^\s*(?:fabric )?state\s*: in progress", "fabricmanager", "in progress",
              "fabric manager",
              "fabric-manager", "nvswitch", "fabric state"),
        error("nvidia.fabric_version", r"fabric manager[^\n]*(?:don'?t|doesn'?t|not) match", "fabric manager", covers=("nvidia.fabric",)),
    ),
    clues=(
        ("remark.mig_pending", 4.6, "a change of MIG mode is pending until the GPU is reset"),
        ("nvidia.no_slices", 4.6, "MIG is on, and no slice of the card was made"),
        ("remark.not_yet", 4.4, "a service of the driver had not come up when the program asked"),
        ("cuda.system_not_ready", 4.8, "the system is not yet initialised (error 802): the fabric manager is not up"),
        ("cuda.fabric_not_ready", 4.8, "the GPU fabric is not ready (error 919)"),
        ("nvidia.fabric", 3.6, "the fabric manager is in play"),
        ("nvidia.fabric_version", 4.4, "the fabric manager is of another version than the driver"),
        ("nvml.not_ready", 3.6, "NVML says that the system is not ready"),
        ("nccl.nvls", 2.9, "NVLink SHARP could not be set up; this happens after a restart of the fabric manager"),
        ("torch.unknown_init", 2.9, "CUDA answers with an unknown error at its start; this happens after suspend and resume"),
        ("cuda.unknown", 2.7, "CUDA answers with an unknown error (999); this happens after suspend and resume"),
        ("kernel.suspend", 3.0, "the machine slept, or nvidia_uvm was reloaded", with_("cuda.", "torch.", "nvidia.", "tf.", "llama.", "cudnn.", "title.")),
        ("llama.init", 2.8, "the GPU could not be initialised: unknown error", field("what", "unknown")),
        ("torch.driver_init", 2.0, "the CUDA driver did not initialise"),
        ("cuda.not_initialized", 2.0, "the driver did not initialise (error 3)"),
        ("nvidia.mig", 2.2, "a MIG change is pending"),
        ("nvidia.persistence", 1.6, "nvidia-persistenced is not up"),
        ("title.804", 3.0, "802 is the number of a system that is not ready", field("digit", "2")),
        ("nvidia.reset_required", 2.4, "the GPU needs a reset"),
        ("kernel.adapter", 1.9, "the NVIDIA module could not start the card"),
        ("nvidia.no_devices", 1.2, "the driver is loaded, but finds no GPU"),
        ("cuda.mps_server_not_ready", 2.6, "the MPS server is not ready (error 807)"),
        ("cuda.mps_connection_failed", 2.4, "the MPS server does not answer (error 805)"),
        ("nvidia.mps", 1.6, "MPS is in play"),
        ("title.sleep", 2.4, "it comes after the machine slept"),
        ("told.after_reboot", 1.2, "a restart of the machine cures it", _UNSEEN),
        ("title.trouble", 0.2, SAID_TO_FAIL, nothing_else),
        ("cuda.startup_failure", 2.0),
        ("nvml.invalid_state", 2.0),
    ),
    first=uvm_again,
    remedies=(
        meant(on.in_windows("install NVIDIA's newest driver for the card (nvidia.com/drivers), as a clean installation, then restart the computer wholly, not by Shut down, which keeps the driver's state (Fast Startup)"),
              on.cmd("shutdown /r /t 0"), said="cuda.unknown torch.unknown", reboot=True),
        meant(on.in_windows("in a notebook or an editor: let CUDA be the first that is asked, before anything else opens the card, in a new kernel"),
              on.code("import torch; torch.cuda.current_device()"), said="cuda.unknown torch.unknown"),
        meant("Load the uvm module anew, with no program on the GPU, and create its device files", on.host("sudo rmmod nvidia_uvm; sudo nvidia-modprobe -c 0 -u"),
              said="cuda.unknown torch.unknown", root=True),
        meant("A container: pass /dev/nvidia-uvm to it, once it is there on the host", on.linux("docker run --gpus all --device=/dev/nvidia-uvm --device=/dev/nvidia-uvm-tools IMAGE"),
              said="cuda.unknown torch.unknown"),
        meant("NVSwitch machines: install and start the fabric manager; its version must be exactly the driver's", on.host("sudo systemctl enable --now nvidia-fabricmanager"),
              said="cuda. torch. llama. kernel. nvidia. title.", line=r"802|not yet initiali[sz]ed|SystemNotReady|fabric",
              root=True),
        meant("Or, where it is not installed: the one of the driver's branch", on.host("sudo apt install nvidia-fabricmanager-$(cut -d. -f1 /sys/module/nvidia/version) && sudo systemctl enable --now nvidia-fabricmanager"),
              said="cuda. torch. llama. kernel. nvidia. title.", line=r"802|not yet initiali[sz]ed|SystemNotReady|fabric",
              root=True),
        meant("Carry out the change of MIG mode that is pending: with no program on the GPU (a node: drained; fabric manager and the operator's pods that hold it stopped) reset the GPU, or restart the machine",
              on.host("sudo nvidia-smi --gpu-reset    # all GPUs of an NVSwitch machine at once; else: sudo reboot"),
              said="remark.mig_pending nvidia.mig", root=True),
        meant("Then make the instances, where MIG is meant to be on; or switch it off and reset again", on.host("sudo nvidia-smi mig -cgi 9,9 -C    # profiles: nvidia-smi mig -lgip; off: sudo nvidia-smi -mig 0"),
              said="remark.mig_pending nvidia.mig", root=True),
        meant("After suspend: reload the uvm module", on.host("sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm"), root=True),
        meant("In a container: describe the GPUs for CDI anew, as after each update of the driver, then make the container again",
              CDI, by="docker podman container compose", root=True),
        meant("NVSwitch machines: start the fabric manager; its version must be exactly the driver's", on.host("sudo systemctl enable --now nvidia-fabricmanager"), root=True),
    ),
    admitted_by=(*NO_GPU, *NO_ANSWER, *NO_DRIVER),
)  # fmt: skip

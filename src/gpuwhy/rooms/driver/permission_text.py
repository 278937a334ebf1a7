"""driver.permission in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.messages import NO_ANSWER, NO_DRIVER, NO_GPU
from gpuwhy.model import on
from gpuwhy.model.signature import error, told
from gpuwhy.rooms.text.common import SAID_TO_FAIL, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, asks, field, in_container, line, whole, with_
from gpuwhy.rooms.text.driver_ways import after_sleep, may_open
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text

_HAD_IT = r"\b(?:it |this )?(?:had )?worked (?:for|fine|until|at first|before|yesterday|well)|\bafter (?:a while|some (?:time|hours|days)|a few \w+|\d+ (?:hours|days))|\b(?:suddenly|vanish\w*|disappear\w*|loses? (?:the )?(?:access|gpus?))\b"

TEXT = Text(
    "driver.permission",
    signatures=(
        told("remark.reload", r"\bsystemctl daemon-reload\b", "daemon-reload"),
        error("nvidia.denied", r"/dev/nvidia[\w-]{0,12}\W{0,3}(?: \w{1,12}){0,3} denied\b"
              r"|\bavc: +denied\b[^\n]{0,300}(?:/dev/nvidia|xserver_misc_device|comm=\S{0,40}nvidia)"
              r"|\bdenied\b[^\n]{0,60}/dev/nvidia"
              r"|\bdevices?\b[^\n]{0,30}/dev/nvidia\S{0,8} (?:is )?(?:not allowed|blocked|forbidden)", "denied",
              "not allowed", "blocked", "forbidden", covers=("title.", "limit.closed", "python.")),
        error("nvidia.nvmap", r"nvrm\w{2,30} (?:failed )?(?:with )?permission denied"
              r"|/dev/(?:nvmap|nvhost-[\w-]{2,20})\W{0,3}(?: \w{1,12}){0,3} denied\b", "nvrm", "/dev/nv", covers=("title.",
            "julia.", "limit.closed", "cuda.")),
        error("nvidia.uvm", r"could not insert '?nvidia[\w-]*'?: (?:operation not permitted|permission denied)"
              r"|nvidia-uvm\b(?: (?:device )?(?:node|file))?[^\n]{0,12}(?:missing|does not exist|doesn't exist"
              r"|not (?:there|present))|(?:works?|fixe[sd]|helps?)\b[^\n]{0,30}nvidia-modprobe"
              r"|nvidia-modprobe[^\n]{0,30}\b(?:works?|fixe[sd]|helps?)\b", "could not insert", "nvidia-uvm",
              "nvidia-modprobe", covers=("kernel.module_missing", "nvidia.node_missing", "title.")),
        error("nvidia.node_closed", r"/dev/nvidia[\w-]*[^\n]{0,30}(?:crw-(?:rw|--)----|\bmode 0?6[06]0\b|\b0?6[06]0 root)", "/dev/nvidia", covers=("title.",)),
        error("nvidia.counters", r"cupti_error_insufficient_privileges|err_nvgpuctrperm|cupti_error_virtualized_device_insufficient\w*"
              r"|permission to access (?:the )?nvidia gpu performance counters|performance counters[^\n]{0,60}(?:permission|restricted|admin)",
              "insufficient_privileges", "nvgpuctrperm", "performance counters", covers=("harmless.cupti", "build.", "title.")),
        error("nvidia.dcgm_root",
              r"host engine is running as non-root|sufficient privileges to expose profiling metrics",
              "running as non-root", "expose profiling metrics", covers=("title.",)),
        error("nvidia.mig_monitor", r"error visiting device[^\n]*insufficient pe\w{3,6}ssions?", "error visiting device", covers=("title.",)),
        error("nvidia.nvml_permission", r"nvml[^\n]*insufficient permissions", "insufficient permissions"),
        error("nvidia.node_mode", r"^c(?P<mode>[rw-]{8,9}[-.+]?)\s+\d+ (?P<owner>\w+) +(?P<group>\w+)[^\n]*/dev/(?P<node>nvidia[\w-]*)", "/dev/nvidia"),
        error("nvidia.node_denied", r"/dev/nvidia[\w-]*[^\n]*(?:permission denied|operation not permitted|input/output error)"
              r"|(?:permission denied|operation not permitted)[^\n]*/dev/nvidia|failed to open device /dev/nvidia"
              r"|device files (?:are )?not accessible"
              r"|not in (?:the )?(?:group (?:video|render)|(?:video|render) group)", "/dev/nvidia", "device files",
              "not in group", "not in the group", "video group", "render group"),
    ),
    clues=(
        ("remark.reload", 4.6, "systemctl daemon-reload takes the device files from a running container", with_("nvidia.", "nvml.")),
        ("nvidia.no_instance", 2.4, "MIG is on, and no instance is shown, as to who lacks its nodes below /dev/nvidia-caps", with_(*NO_GPU)),
        ("nvidia.denied", 4.6, "opening the device file is denied: by a cgroup, SELinux or the file's rights"),
        ("nvidia.nvmap", 5.4, "the board's memory device may be opened by the group video only"),
        ("nvidia.uvm", 5.2, "/dev/nvidia-uvm is not there, or its module may not be loaded by this user"),
        ("nvidia.node_closed", 5.0, "the device files are open to root only"),
        ("remark.root", 4.6, "root can, and others cannot", with_("nvidia.", "nvml.", "cuda.", "torch.", "title.", "container.", "tf.")),
        ("cuda.unknown", 3.4, "CUDA answers with an unknown error in a container that was given the GPU", all_of(in_container,
            with_("container.gpus_flag", "title.smi_works", "told.smi"))),
        ("title.root_only", 3.4, "it works for root only"),
        ("told.sudo", 2.4, "it works for root only", with_("cuda.", "tf.", "torch.", "nvidia.", "nvml.", "title.")),
        ("nvidia.counters", 4.8, "the driver lets only administrators read the GPU's performance counters"),
        ("nvidia.dcgm_root", 4.6, "DCGM may not read the profiling counters"),
        ("nvidia.mig_monitor", 4.8, "the plug-in may not ask a card with MIG for its slices"),
        ("nvidia.nvml_permission", 4.8, "NVML is denied access to the device files"),
        ("nvml.no_permission", 4.6, "NVML is denied access to the device files"),
        ("container.denied", 4.8, "the container toolkit is denied access"),
        ("nvidia.query_files", 2.6, "the device files may not be opened"),
        ("nvidia.node_denied", 4.8, "the device files may not be opened"),
        ("nvidia.node_mode", 3.8, "/dev/{node} is open to {owner} and group {group} only", field("mode", r"rw-rw----|rw-------|r\S+----")),
        ("nvidia.node_missing", 3.0, "device files are missing"),
        ("nvidia.nvml_unknown", 6.4, "the container lost the device that it had: this happens when systemd is reloaded on the host", whole(_HAD_IT)),
        ("nvidia.nvml_unknown", 3.4, "NVML fails with an unknown error; this happens when the cgroup no longer allows the device"),
        ("nvml.unknown", 2.0, "NVML fails with an unknown error"),
        ("cuda.not_permitted", 2.4, "an operation is not permitted (error 800)"),
        ("cuda.operating_system", 3.0, "a call of the driver into the system failed (error 304)"),
        ("cuda.unknown", 2.6, "CUDA answers with an unknown error (999); this happens when /dev/nvidia-uvm cannot be opened"),
        ("torch.unknown_init", 3.0, "CUDA answers with an unknown error at its start; this happens when /dev/nvidia-uvm cannot be opened"),
        ("container.cgroup", 2.8, "the cgroup rules for the device could not be set"),
        ("cuda.no_device", 1.2, "CUDA finds no GPU (error 100)"),
        ("torch.no_gpus", 1.2, "PyTorch sees no GPU"),
        ("loader.no_permission", 3.0, "{library} may not be read", asks("driver")),
        ("nvidia.nvml_blocked", 2.2, "access to the GPU is blocked"),
        ("nvml.operating_system", 2.4, "the system blocks NVML"),
        ("title.trouble", 2.0, "access is lost", all_of(nothing_else, line(r"los(?:e|ing|t)[^\n]{0,20}access"))),
        ("told.as_root", 2.8, "root can, and others cannot", with_("nvidia.", "nvml.", "cuda.", "torch.", "title.", "container.", "tf.")),
        ("title.trouble", 1.9, "access is denied", said_of(r"permission|denied|accessible")),
        ("title.trouble", 0.1, SAID_TO_FAIL, nothing_else),
    ),
    first=after_sleep,
    ladder=may_open,
    remedies=(
        meant("Start the container again: it lost the device when systemd was reloaded on the host, or when a kubelet with the CPU manager's policy static changed its cgroup",
              "docker restart CONTAINER", said="nvidia.nvml_unknown", unless="kubernetes"),
        meant("Permanently: pass the device files by name; or, on the host, set \"exec-opts\": [\"native.cgroupdriver=cgroupfs\"] in docker's daemon.json; or use CDI of a newer container toolkit",
              on.linux("docker run --gpus all --device=/dev/nvidia0 --device=/dev/nvidiactl --device=/dev/nvidia-uvm --device=/dev/nvidia-uvm-tools IMAGE"),
              said="nvidia.nvml_unknown", unless="kubernetes"),
        meant("Kubernetes: start the pod again: its cgroup lost the device, as when systemd is reloaded on the node or the CPU manager (policy static) changes it; permanently: the device plug-in with PASS_DEVICE_SPECS=true",
              "kubectl delete pod POD", said="nvidia.nvml_unknown", by="kubernetes"),
        meant("Permanently, on the node: make links in /dev/char, by which runc finds the device files", on.linux("sudo nvidia-ctk system create-dev-char-symlinks --create-all"),
              said="nvidia.nvml_unknown", root=True),
        meant("Outside a container: check who may open the device files", on.linux("ls -l /dev/nvidia*"), said="nvidia.nvml_unknown",
              safe=True, unless="kubernetes docker container"),
        meant("Let everybody read the performance counters, then restart; or profile as root", on.host("echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf && sudo update-initramfs -u"),
              said="nvidia.counters", root=True, reboot=True),
        meant("In a container: start it with the capability that profiling needs", on.linux("docker run --gpus all --cap-add=SYS_ADMIN IMAGE"), said="nvidia.counters"),
        meant("Check who may open the device files", on.linux("ls -l /dev/nvidia*"), safe=True, look=True),
        meant("Create them and load the uvm module", on.host("sudo nvidia-modprobe -u -c=0"), root=True),
        meant("A container that lost the device after a systemd reload: start it again, with --device for each /dev/nvidia* file"),
    ),
    admitted_by=(*NO_GPU, *NO_ANSWER, *NO_DRIVER),
)  # fmt: skip

"""Box launched: the user's own command, or the file of whatever runs it for them, with what it lacks: workflows, devices passed by hand, options that take the GPU away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.boxes import rooted, worded
from gpuwhy.rooms.text.shown import commands
from gpuwhy.rooms.text.told_names import image_of
from gpuwhy.rooms.text.ways import tried

Ways = Iterator[Fix]


def by_a_workflow(case: Asked) -> Ways:
    """Nextflow and Snakemake start the containers: the option belongs into their configuration."""
    tool = next((one for one in ("apptainer", "singularity", "docker", "podman") if one in case.text.lower()), "singularity")  # fmt: skip
    option = "--nv" if tool in ("apptainer", "singularity") else "--gpus all" if tool == "docker" else "--device nvidia.com/gpu=all"  # fmt: skip
    slurm = re.search(r"slurm|sbatch|srun", case.text, re.IGNORECASE)
    if re.search(r"\bsnakemake\b", case.text, re.IGNORECASE):
        yield tried("Snakemake starts the container: hand it the option, and the rule a GPU", on.linux(f"snakemake --use-singularity --singularity-args '{option}'    # from 8 on: --sdm apptainer --apptainer-args; in the rule: resources: gpu=1"))  # fmt: skip
        return
    batch = "\nprocess { withLabel: gpu { clusterOptions = '--gres=gpu:1' } }" if slurm else ""
    yield tried("Nextflow starts the container: put the option into a configuration of your own, and run with -c (the process itself needs a node with a GPU)", on.code(f"{tool}.enabled = true\n{tool}.runOptions = '{option}'{batch}    // in gpu.config"))  # fmt: skip
    yield tried("Then the same run with it", on.linux("nextflow run PIPELINE -c gpu.config -resume"))


_BY_HAND = worded(r"docker run [^\n]*--device[= ]/dev/nvidia")
_DEVICES = re.compile(r"\s--device[= ]/dev/nvidia[\w-]*(?::\S+)?")


def devices_by_hand(case: Asked) -> Ways:
    """Device files alone bring no libraries of the driver."""
    found = _BY_HAND.search(case.text)
    if found and not re.search(r"docker run [^\n]*--(?:gpus|runtime)", case.text):
        options, image = image_of(case.text)
        kept = _DEVICES.sub("", " " + " ".join(options)).strip()
        own = f"docker run --gpus all {kept} {image or 'IMAGE'}".replace("  ", " ")
        yield tried("The device files alone bring none of the driver's libraries into the container: pass the GPU by NVIDIA's toolkit, in their place", on.linux(own))  # fmt: skip
        yield rooted("Where docker answers that it cannot select a device driver: register the toolkit's runtime first", on.engine("sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"))  # fmt: skip


_CONTAINED = re.compile(r"^((?:singularity|apptainer) (?:exec|run|shell)\b(?:(?!\.sif\b|\.s?img\b|://).)*?)(?<!python)(?<!python3)(?<!bash)(?<!\bsh)\s(?:-c|-C|--contain|--containall)(?=\s)(.*)$")  # fmt: skip
"""Options of the container stand before the image: what comes behind it is the program's own."""


def contained(case: Asked) -> Ways:
    """--contain makes a /dev of its own, without the GPU's files."""
    found = next((one for ran in commands(case.text) if (one := _CONTAINED.match(ran.command)) and "--nv" in ran.command), None)  # fmt: skip
    if found:
        yield tried("The option that contains the container gives it a /dev of its own, without the GPU's files: leave it out; or keep it, and bind the files in", on.linux(f"{found[1]} -c --bind /dev{found[2]}"))  # fmt: skip


_BOOT = worded(r"after (?:each|every|a|the|re)?-?\s?(?:re)?boot|on (?:re)?boot|at (?:boot|start-?up)")


def before_the_driver(case: Asked) -> Ways:
    """Containers that docker starts at boot, before the driver is there."""
    if _BOOT.search(case.text):
        unit = "[Unit]\\nAfter=nvidia-persistenced.service\\nWants=nvidia-persistenced.service\\n[Service]\\nExecStartPre=-/usr/bin/nvidia-smi\\n"  # fmt: skip
        yield rooted("Let docker start after the driver at boot: the containers came up before it was loaded", on.host(f"sudo systemctl enable --now nvidia-persistenced\nsudo mkdir -p /etc/systemd/system/docker.service.d && printf '{unit}' | sudo tee /etc/systemd/system/docker.service.d/nvidia.conf\nsudo systemctl daemon-reload && sudo systemctl restart docker"))  # fmt: skip


_NGC = worded(r"nvcr\.io/nvidia/(?:tritonserver|pytorch|tensorflow|tensorrt|cuda|jax)\S*")


def of_a_board(case: Asked) -> Ways:
    """NVIDIA's images for servers and those for a board's GPU have the same name and another end."""
    image = image_of(case.text)[1] or next((one[0] for one in [_NGC.search(case.text)] if one), "")
    if "jetson" in case.tools and _NGC.match(image) and re.search(r":\d\d\.\d\d-\S*py3$", image):
        yield tried(f"{image} is the image for servers: a Jetson's GPU has its own, of the same month, whose tag ends in -igpu (from 23.06 on)", on.engine(f"sudo docker run --runtime nvidia -it --rm {image}-igpu"))  # fmt: skip


def of_the_operator(case: Asked) -> Ways:
    """The GPU operator looks for a driver of its own, and the nodes have theirs."""
    if re.search(r"gpu-operator|nvidia-operator-validator|clusterpolic", case.text):
        yield tried("The nodes have the driver themselves, and the operator's toolkit looks for one of its own below /run/nvidia/driver: tell the operator, and have its pods made anew", on.linux("helm upgrade gpu-operator nvidia/gpu-operator -n gpu-operator --reuse-values --set driver.enabled=false\nkubectl -n gpu-operator delete pod -l app=nvidia-container-toolkit-daemonset\nkubectl -n gpu-operator delete pod -l app=nvidia-operator-validator"))  # fmt: skip

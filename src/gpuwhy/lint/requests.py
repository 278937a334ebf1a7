"""Requests: how each kind of file asks for a GPU, and which values of variables hide them."""

from __future__ import annotations

from gpuwhy.knowledge import containers
from gpuwhy.knowledge.tables import source

ASK = {
    "compose": "add gpus: all, or reserve a device: {driver: nvidia, count: 1, capabilities: [gpu]}",
    "kubernetes": "add resources.limits: {nvidia.com/gpu: 1}",
    "script": "add --gpus all after docker run",
    "slurm": "add #SBATCH --gres=gpu:1 (or --gpus=1)",
    "workflow": "take a runner with a GPU",
    "sagemaker": "choose an instance with a GPU (ml.g5.xlarge …), or the image for the CPU",
    "devcontainer": 'add "runArgs": ["--gpus", "all"], or "hostRequirements": {"gpu": "optional"}',
}


KNOW = {
    "compose": containers.REQUEST,
    "kubernetes": containers.PLUGIN,
    "slurm": source("Slurm, generic resource scheduling", "a job gets the GPUs that it asks for, and no others"),
    "workflow": source("GitHub Actions, runners", "the standard runners have no GPU"),
    "sagemaker": containers.AWS,
    "devcontainer": containers.REQUEST,
    "script": containers.REQUEST,
}


HIDDEN = ("", "-1", "none", "void", "NoDevFiles")

"""The options that choose a machine and an environment to look at."""

from __future__ import annotations

import argparse


def add_target(parser: argparse.ArgumentParser) -> None:
    """The options that choose what is looked at."""
    parser.add_argument(
        "--python", default="", metavar="PATH", help="the Python, or environment folder, under diagnosis"
    )
    parser.add_argument(
        "--verify", action="store_true", help="check the installed CUDA libraries for damage (hashes; slow)"
    )
    parser.add_argument(
        "--probe", action="store_true", help="really use the GPU: each step from the driver to a convolution"
    )
    parser.add_argument(
        "--gentle", action="store_true", help="like --probe, but allocate no GPU memory and create no CUDA context"
    )


def add_imports(parser: argparse.ArgumentParser) -> None:
    """The options that run code of the environment: nothing of it is run without them."""
    parser.add_argument(
        "--import",
        dest="imports",
        action="store_true",
        help="start the environment's Python and import its packages, in child processes (takes as long as they do)",
    )
    parser.add_argument(
        "--deep", action="store_true", help="--import and --verify, and try packages and hash small files too (slow)"
    )
    parser.add_argument("--no-import", action="store_true", help=argparse.SUPPRESS)  # once an option, now the default


def add_elsewhere(parser: argparse.ArgumentParser) -> None:
    """The options that describe another machine to judge by."""
    parser.add_argument("--gpu", action="append", default=[], metavar="G", help="judge as on a machine with this GPU")
    parser.add_argument("--driver", default="", metavar="V", help="judge as with this driver: 535, 550.54.15")
    parser.add_argument(
        "--gpu-memory", type=float, default=0.0, metavar="GIB", help="judge as with this much GPU memory"
    )
    parser.add_argument("--like", default="", metavar="FILE", help="judge as on the machine of a recording")

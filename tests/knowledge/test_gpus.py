"""GPUs by id and by name: the tables agree with each other, and names are found as people write them."""

from itertools import pairwise

import pytest

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.gpus import CapabilityTable, PciTable, by_name, by_pci, segment, table
from gpuwhy.knowledge.tables import load

PCI = load("pci_ids.json", PciTable)
LISTED = load("capabilities.json", CapabilityTable)


def test_blocks_of_ids_are_sorted_and_apart():
    for left, right in pairwise(table().chips):
        assert left.first <= left.last < right.first
    assert all(archs.of(chip.capability) for chip in table().chips)


def test_every_listed_id_has_a_capability_and_a_source():
    for row in map(by_pci, map(str.lower, PCI.names)):
        assert row.capability
        assert (row.source.kind, bool(row.source.where)) == ("know", True)


def test_names_of_both_tables_agree():
    """NVIDIA's capability list, and the chip that the PCI id of the same name belongs to."""
    by_name_of_board = {name: i for i, name in PCI.names.items()} | PCI.other_names
    both = [(n, c) for c, names in LISTED.names.items() for n in names if n in by_name_of_board]
    assert len(both) > 30
    for name, capability in both:
        assert by_pci(by_name_of_board[name]).capability == capability, name


@pytest.mark.parametrize(
    "device_id, capability, part",
    [
        ("2335", "9.0", "H200"), ("2684", "8.9", "RTX 4090"), ("2B85", "12.0", "RTX 5090"), ("1eb8", "7.5", "Tesla T4"),
        ("20B2", "8.0", "A100"), ("1b06", "6.1", "GP102"), ("15F8", "6.0", "GP100"), ("1db6", "7.0", "GV100"),
        ("102D", "3.7", "GK210"), ("0x13C2", "5.2", "GM204"), ("2e12", "12.1", "GB10"),
        ("ffff", None, ""), ("", None, ""), ("12345", None, ""), ("xyz1", None, ""), ("0008", None, ""),
    ],
)  # fmt: skip
def test_by_pci(device_id, capability, part):
    row = by_pci(device_id)
    assert (row.capability if row else None) == capability
    assert part in (row.name if row else "")


@pytest.mark.parametrize(
    "name, capability",
    [
        ("NVIDIA GeForce RTX 4090", "8.9"), ("RTX 4090", "8.9"), ("GTX 1080 Ti", "6.1"), ("gtx 1050ti", "6.1"),
        ("NVIDIA GeForce RTX 3070 Laptop GPU", "8.6"), ("GeForce RTX 2070 with Max-Q Design", "7.5"),
        ("GeForce RTX 3050 A Laptop GPU", "8.9"), ("Tesla V100-SXM2-16GB", "7.0"), ("Tesla P100-PCIE-16GB", "6.0"),
        ("NVIDIA A100-SXM4-80GB", "8.0"), ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "8.0"), ("GRID T4-16Q", "7.5"),
        ("NVIDIA H100 80GB HBM3", "9.0"), ("Quadro RTX 5000", "7.5"), ("RTX 5000", "7.5"), ("RTX A5000", "8.6"),
        ("NVIDIA RTX 5000 Ada Generation", "8.9"), ("NVIDIA TITAN X (Pascal)", "6.1"), ("GeForce GTX TITAN X", "5.2"),
        ("Tesla K80", "3.7"), ("Tesla K40c", "3.5"), ("NVIDIA GB10", "12.1"), ("NVIDIA B300 SXM6 AC", "10.3"),
        ("", None), ("NVIDIA", None), ("Radeon RX 580", None), ("GeForce", None), ("RTX", None), ("80GB", None),
    ],
)  # fmt: skip
def test_by_name(name, capability):
    row = by_name(name)
    assert (row.capability if row else None) == capability


@pytest.mark.parametrize(
    "name, market",
    [
        ("NVIDIA GeForce RTX 3090", "consumer"), ("RTX 4090", "consumer"), ("NVIDIA TITAN V", "consumer"),
        ("NVIDIA H200", "data center"), ("Tesla T4", "data center"), ("NVIDIA A100-SXM4-80GB", "data center"),
        ("NVIDIA GB200", "data center"), ("NVIDIA L40S", "data center"), ("NVIDIA A10G", "data center"),
        ("NVIDIA RTX A6000", "workstation"), ("Quadro RTX 8000", "workstation"), ("Quadro P2000", "workstation"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "workstation"), ("Jetson AGX Orin", "embedded"),
        ("NVIDIA Pascal GPU (GP102)", None), ("Graphics Device", None),
    ],
)  # fmt: skip
def test_segment(name, market):
    assert segment(name) == market

"""A damaged header of the other class is skipped, as glibc does: the class is looked at before the rest."""

from gpuwhy.formats.elf import read_elf


def test_class_before_version():
    header = (
        b"\x7fELF"
        + bytes([1, 1, 1])
        + bytes(9)
        + (3).to_bytes(2, "little")
        + (3).to_bytes(2, "little")
        + bytes(4)
        + bytes(28)
        + bytes(64)
    )
    elf = read_elf(lambda offset, size: header[offset : offset + size], len(header))
    assert elf.bits == 32
    assert elf.refused == "of ELF version 0"

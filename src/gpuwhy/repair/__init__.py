"""Repair: carries out a fix in the target environment; the only part of gpuwhy that changes anything."""

"""Causes of the cudnn layer."""

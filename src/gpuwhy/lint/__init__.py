"""Lint: texts of installation, container and job files in, GPU mistakes with their lines out; pure, opens no file."""

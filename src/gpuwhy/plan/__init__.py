"""Which releases to install: requirements and a described machine read, the choice printed."""

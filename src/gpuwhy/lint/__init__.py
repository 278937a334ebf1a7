"""`lint`: GPU mistakes in files that describe an installation or a container, before they run."""

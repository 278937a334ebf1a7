"""The harvester's parts, on files and servers made for the purpose; nothing here leaves the machine."""

"""Scripts that run in processes of their own, started by machine/live.py, sandbox.py and run/.

They import the standard library and each other only; what may die or hang is named before.
"""

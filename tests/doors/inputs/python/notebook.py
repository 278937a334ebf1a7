"""%load_ext gpuwhy, %%gpuwhy on a cell that fails, %gpuwhy on and off."""

from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="NoColor")
shell.run_line_magic("load_ext", "gpuwhy")
print(sorted(kind for kind, magics in shell.magics_manager.magics.items() if "gpuwhy" in magics))
shell.run_cell("%%gpuwhy\nraise RuntimeError('CUDA error: device-side assert triggered')")
shell.run_cell("%gpuwhy on")
shell.run_cell("{}['lr']")
shell.run_cell("%gpuwhy off")
shell.run_cell("%gpuwhy nonsense")

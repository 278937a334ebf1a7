"""Which releases go together on a machine: candidates with a verdict each, the newest that fits.

demand = Demand((Wanted("tensorflow"),), gpus=(Card("GTX 1080", "6.1"),), driver_version="550")
choice = choose(demand)
choice.pick("tensorflow").requirement  # tensorflow[and-cuda]==2.20.0
choice.why_not, choice.nearest  # where nothing fits: why, and the smallest change that helps
"""

"""The one seam to a machine: live, recording, recorded, root. Every read of the world goes through a `Host`."""

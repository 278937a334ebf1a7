"""What runs inside the user's own process: the guard, and the small tools that prevent the usual causes."""

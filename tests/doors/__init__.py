"""Every door of version 0, recorded: rows in calls/, what they read in inputs/, answers beside."""

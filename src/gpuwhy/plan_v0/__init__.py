"""Plan: which releases work together on a machine, and how to install them; pure, no file and no network."""

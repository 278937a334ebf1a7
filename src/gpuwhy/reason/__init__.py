"""Judge and rank: from facts and causes to a report. Pure functions of the model."""

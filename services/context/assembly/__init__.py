"""Assembly as functions of values: what a candidate is worth, what fits a budget. No I/O."""

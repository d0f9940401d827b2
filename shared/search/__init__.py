"""Search over one store's chunks (SQL) and the calibrated relevance over all stores (pure)."""

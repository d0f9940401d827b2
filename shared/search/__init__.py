"""Search over one store's chunks (SQL) and the calibrated relevance over all stores (pure).

A store joins with a `Source` (its tables, columns and predicates), a `Scope` for what its predicate compares with,
and a function that makes a `Candidate` of a row; `StoreSearch` does the rest.
"""

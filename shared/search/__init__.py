"""Search over one store's chunks (SQL), and one calibrated relevance for all stores (pure).

A store brings a `Source` (its tables, columns and predicates), a `Scope` (the value that its predicate compares with)
and a function that turns a row into a `Candidate`. `StoreSearch` does the rest.
"""

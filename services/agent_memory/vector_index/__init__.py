"""Which tenants' vectors are in the HNSW index."""

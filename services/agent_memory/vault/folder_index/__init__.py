"""Indexes the tenants' folders below VAULT_ROOT."""

"""The tenants' folders below VAULT_ROOT."""

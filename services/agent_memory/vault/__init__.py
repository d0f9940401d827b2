"""Files that agents link, read only from the tenant's folder."""

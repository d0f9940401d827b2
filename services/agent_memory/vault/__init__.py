"""Files that agents link: read from the tenant's folder and from nowhere else."""

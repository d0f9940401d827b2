"""What assemble costs beside its SQL."""

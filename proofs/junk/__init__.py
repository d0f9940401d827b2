"""No credit for junk."""

"""Where `remember` puts what is said."""

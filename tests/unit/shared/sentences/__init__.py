"""What rules read in sentences, without a model."""

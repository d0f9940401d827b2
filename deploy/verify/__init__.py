"""What can be known of the deployment files without an engine and without a cluster."""

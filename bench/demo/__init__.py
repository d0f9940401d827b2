"""An agent's transcript played into the cluster, and questions about it."""

"""A fleet of agents for two hours, with faults: nothing grows that should not."""

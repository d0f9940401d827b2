"""Calls to the services that own the stores: of agents, passed on as they come, and of this service."""

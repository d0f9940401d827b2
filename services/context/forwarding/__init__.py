"""Calls to the services that own the stores: agents' requests passed on, and this service's own."""

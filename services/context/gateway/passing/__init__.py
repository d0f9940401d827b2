"""Requests of hosts on their way to model providers, and the answers on their way back, in the bytes that came."""

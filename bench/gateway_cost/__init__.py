"""Plays long sessions through the gateway's plan, and bills them as providers bill cached input."""

"""Grafana's dashboards as code, and the proof that each of their queries and alerts works."""

"""Grafana's dashboards as code, and a check that every query and alert works."""

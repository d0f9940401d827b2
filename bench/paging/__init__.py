"""Plays agents' sessions through the paging of their context, and compares it with whole objects under LRU."""

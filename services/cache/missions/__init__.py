"""Missions: what each may hold, what it holds, and when its entries expire."""

"""A fake model, a fake Bot API, and a day of an agent among them."""

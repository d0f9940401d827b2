"""The one door: public routes of the owners, and the calls that the context service makes to them."""

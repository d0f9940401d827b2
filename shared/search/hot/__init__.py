"""Hot scopes: copies in memory that choose a search's candidates. Postgres still decides what is shown.

`search` is the way in, `scopes` holds the copies within their budget, `copies` brings one up to date, and `matching`
does in numpy what a store's search statement does.
"""

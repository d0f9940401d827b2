"""Hot scopes: copies in memory that choose a search's candidates. Postgres still decides what is shown.

`search` is the way in, `opening` and `scopes` hold the copies within their budget, `loading` reads one, `copies` brings
it up to date, and `matching` does in numpy what a store's search statement does. `guessing` tells it the question's
words before Postgres has read them.

A store takes part in three steps. Its chunks have the column `changed` (0261), which whoever updates a row in place
sets anew. `hot_forms` makes the statements from the store's `Source`. A `HotStore` of them goes to its `StoreSearch`:

    hot = HotStore(database, hot_scopes, STORE, hot_forms(SOURCE))
    search = StoreSearch(database, STORE, search_forms(SOURCE), candidate, hot=hot)

`Source.hidden` names the rows that `within` leaves out although `counted` counts them.
"""

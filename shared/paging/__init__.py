"""Pages of lists: what a page is, where it ends, and how a request asks for the next."""

"""Assembles a block of context: searches every store, ranks, packs and logs."""

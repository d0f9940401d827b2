"""The cache service owns missions with their entries (short-lived, mission-scoped working memory) and dispatches.

It promises that budgets hold exactly under concurrent writers, that expired entries never appear, and that search
finds an acknowledged entry by text at once, and by meaning as soon as it is embedded.
"""

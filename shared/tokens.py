"""The one estimate of tokens: characters / 4, rounded up, as in the seed documents."""

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)

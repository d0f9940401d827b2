"""Cuts the model of letters once, for every start of a service: `python -m shared.search.languages`."""

from shared.search.languages.detection import keep_detector

if __name__ == "__main__":
    keep_detector()

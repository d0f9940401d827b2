"""What each session was given, so that an answer brings only what is new, and what has changed since."""

"""What a command answers to the shell."""

DONE, IN_PART, WRONG, REFUSED, NOT_REACHED, INTERRUPTED = 0, 1, 2, 3, 4, 130

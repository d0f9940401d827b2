"""Questions about what a session holds, and its goal: both look for the objects that are about something."""

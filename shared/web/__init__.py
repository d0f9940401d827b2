"""HTTP: the app, admission, deadlines, strict bodies, problems."""

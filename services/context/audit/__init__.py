"""Lists what admins did. Every service adds to it, through `shared.database.audit`."""

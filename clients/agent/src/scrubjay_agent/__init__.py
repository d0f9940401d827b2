"""An agent whose whole state is in Scrubjay."""

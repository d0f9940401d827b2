"""What is put into missions: how it is made of entries, and what waits for a reviewer."""

"""What grows with the number of memories: time, processor time, disk and memory."""

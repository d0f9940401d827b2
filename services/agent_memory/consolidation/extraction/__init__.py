"""What turns teach: by rules of English, or with the helper model, whose answer is checked against the turns."""

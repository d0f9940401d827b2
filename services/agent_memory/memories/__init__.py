"""What each agent learned: commit without doubles, search, edit, transfer."""

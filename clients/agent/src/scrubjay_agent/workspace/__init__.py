"""The folder that files and shell commands are confined to."""

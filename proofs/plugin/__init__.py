"""The real Claude Code and Codex run with Scrubjay's hooks against a model that follows a script."""

"""How well assemble finds the steps of coding agents."""

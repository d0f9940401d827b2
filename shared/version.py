"""The version that every service reports. The project is not installed, so no package metadata has it."""

VERSION = "0.1.0"

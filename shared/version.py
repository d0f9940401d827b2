"""The version that every service reports. The project is not installed, so there is no metadata to read it from."""

VERSION = "0.1.0"

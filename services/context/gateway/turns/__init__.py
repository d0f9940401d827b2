"""A model's answer on its way to the host, without the calls and tags that are the gateway's own. Pure."""

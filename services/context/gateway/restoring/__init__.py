"""What the host never saw, put back into its next requests. Pure.

A model that asked for a text must find its call and the answer in the conversation, or it asks again. The provider's
cache holds them, too, and reasoning of OpenAI's must be followed by the call that it led to.
"""

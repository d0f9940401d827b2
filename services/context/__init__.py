"""The one address that agents know. It verifies keys, assembles context, and forwards to the owners.

It promises an answer within the deadline, that a source it could not use is named, and a record of why each
item was taken or dropped.
"""

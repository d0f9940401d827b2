"""The only address that agents need. It verifies keys, assembles context, and forwards requests to the owners.

It promises an answer within the deadline, which names every source it could not use, and a record of why each item
was taken or dropped.
"""

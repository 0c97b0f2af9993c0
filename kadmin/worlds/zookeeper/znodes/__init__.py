"""Znodes of a Kafka cluster, one module per area: path, encode, decode; pure.

Decoders raise MalformedZnodeError (a ValueError with path and reason); path functions raise
InvalidInputError for names that cannot be part of a path; encoders raise ValueError for values that
must never be written.
"""

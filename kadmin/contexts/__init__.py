"""Named clusters.

A context has addresses, credentials by reference, defaults and protection, with the source of each
value.
"""

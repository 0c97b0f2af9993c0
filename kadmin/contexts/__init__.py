"""Named clusters.

A context has addresses, credentials by reference, defaults, protection and signals, with the source
of each value.
"""

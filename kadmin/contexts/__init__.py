"""Named clusters: addresses, credentials by reference, defaults and protection; where each value comes from."""

"""Pure questions on what was read: what is wrong (`diagnosis`), what would happen (`predict`), rows (`tables`)."""

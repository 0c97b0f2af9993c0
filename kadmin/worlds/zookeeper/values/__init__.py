"""Operations on record and their lock, in znodes."""

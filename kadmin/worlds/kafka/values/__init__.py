"""Operations on record and their lock, in a topic or, without a right to one, in a folder."""

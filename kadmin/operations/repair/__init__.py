"""Operations that undo others."""

"""Executes plans: decide (pure), the loop, records, lock and fence."""

"""Proposes reassignment plans: one kernel, and two engines that run it, Spark and the local process."""

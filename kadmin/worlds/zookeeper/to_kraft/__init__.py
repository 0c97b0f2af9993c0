"""What is read, and carried over, from both sides of a cluster that migrates to KRaft."""

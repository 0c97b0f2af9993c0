"""What is wrong with the znodes of a cluster, and which versions it may run."""

"""What a plan or a loss would do."""

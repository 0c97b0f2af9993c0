"""Load over time: from samples to the load of each partition in each hour of the week."""

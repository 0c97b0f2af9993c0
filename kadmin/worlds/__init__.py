"""The two ways in which a cluster keeps its metadata, each behind the port of the operations room.

`zookeeper` reads and writes znodes, `kafka` asks brokers; `open` alone knows both.
"""

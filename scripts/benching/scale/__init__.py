"""How long answers take, and what grows with emitters, processes and types."""

BROKERS = {"nats": "NATS", "kafka": "Kafka"}

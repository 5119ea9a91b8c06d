"""What an event costs the program that emits it: `make bench-emitter`."""

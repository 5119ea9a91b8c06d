"""What two events per request cost memcached, a real program: `make bench-emitter`."""

#!/bin/sh
# Options alone are for the server.
case $1 in
  -*) exec nats-server "$@" ;;
  *) exec "$@" ;;
esac

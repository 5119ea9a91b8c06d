#!/bin/sh
# Usage: kafka-acls.sh BOOTSTRAP_SERVER PRINCIPAL [options of kafka-acls.sh, such as --command-config FILE]
#
# Least privilege of an emitter on Kafka: write batches by an idempotent producer, read activations. PRINCIPAL is for
# example User:emitter. Kafka's own kafka-acls.sh must be on the PATH or named by KAFKA_ACLS. The topics are those that
# lifeline-setup --prefix makes with the same PREFIX (default lifeline).
set -eu

if [ "$#" -lt 2 ] || [ "$1" = --help ]; then
  sed -n '2,6s/^# \{0,1\}//p' "$0"
  [ "${1-}" = --help ]
  exit
fi
server=$1 principal=$2 prefix=${PREFIX:-lifeline}
shift 2

allow() { "${KAFKA_ACLS:-kafka-acls.sh}" --bootstrap-server "$server" "$@"; }

# Write implies Describe. An idempotent producer needs nothing more since Kafka 3.0.
allow "$@" --add --allow-principal "$principal" --operation Write --topic "$prefix.batches"
allow "$@" --add --allow-principal "$principal" --operation Read --topic "$prefix.activations"

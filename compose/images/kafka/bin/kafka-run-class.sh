#!/usr/bin/env bash
# Runs a class of Kafka's. Under one of the names below it runs what Kafka's script of that name runs.
set -euo pipefail
case ${0##*/} in
  kafka-server-start.sh) set -- kafka.Kafka "$@" ;;
  kafka-storage.sh) set -- kafka.tools.StorageTool "$@" ;;
  kafka-topics.sh) set -- org.apache.kafka.tools.TopicCommand "$@" ;;
  kafka-configs.sh) set -- kafka.admin.ConfigCommand "$@" ;;
  kafka-console-producer.sh) set -- org.apache.kafka.tools.ConsoleProducer "$@" ;;
  kafka-console-consumer.sh) set -- org.apache.kafka.tools.consumer.ConsoleConsumer "$@" ;;
  kafka-consumer-groups.sh) set -- org.apache.kafka.tools.consumer.group.ConsumerGroupCommand "$@" ;;
  kafka-broker-api-versions.sh) set -- org.apache.kafka.tools.BrokerApiVersionsCommand "$@" ;;
  connect-standalone.sh) set -- org.apache.kafka.connect.cli.ConnectStandalone "$@" ;;
  connect-distributed.sh) set -- org.apache.kafka.connect.cli.ConnectDistributed "$@" ;;
esac
LOG4J=/opt/kafka/config/log4j2.yaml
[[ -f $LOG4J ]] || LOG4J=/etc/kafka/docker/log4j2.yaml
# Classes as an earlier run of the same program loaded them.
ARCHIVE=/opt/kafka/archives/${1##*.}.jsa
if [[ -n ${ARCHIVE_CLASSES:-} ]]; then
  OPTIONS=-XX:ArchiveClassesAtExit=$ARCHIVE
elif [[ -f $ARCHIVE ]]; then
  OPTIONS=-XX:SharedArchiveFile=$ARCHIVE
fi
# shellcheck disable=SC2086 # several options may stand in each variable
exec java ${KAFKA_HEAP_OPTS:--Xmx1G -Xms256M} ${OPTIONS:-} -XX:+ExitOnOutOfMemoryError -Dlog4j2.configurationFile="$LOG4J" \
  ${KAFKA_OPTS:-} -cp "/opt/kafka/libs/*${CLASSPATH:+:$CLASSPATH}" "$@"

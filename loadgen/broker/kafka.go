package broker

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lifeline/loadgen/broker/kafkanode"
	"lifeline/loadgen/broker/ports"
	"lifeline/loadgen/scenario"
)

// kafkaCluster is an embedded Kafka: one or three nodes, each a Java process.
type kafkaCluster struct {
	*embedded
	*kafkaCounters
	servers []string
	version string
}

// Counters adds the version from the jars: Kafka's protocol does not report patch levels.
func (c *kafkaCluster) Counters(ctx context.Context, run string) (Counters, error) {
	counters, err := c.kafkaCounters.Counters(ctx, run)
	if c.version != "" {
		counters.Name = "Kafka " + c.version
	}
	return counters, err
}

func (c *kafkaCluster) Servers() []string { return c.servers }
func (c *kafkaCluster) TLS() *TLS         { return nil }

// kafkaReadyPoll is longer than NATS's: a node takes seconds to start, and each poll opens a connection.
const kafkaReadyPoll = 100 * time.Millisecond

func startKafka(ctx context.Context, s scenario.Scenario, dir string) (Cluster, error) {
	jars, err := kafkanode.Find(s.Broker.KafkaJars)
	if err != nil {
		return nil, err
	}
	count := max(1, s.Broker.Nodes)
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("making a cluster id: %w", err)
	}
	id[0] &= 0x7f // or its text may begin with a hyphen, which Kafka's tools take for an option
	nodes, err := newEmbedded(dir, 2*count)
	if err != nil {
		return nil, err
	}
	free := nodes.ports.Ports
	cluster := &kafkaCluster{embedded: nodes, version: kafkanode.Version(jars)}
	prepared := make(chan error, count)
	for i := range count {
		config := kafkanode.Config{ID: i, Port: free[i], Controllers: free[count:], Jars: jars,
			Cluster: base64.RawURLEncoding.EncodeToString(id), Folder: filepath.Join(dir, fmt.Sprintf("node-%d", i)),
			Connections: connections(s) / count}
		go func() { prepared <- config.Prepare(ctx) }()
		server := ports.Address(config.Port)
		cluster.servers = append(cluster.servers, server)
		cluster.nodes = append(cluster.nodes, &node{
			name:    filepath.Base(config.Folder),
			log:     config.Folder + ".log",
			command: config.Command,
			ready:   func(ctx context.Context) (bool, error) { return kafkaServes(ctx, server, cluster.up()) },
			poll:    kafkaReadyPoll,
		})
	}
	var failed error
	for range count {
		failed = errors.Join(failed, <-prepared)
	}
	if failed != nil {
		nodes.ports.Close()
		return nil, failed
	}
	cluster.kafkaCounters = newKafkaCounters(cluster.servers)
	if err := cluster.startAll(ctx); err != nil {
		_ = cluster.Close(ctx)
		return nil, err
	}
	return cluster, nil
}

// connections is how many the fleet will open to the broker, at least.
func connections(s scenario.Scenario) int {
	if s.Connections.Pool > 0 {
		return s.Connections.Pool
	}
	return s.Generators
}

// kafkaServes reports whether a node accepts clients and sees all running nodes, including itself.
func kafkaServes(ctx context.Context, server string, nodes int) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, monitorTimeout)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(server), kgo.RequestRetries(0))
	if err != nil {
		return false, fmt.Errorf("asking Kafka's node: %w", err)
	}
	defer client.Close()
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = []kmsg.MetadataRequestTopic{} // none; nil would mean all
	response, err := request.RequestWith(ctx, client.SeedBrokers()[0])
	if err != nil {
		return false, fmt.Errorf("asking Kafka's node %s: %w", server, err)
	}
	own := false
	for _, broker := range response.Brokers {
		own = own || fmt.Sprintf("%s:%d", broker.Host, broker.Port) == server
	}
	if !own || len(response.Brokers) < nodes {
		return false, fmt.Errorf("the node %s knows %d of the %d nodes that run", server, len(response.Brokers), nodes)
	}
	return true, nil
}

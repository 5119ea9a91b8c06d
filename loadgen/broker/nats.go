package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"lifeline/loadgen/broker/natsnode"
	"lifeline/loadgen/broker/ports"
	"lifeline/loadgen/certificates"
	"lifeline/loadgen/child"
	"lifeline/loadgen/scenario"
)

// natsCluster is an embedded NATS: one or more nodes, each a process of this program.
type natsCluster struct {
	*embedded
	servers  []string
	monitors []string
	tls      *TLS
}

func (c *natsCluster) Servers() []string { return c.servers }
func (c *natsCluster) TLS() *TLS         { return c.tls }

// natsReadyPoll is how often a starting node is asked.
const natsReadyPoll = 20 * time.Millisecond

func startNATS(ctx context.Context, s scenario.Scenario, dir string) (Cluster, error) {
	nodes, err := newEmbedded(dir, portsPerNATSNode*max(1, s.Broker.Nodes))
	if err != nil {
		return nil, err
	}
	cluster := &natsCluster{embedded: nodes}
	configs, err := cluster.configure(s, dir)
	if err != nil {
		nodes.ports.Close()
		return nil, err
	}
	for i, config := range configs {
		file := filepath.Join(dir, config.Name+".json")
		content, err := json.Marshal(config)
		if err != nil {
			return nil, fmt.Errorf("writing the configuration of node %s: %w", config.Name, err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, fmt.Errorf("writing the configuration of node %s: %w", config.Name, err)
		}
		cluster.nodes = append(cluster.nodes, &node{
			name:    config.Name,
			log:     filepath.Join(dir, config.Name+".log"),
			command: func() *exec.Cmd { return child.Command(context.Background(), natsnode.Role, file) },
			ready:   func(ctx context.Context) (bool, error) { return cluster.serves(ctx, i) },
			poll:    natsReadyPoll,
		})
	}
	if err := cluster.startAll(ctx); err != nil {
		_ = cluster.Close(ctx)
		return nil, err
	}
	return cluster, nil
}

const portsPerNATSNode = 4 // client, monitor, route, and WebSocket or MQTT

// configure says what each node opens, which depends on the transport alone.
func (c *natsCluster) configure(s scenario.Scenario, dir string) ([]natsnode.Config, error) {
	configs := make([]natsnode.Config, max(1, s.Broker.Nodes))
	free := c.ports.Ports
	for i := range configs {
		config := &configs[i]
		config.Name = fmt.Sprintf("node-%d", i)
		config.Port, config.Monitor = free[portsPerNATSNode*i], free[portsPerNATSNode*i+1]
		c.monitors = append(c.monitors, "http://"+ports.Address(config.Monitor))
		server := config.Port
		switch extra := free[portsPerNATSNode*i+2]; s.Transport {
		case "nats-websocket":
			config.WebSocket, server = extra, extra
		case "mqtt": // the server keeps MQTT's sessions in streams
			config.MQTT, server = extra, extra
			config.Store, config.Replicas = filepath.Join(dir, config.Name), max(1, s.Broker.Replicas)
		case "jetstream":
			config.Store = filepath.Join(dir, config.Name)
		}
		c.servers = append(c.servers, ports.Address(server))
		if len(configs) > 1 {
			config.Route = free[portsPerNATSNode*i+3]
		}
	}
	for i := range configs {
		for _, other := range configs {
			if other.Name != configs[i].Name {
				configs[i].Routes = append(configs[i].Routes, other.Route)
			}
		}
	}
	if s.Kind().TLS {
		authority, err := certificates.NewAuthority()
		if err != nil {
			return nil, err
		}
		pair, err := authority.Server(ports.Host, "localhost")
		if err != nil {
			return nil, err
		}
		c.tls = &TLS{CA: authority.PEM}
		for i := range configs {
			configs[i].Certificate, configs[i].Key = string(pair.Certificate), string(pair.Key)
		}
	}
	return configs, nil
}

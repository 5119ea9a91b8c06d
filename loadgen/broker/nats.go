package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"lifeline/loadgen/broker/natsnode"
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

func startNATS(ctx context.Context, s scenario.Scenario, dir string) (Cluster, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program, which runs the broker's nodes: %w", err)
	}
	cluster := &natsCluster{embedded: newEmbedded(dir)}
	configs, err := cluster.configure(s)
	if err != nil {
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
			command: func() *exec.Cmd { return exec.Command(program, natsnode.Verb, file) },
			ready:   func(ctx context.Context) (bool, error) { return cluster.serves(ctx, i) },
		})
	}
	if err := cluster.startAll(ctx); err != nil {
		_ = cluster.Close(ctx)
		return nil, err
	}
	return cluster, nil
}

// configure chooses ports and says what each node opens, which depends on the transport alone.
func (c *natsCluster) configure(s scenario.Scenario) ([]natsnode.Config, error) {
	count := max(1, s.Broker.Nodes)
	const perNode = 4 // client, monitor, route, and WebSocket or MQTT
	ports, err := freePorts(count * perNode)
	if err != nil {
		return nil, err
	}
	next := func() (port int) { port, ports = ports[0], ports[1:]; return port }
	configs := make([]natsnode.Config, count)
	for i := range configs {
		config := &configs[i]
		config.Name = fmt.Sprintf("node-%d", i)
		config.Port, config.Monitor = next(), next()
		server := config.Port
		c.servers = append(c.servers, address(server))
		c.monitors = append(c.monitors, "http://"+address(config.Monitor))
	}
	return configs, nil
}

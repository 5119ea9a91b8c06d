// Package broker runs the brokers that a fleet talks to: embedded ones (NATS, Kafka), or external ones by URL.
package broker

import (
	"context"

	"lifeline/loadgen/result"
)

// Cluster is what a scenario's broker section becomes.
type Cluster interface {
	// Servers are host:port for the scenario's transport, one per node; nodes keep their port over a restart.
	Servers() []string
	// TLS is the client's TLS configuration; nil for plain connections.
	TLS() *TLS
	// Processes are the nodes' process ids, 0 for one that is down; empty for an external broker.
	Processes() []int
	// Counters reads the broker's own counters, limited to streams and topics whose names hold the run's id.
	Counters(ctx context.Context, run string) (Counters, error)
	// Kill, Stop, Continue, Start act on one node of an embedded cluster; Start returns when the node serves again.
	Kill(node int) error
	Stop(node int) error
	Continue(node int) error
	Start(ctx context.Context, node int) error
	// Exited is closed when a node exits unexpectedly; Err then returns the exit status and the last lines of its log.
	Exited() <-chan struct{}
	Err() error
	// Close ends all nodes and removes their data.
	Close(ctx context.Context) error
}

// Counters are declared in result, so that reading a report needs no broker.
type (
	Counters = result.Counters
	Node     = result.Node
)

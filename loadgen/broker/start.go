package broker

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"lifeline/loadgen/child"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport/kind"
)

// startTimeout is longer than any healthy broker takes to start.
const startTimeout = 5 * time.Minute

// family is what this package can do with brokers of one kind: start a cluster, and find the counters of an external one.
type family struct {
	start func(ctx context.Context, s scenario.Scenario, dir string) (Cluster, error)
	find  func(ctx context.Context, s scenario.Scenario, way way) (counterSource, error)
}

var families = map[*kind.Broker]family{
	kind.NATS:       {startNATS, findNATS},
	kind.Kafka:      {startKafka, findKafka},
	kind.PostgreSQL: {startPostgres, findPostgres},
}

// Start starts the scenario's embedded broker below dir and returns when it serves, or checks the external one.
// Nodes of NATS run this program again, so main (or TestMain) must begin with child.Play.
func Start(ctx context.Context, s scenario.Scenario, dir string) (Cluster, error) {
	if s.Broker.URL != "" {
		return findExternal(ctx, s)
	}
	private, err := os.MkdirTemp(dir, "broker-") // with mode 0700: it holds keys
	if err != nil {
		return nil, fmt.Errorf("making the broker's folder: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it does not serve after %s", startTimeout))
	defer cancel()
	start := families[s.Kind().Broker].start
	if start == nil {
		return nil, fmt.Errorf("the fleet starts no broker for transport %s; write broker.url", s.Transport)
	}
	cluster, err := start(ctx, s, private)
	if err != nil {
		_ = os.RemoveAll(private)
		return nil, err
	}
	return cluster, nil
}

// exit is the failure of a node that exited unexpectedly.
func exit(n *node, l *life) error {
	log := child.Tail(n.log, logLines)
	if len(log) == 0 {
		log = []string{"(it is empty)"}
	}
	return &result.Failure{Cause: result.BrokerExit, Message: fmt.Sprintf("the broker's %s ended: %s; the end of its log:\n  %s",
		n.name, l.End(), strings.Join(log, "\n  "))}
}

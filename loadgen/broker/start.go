package broker

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"lifeline/loadgen/broker/child"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// startPatience is longer than any broker takes that will serve at all.
const startPatience = 5 * time.Minute

// Start starts the scenario's embedded broker below the folder dir and returns when it serves, or looks at the external one
// that the scenario names. Its nodes run this very program again, so main (or a test's TestMain) has to know natsnode.Verb.
func Start(ctx context.Context, s scenario.Scenario, dir string) (Cluster, error) {
	if s.Broker.URL != "" {
		return findExternal(ctx, s)
	}
	private, err := os.MkdirTemp(dir, "broker-") // with mode 0700: it holds keys
	if err != nil {
		return nil, fmt.Errorf("making the broker's folder: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("it does not serve after %s", startPatience))
	defer cancel()
	start := startNATS
	if s.Transport == "kafka" {
		start = startKafka
	}
	cluster, err := start(ctx, s, private)
	if err != nil {
		_ = os.RemoveAll(private)
		return nil, err
	}
	return cluster, nil
}

// exit is the failure of a node that ended although nobody asked it to.
func exit(n *node, l *life) error {
	log := child.Tail(n.log, logLines)
	if len(log) == 0 {
		log = []string{"(it is empty)"}
	}
	return &result.Failure{Cause: result.BrokerExit, Message: fmt.Sprintf("the broker's %s ended: %s; the end of its log:\n  %s",
		n.name, l.End(), strings.Join(log, "\n  "))}
}

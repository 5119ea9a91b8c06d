package broker

import (
	"context"
	"fmt"
	"os"
	"strings"

	"lifeline/loadgen/scenario"
)

// Start starts the scenario's embedded broker below the folder dir and returns when it serves, or looks at the external one
// that the scenario names. Its nodes run this very program again, so main (or a test's TestMain) has to know natsnode.Verb.
func Start(ctx context.Context, s scenario.Scenario, dir string) (Cluster, error) {
	private, err := os.MkdirTemp(dir, "broker-") // with mode 0700: it holds keys
	if err != nil {
		return nil, fmt.Errorf("making the broker's folder: %w", err)
	}
	cluster, err := startNATS(ctx, s, private)
	if err != nil {
		_ = os.RemoveAll(private)
		return nil, err
	}
	return cluster, nil
}

// ExitError is a node that ended although nobody asked it to.
type ExitError struct {
	Node string
	End  string   // such as "exit status 1"
	Log  []string // the last lines
}

func (e *ExitError) Error() string {
	if len(e.Log) == 0 {
		return fmt.Sprintf("the broker's node %s ended: %s; its log is empty", e.Node, e.End)
	}
	return fmt.Sprintf("the broker's node %s ended: %s; the end of its log:\n  %s", e.Node, e.End, strings.Join(e.Log, "\n  "))
}

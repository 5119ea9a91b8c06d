package broker_test

import (
	"context"
	"os"
	"testing"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/child"
	"lifeline/loadgen/scenario"
	_ "lifeline/loadgen/transports" // registers them
)

// TestMain is also the program that runs the nodes.
func TestMain(m *testing.M) {
	child.Play()
	os.Exit(m.Run())
}

func startIn(ctx context.Context, t *testing.T, s scenario.Scenario) (broker.Cluster, error) {
	t.Helper()
	return broker.Start(ctx, s, t.TempDir())
}

func start(t *testing.T, s scenario.Scenario) broker.Cluster {
	t.Helper()
	cluster, err := startIn(within(t, 3*time.Minute), t, s) // a JVM on a machine that does much else
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

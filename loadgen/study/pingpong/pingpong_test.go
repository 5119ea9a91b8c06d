package pingpong

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"lifeline/loadgen/broker/natsnode"
	"lifeline/loadgen/scenario"
)

// The embedded server and the bare client are this very program under hidden verbs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == natsnode.Verb {
		if err := natsnode.Main(context.Background(), os.Args[2:], os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == Verb {
		if err := Main(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestEveryMessageComesBackAndIsTimed(t *testing.T) {
	s, err := scenario.Load("", "generators=1", "interval=10ms", "duration=1s")
	if err != nil {
		t.Fatal(err)
	}
	found, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c := found.Counts
	if c.Sent != 100 || c.Received != 100 || c.Lost != 0 || found.Times.RTT.Count != 100 || found.Times.RTT.Min <= 0 {
		t.Errorf("%+v, %d round trips from %s on", c, found.Times.RTT.Count, time.Duration(found.Times.RTT.Min))
	}
}

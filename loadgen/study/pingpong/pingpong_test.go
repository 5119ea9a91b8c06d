package pingpong

import (
	"os"
	"testing"
	"time"

	"lifeline/loadgen/child"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
)

// The embedded server and the bare client are this very program in roles of package child.
func TestMain(m *testing.M) {
	child.Play()
	os.Exit(m.Run())
}

func TestEveryMessageComesBackAndIsTimed(t *testing.T) {
	systemtest.Mark(t)
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

package stub_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"lifeline/loadgen/childtest"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
	"lifeline/loadgen/run"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/stub"
	"lifeline/loadgen/worker"
)

// TestMain lets the coordinator start this program as its workers.
func TestMain(m *testing.M) {
	childtest.Main(m, map[string]func([]string) error{worker.Verb: func([]string) error {
		return worker.Serve(context.Background(), os.Stdin, os.Stdout)
	}})
}

const (
	interval = time.Second
	delay    = 900 * time.Millisecond
	slow     = 500 * time.Millisecond
)

// wrongs is what the broker does to each generator's first messages.
func wrongs(nth int) stub.Treatment {
	switch nth {
	case 1:
		return stub.Treatment{Lose: true}
	case 2:
		return stub.Treatment{Copies: 1}
	case 3:
		return stub.Treatment{Behind: true}
	case 5:
		return stub.Treatment{Delay: delay}
	case 6:
		return stub.Treatment{Copies: 2}
	}
	return stub.Treatment{}
}

func TestTheHarnessReportsExactlyWhatTheBrokerDid(t *testing.T) {
	for _, client := range []string{"library", "minimal"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			broker, err := stub.Start(wrongs)
			if err != nil {
				t.Fatal(err)
			}
			defer broker.Close()
			const generators = 40
			found := fleet(t, "nats://"+broker.Address(), client, generators)
			compare(t, found, broker.Books(), generators)
		})
	}
}

// fleet runs generators against the broker, on two worker processes.
func fleet(t *testing.T, url, client string, generators int) result.Result {
	t.Helper()
	s, err := scenario.Parse("stub.yaml", fmt.Appendf(nil, `
generators: %d
interval: %v
initial_sleep: [0s, %v]
warm_up: 0s
duration: 7s
drain: 2s
client: %s
workers: 2
broker: {url: %q}
`, generators, interval, interval, client, url))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	found, err := run.Run(ctx, s, run.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if found.Failure != nil {
		t.Fatalf("the fleet failed: %v", found.Failure)
	}
	return found
}

func compare(t *testing.T, found result.Result, did stub.Books, generators int) {
	t.Helper()
	// The plan names each generator's first seven messages, and 7 s hold seven of them. On a busy machine the one after a
	// delayed message may be late and then overtake it, which the broker counts.
	all := generators
	planned := stub.Books{
		Publishers: all, Taken: did.Taken, Lost: all, Delivered: did.Taken - all, Copies: 3 * all, Delayed: all,
		Overtaken: max(did.Overtaken, all),
	}
	if planned != did {
		t.Fatalf("the broker did %+v, not as planned %+v", did, planned)
	}
	counts := found.Counts
	expected := result.Counts{
		Connections: generators, Sent: uint64(did.Taken), Received: uint64(did.Delivered), Lost: uint64(did.Lost),
		Duplicated: uint64(did.Copies), Reordered: uint64(did.Overtaken), Skipped: counts.Skipped,
	}
	if counts != expected {
		t.Errorf("the harness counted %+v\nand the broker did  %+v", counts, expected)
	}
	times, err := measure.Restore(found.Times.RTT)
	if err != nil {
		t.Fatal(err)
	}
	// Each generator has one that was delayed, and one that waited for the next, an interval later. A busy machine may hold others.
	held := times.Count() - times.AtMost(int64(slow))
	if expected := int64(2 * all); held < expected {
		t.Errorf("%d round trips were longer than %v; the broker held %d messages so long", held, slow, expected)
	}
}

package stub

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/child"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/run"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
)

// TestMain lets the coordinator start this program as its workers.
func TestMain(m *testing.M) {
	child.Play()
	os.Exit(m.Run())
}

const (
	interval = time.Second
	delay    = 3 * time.Second // more than a busy machine holds a message
)

// wrongs is what the broker does to each generator's first messages. Only the last ones are delayed, since a generator's first
// ones may be sent before all are connected, and the harness times what comes after that.
func wrongs(nth int) Treatment {
	switch nth {
	case 1:
		return Treatment{Lose: true}
	case 2:
		return Treatment{Behind: true}
	case 3:
		return Treatment{Copies: 1}
	case 4:
		return Treatment{Delay: delay}
	case 6:
		return Treatment{Copies: 2}
	}
	return Treatment{}
}

func TestTheHarnessReportsExactlyWhatTheBrokerDid(t *testing.T) {
	systemtest.Mark(t)
	for _, client := range []string{"library", "minimal"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			broker, err := Start(wrongs)
			if err != nil {
				t.Fatal(err)
			}
			defer broker.Close()
			const generators = 40
			found := fleet(t, "nats://"+broker.Address(), client, generators)
			compare(t, found, broker.Counts(), generators)
			compareDelays(t, found, broker.Held())
		})
	}
}

func TestARunWhoseBrokerWasGoneIsNotValid(t *testing.T) {
	systemtest.Mark(t)
	for _, client := range []string{"library", "minimal"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			broker, err := Start(func(int) Treatment { return Treatment{} })
			if err != nil {
				t.Fatal(err)
			}
			defer broker.Close()
			const generators = 40
			go func() {
				for broker.Counts().Taken < 2*generators {
					time.Sleep(10 * time.Millisecond)
				}
				broker.Close()
			}()
			found := fleet(t, "nats://"+broker.Address(), client, generators)
			named := slices.ContainsFunc(found.Invalid, func(reason string) bool { return strings.Contains(reason, "could not be published") })
			if found.Valid || !named || found.Counts.Unsent() < generators {
				t.Errorf("the run is valid=%t (%q): %+v", found.Valid, found.Invalid, found.Counts)
			}
			// Whatever the client: at most one message of each generator was under way when the connections broke.
			did := broker.Counts()
			if sent := found.Counts.Sent; sent-uint64(did.Taken) > generators || sent-uint64(did.Delivered) != found.Counts.Lost {
				t.Errorf("the broker did %+v: %+v", did, found.Counts)
			}
		})
	}
}

func TestWhatItsOwnSubscribersMissIsNotTheBrokersLoss(t *testing.T) {
	systemtest.Mark(t)
	for _, client := range []string{"library", "minimal"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			broker, err := Start(func(int) Treatment { return Treatment{} })
			if err != nil {
				t.Fatal(err)
			}
			defer broker.Close()
			const generators = 40
			go func() {
				for broker.Counts().Taken < 3*generators {
					time.Sleep(10 * time.Millisecond)
				}
				broker.DropSubscribers()
				for broker.Counts().Missed < generators {
					time.Sleep(10 * time.Millisecond)
				}
				broker.AdmitSubscribers()
			}()
			found := fleet(t, "nats://"+broker.Address(), client, generators)
			did, c := broker.Counts(), found.Counts
			if did.Missed < generators || c.Lost != uint64(did.Missed) || c.Away+c.Unclear != c.Lost || c.Away == 0 || c.Received != uint64(did.Delivered) {
				t.Errorf("the harness counted %+v\nand the broker did %+v", c, did)
			}
			if len(found.Missing) != did.Missed {
				t.Errorf("%d lost messages are listed, not %d", len(found.Missing), did.Missed)
			}
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
drain: 6s
client: %s
workers: 2
broker: {url: %q}
`, generators, interval, interval, client, url))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	var spans []time.Duration
	found, err := run.Run(ctx, s, run.Options{Dir: t.TempDir(), Span: func(begin, end int64) { spans = append(spans, time.Duration(end-begin)) }})
	if err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{7 * time.Second}; !slices.Equal(spans, want) {
		t.Errorf("measured spans of %v, not %v", spans, want)
	}
	if found.Failure != nil {
		t.Fatalf("the fleet failed: %v", found.Failure)
	}
	return found
}

func compare(t *testing.T, found result.Result, did Counts, generators int) {
	t.Helper()
	// The plan names each generator's first seven messages, and 7 s hold seven of them. What overtakes the delayed one depends on
	// when the generators send.
	all := generators
	planned := Counts{
		Publishers: all, Taken: did.Taken, Lost: all, Delivered: did.Taken - all, Copies: 3 * all, Delayed: all,
		Overtaken: max(did.Overtaken, all),
	}
	if planned != did {
		t.Fatalf("the broker did %+v, not as planned %+v", did, planned)
	}
	counts := found.Counts
	expected := result.Counts{
		Connections: generators, Sent: uint64(did.Taken), Received: uint64(did.Delivered), Lost: uint64(did.Lost), Undelivered: uint64(did.Lost),
		Duplicated: uint64(did.Copies), Reordered: uint64(did.Overtaken), Skipped: counts.Skipped,
	}
	if counts != expected {
		t.Errorf("wrong books: the harness counted %+v\nand the broker did  %+v", counts, expected)
	}
}

// compareDelays holds the slow messages that the harness names to those that the broker delayed, one by one.
func compareDelays(t *testing.T, found result.Result, held []Held) {
	t.Helper()
	type id struct{ generator, sequence uint32 }
	delayed := map[id]time.Duration{}
	for _, kept := range held {
		if kept.For >= delay {
			identity, err := message.RawParser{}.Parse(kept.Payload)
			if err != nil {
				t.Fatal(err)
			}
			delayed[id{identity.Generator, identity.Sequence}] = kept.For
		}
	}
	slow := 0
	for _, trip := range found.Slowest {
		took := time.Duration(trip.RTT)
		if took < delay {
			break
		}
		slow++
		if by, has := delayed[id{trip.Generator, trip.Sequence}]; !has || took < by {
			t.Errorf("message %d of generator %d took %v; the broker held it for %v", trip.Sequence, trip.Generator, took, by)
		}
	}
	times, err := measure.Restore(found.Times.RTT)
	if err != nil {
		t.Fatal(err)
	}
	if longer := times.Count() - times.AtMost(int64(delay)); slow != len(delayed) || longer != int64(slow) {
		t.Errorf("the broker delayed %d messages; the harness names %d, and its histogram has %d", len(delayed), slow, longer)
	}
	if len(found.Slowest) == 0 || found.Slowest[0].RTT != found.Times.RTT.Max {
		t.Errorf("the slowest message took %v, not as the first of %+v", time.Duration(found.Times.RTT.Max), found.Slowest)
	}
}

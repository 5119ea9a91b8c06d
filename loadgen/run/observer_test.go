package run_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/child"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/run"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
)

// TestMain is also the program that runs workers and nodes.
func TestMain(m *testing.M) {
	child.Play()
	os.Exit(m.Run())
}

// observer takes all messages of all runs at one node, independently of the harness.
type observer struct {
	mu   sync.Mutex
	seen map[key]bool
}

type key struct{ generator, sequence uint32 }

func observe(t *testing.T, server string) *observer {
	t.Helper()
	connection, err := nats.Connect("nats://"+server, nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	o := &observer{seen: map[key]bool{}}
	subscription, err := connection.Subscribe("fleet.>", func(m *nats.Msg) {
		if identity, err := (message.RawParser{}).Parse(m.Data); err == nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.seen[key{identity.Generator, identity.Sequence}] = true
		}
	})
	if err == nil {
		err = subscription.SetPendingLimits(-1, -1)
	}
	if err == nil {
		err = connection.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *observer) count() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return uint64(len(o.seen))
}

func (o *observer) saw(m result.Missing) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen[key{m.Generator, m.Sequence}]
}

// A node of a real cluster is killed; the surviving nodes are observed. What a survivor had, the broker did not lose.
func TestWhatASurvivingNodeDeliveredIsNotTheBrokersLoss(t *testing.T) {
	systemtest.Mark(t)
	for _, load := range []struct{ client, subscribers string }{{"library", "other"}, {"minimal", "other"}, {"minimal", "same"}} {
		t.Run(load.client+", subscribers on "+load.subscribers+" node", func(t *testing.T) {
			t.Parallel()
			cluster := threeNodes(t)
			servers := cluster.Servers()
			survivors := []*observer{observe(t, servers[0]), observe(t, servers[2])}
			found := measure(t, cluster, "client="+load.client, "subscribers.node="+load.subscribers)

			c := found.Counts
			if c.Received == 0 || c.Sent != c.Received+c.Lost {
				t.Fatalf("sent is not received and lost: %+v", c)
			}
			if c.Lost != c.Unacknowledged+c.LostAcknowledged+c.Undelivered+c.Away+c.Unclear || len(found.Missing) != min(1000, int(c.Lost)) {
				t.Errorf("%d lost messages are listed: %+v", len(found.Missing), c)
			}
			for i, survivor := range survivors {
				if seen := survivor.count(); seen < c.Received*9/10 {
					t.Fatalf("the observer at survivor %d has seen %d of %d messages", i, seen, c.Received)
				}
				for _, missing := range found.Missing {
					if missing.Kind == result.Undelivered && survivor.saw(missing) && !mayPassBy(load.subscribers, missing, i) {
						t.Errorf("%+v is booked as the broker's loss, but survivor %d delivered it", missing, i)
					}
				}
			}
			if verdict := found.Broker.Verdict(); verdict != "unknown" || !strings.Contains(found.Broker.Sentence, "alone") {
				t.Errorf("a node that cannot answer: the counters %s (%s)", verdict, found.Broker.Sentence)
			}
			t.Logf("%+v", c)
		})
	}
}

// mayPassBy says whether the broker may have lost a message that this survivor has: the killed node, where it was published,
// had written it to this survivor, but not yet to the other one, where its subscriber is.
func mayPassBy(subscribers string, missing result.Missing, survivor int) bool {
	const nodes, killed = 3, 1
	return subscribers == "other" && missing.Generator%nodes == killed && survivor == 0
}

func threeNodes(t *testing.T) broker.Cluster {
	t.Helper()
	s, err := scenario.Load("", "broker.nodes=3")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cluster, err := broker.Start(ctx, s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Close(context.Background()) })
	return cluster
}

// A message that cannot be published is not sent later: a client that keeps it, or that stands still until the broker is back,
// makes an outage look short.
func TestBothClientsCountTheSameOutage(t *testing.T) {
	systemtest.Mark(t)
	for _, client := range []string{"library", "minimal"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			const away, rate = 4, 400
			s, err := scenario.Load("", "client="+client, "generators=200", "interval=500ms", "initial_sleep=[0s, 500ms]", "duration=10s", "drain=3s",
				"workers=1", fmt.Sprintf("faults=[{at: 2s, node: 0, action: restart, for: %ds}]", away))
			if err != nil {
				t.Fatal(err)
			}
			found, err := run.Run(t.Context(), s, run.Options{Dir: t.TempDir()})
			if err != nil || found.Failure != nil {
				t.Fatal(err, found.Failure)
			}
			if c := found.Counts; c.Unsent() < away*rate*3/4 {
				t.Errorf("%d messages were due while the node was away: %+v", away*rate, c)
			}
			if found.Valid || len(found.Disputed) > 0 {
				t.Errorf("valid=%t after an outage; disputed, though it was planned: %q", found.Valid, found.Disputed)
			}
		})
	}
}

// measure runs a fleet against the cluster, whose middle node is killed two seconds after the span has begun.
func measure(t *testing.T, cluster broker.Cluster, changes ...string) result.Result {
	t.Helper()
	s, err := scenario.Load("", append(changes, "broker.url=nats://"+strings.Join(cluster.Servers(), ","), "generators=900", "interval=500ms",
		"initial_sleep=[0s, 500ms]", "duration=8s", "drain=3s", "workers=1")...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	var once sync.Once
	killed := make(chan error, 1)
	found, err := run.Run(ctx, s, run.Options{Dir: t.TempDir(), Span: func(int64, int64) {
		once.Do(func() { time.AfterFunc(2*time.Second, func() { killed <- cluster.Kill(1) }) })
	}})
	if err != nil || found.Failure != nil {
		t.Fatal(err, found.Failure)
	}
	select {
	case err := <-killed:
		if err != nil {
			t.Fatal(fmt.Errorf("killing node 1: %w", err))
		}
	default:
		t.Fatal("the run was over before the node was killed")
	}
	return found
}

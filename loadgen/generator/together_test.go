package generator

import (
	"context"
	"testing"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
)

// hesitant is a broker whose subscriptions are in force only after a first message of every generator.
type hesitant struct {
	planned
	early chan struct{}
}

func (h *hesitant) Subscribe(ctx context.Context, node int, channel string, deliver transport.Deliver) (transport.Subscription, error) {
	<-h.early
	h.mu.Lock() // deliveries are under way
	defer h.mu.Unlock()
	return h.planned.Subscribe(ctx, node, channel, deliver)
}

func TestMessagesBeforeASubscriptionThatStartsTogetherWithTheGeneratorsAreLost(t *testing.T) {
	systemtest.Mark(t)
	const generators = 4
	over := &hesitant{early: make(chan struct{})}
	first := 0
	over.plan = func(_, sequence uint32) treatment {
		if sequence == 0 {
			if first++; first == generators {
				close(over.early)
			}
		}
		return treatment{lose: sequence == 0}
	}
	fleet, err := New(Share{
		Scenario: scenario.Scenario{
			Interval: scenario.Duration{Duration: interval}, Message: scenario.Message{Kind: "raw", Multiple: 1},
			Subscribers: scenario.Subscribers{Count: 1, Start: "together"},
		},
		Run: 1, Generators: generators, Channels: []string{"w0-n0"},
	}, over, transport.Traits{Acknowledges: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := fleet.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := fleet.Connect(t.Context()); err != nil { // would never return if generators waited for the subscription
		t.Fatal(err)
	}
	fleet.Measure(0, clock.Now()+int64(5*interval), time.Second)
	fleet.Drain(t.Context())
	err = fleet.Close(t.Context())
	if c := fleet.Totals().Counts; err != nil || c.Lost < generators || c.Away != c.Lost || c.Received == 0 {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestGeneratorsUseNoNodeThatIsForSubscribersApart(t *testing.T) {
	share := Share{Scenario: scenario.Scenario{Subscribers: scenario.Subscribers{Node: "apart"}}, Channels: []string{"n0", "n1", "n2"}}
	f := &Fleet{share: share}
	for wire := range 6 {
		if node := f.node(wire); node != wire%2 || f.subscribersNode(node) != 2 {
			t.Errorf("connection %d is on node %d, its subscriber on %d", wire, node, f.subscribersNode(node))
		}
	}
}

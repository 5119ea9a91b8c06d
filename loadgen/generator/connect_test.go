package generator

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
)

// slow is a broker whose answer to a new connection is on its way when the client has given up.
type slow struct {
	planned
	asked, answer chan struct{}
	open          atomic.Int64
}

func (s *slow) Connect(ctx context.Context, _ int) (transport.Connection, error) {
	s.asked <- struct{}{}
	<-ctx.Done()
	<-s.answer
	s.open.Add(1)
	return s, nil
}

func (s *slow) Close(context.Context) error {
	s.open.Add(-1)
	return nil
}

func TestAConnectionThatIsMadeWhileTheFleetClosesIsClosedToo(t *testing.T) {
	over := &slow{asked: make(chan struct{}), answer: make(chan struct{})}
	fleet, err := New(Share{
		Scenario: scenario.Scenario{
			Interval: scenario.Seconds(1), Message: scenario.Message{Kind: "raw", Multiple: 1},
			InitialSleep: scenario.Range{From: scenario.Seconds(60), To: scenario.Seconds(60)}, // nobody publishes
		},
		Generators: 3, Channels: []string{"w0-n0"},
	}, over, transport.Traits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := fleet.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, giveUp := context.WithCancel(context.Background())
	connected := make(chan error, 1)
	go func() { connected <- fleet.Connect(ctx) }()
	for range 3 {
		<-over.asked
	}
	giveUp()
	closed := make(chan error, 1)
	go func() {
		err := fleet.Close(context.Background())
		closed <- err
	}()
	select {
	case <-closed:
		t.Fatal("closed while three connections were being made")
	case <-time.After(20 * time.Millisecond): // it could have been wrong by now
	}
	close(over.answer)
	<-connected
	if err := <-closed; err != nil || over.open.Load() != 0 {
		t.Errorf("%d connections are left open, %v", over.open.Load(), err)
	}
}

package generator

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
)

// planned is a broker in memory that treats each message as a plan says, and acknowledges at once.
type planned struct {
	plan    func(generator, sequence uint32) treatment
	mu      sync.Mutex
	deliver []transport.Deliver
	later   []later
}

// treatment of one message. The zero value delivers it.
type treatment struct {
	lose, fail, refuse bool
	copies             int           // in addition
	delay              time.Duration // a later message of the generator overtakes it
}

type later struct {
	message []byte
	timer   *time.Timer
}

func (p *planned) Prepare(context.Context, []string) error                    { return nil }
func (p *planned) Remove(context.Context) error                               { return nil }
func (p *planned) Connect(context.Context, int) (transport.Connection, error) { return p, nil }
func (p *planned) Close(context.Context) error                                { return nil }
func (p *planned) Subscribe(_ context.Context, _ int, _ string, deliver transport.Deliver) (transport.Subscription, error) {
	p.deliver = append(p.deliver, deliver)
	return p, nil
}

func (p *planned) Publish(_ string, built []byte, acknowledged transport.Acknowledged) error {
	identity, err := message.RawParser{}.Parse(built)
	if err != nil {
		return err
	}
	t := p.plan(identity.Generator, identity.Sequence)
	own := append([]byte(nil), built...)
	switch {
	case t.fail:
		return errors.New("planned failure")
	case t.refuse:
		acknowledged(clock.Now(), errors.New("planned refusal"))
	default:
		acknowledged(clock.Now(), nil)
	}
	if t.lose {
		return nil
	}
	for range 1 + t.copies {
		if t.delay > 0 {
			time.AfterFunc(t.delay, func() { p.give(own) })
		} else {
			p.give(own)
		}
	}
	return nil
}

func (p *planned) give(own []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, deliver := range p.deliver {
		deliver(own, clock.Now())
	}
}

const interval = 20 * time.Millisecond

// conduct runs generators for so many messages each under a plan.
func conduct(t *testing.T, generators, messages, subscribers int, selector string, traits transport.Traits,
	plan func(generator, sequence uint32) treatment) Totals {
	t.Helper()
	traits.Acknowledges = true
	share := Share{
		Scenario: scenario.Scenario{
			Interval: scenario.Duration{Duration: interval}, Message: scenario.Message{Kind: "raw", Multiple: 1},
			Subscribers: scenario.Subscribers{Count: subscribers, Selector: selector},
		},
		Run: 1, First: 100, Generators: generators, Channels: []string{"w0-n0"},
	}
	fleet, err := New(share, &planned{plan: plan}, traits)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := fleet.Start(ctx); err != nil {
		t.Fatal(err)
	}
	fleet.Measure(0, clock.Now()+int64(time.Duration(messages)*interval), 200*time.Millisecond)
	if err := fleet.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	fleet.Drain(ctx)
	totals, err := fleet.Close(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return totals
}

func TestWhatHappensToMessagesIsCountedExactly(t *testing.T) {
	plan := func(_, sequence uint32) treatment {
		switch sequence {
		case 1:
			return treatment{lose: true}
		case 2:
			return treatment{copies: 2}
		case 3:
			return treatment{delay: 3 * interval / 2}
		case 5:
			return treatment{fail: true}
		case 6:
			return treatment{lose: true, refuse: true}
		}
		return treatment{}
	}
	for name, traits := range map[string]transport.Traits{"a client that returns at once": {}, "a client that blocks": {Blocks: true}} {
		t.Run(name, func(t *testing.T) {
			totals := conduct(t, 1, 8, 1, "", traits, plan)
			sent := totals.Counts.Sent + totals.Counts.Failed // the first one's time may have passed when the span was set
			if sent < 7 {
				t.Fatalf("only %d messages were tried", sent)
			}
			got := totals.Counts
			got.Sent, got.Received, got.Acknowledged = 0, 0, 0
			want := result.Counts{Connections: 1, Failed: 1, Refused: 1, Lost: 2, LostAcknowledged: 1, Duplicated: 2, Reordered: 1}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if totals.Counts.Received != totals.Counts.Sent-2 || totals.Counts.Acknowledged != totals.Counts.Sent-1 {
				t.Errorf("of %d sent %d were received and %d acknowledged", totals.Counts.Sent, totals.Counts.Received,
					totals.Counts.Acknowledged)
			}
		})
	}
}

func TestEverySubscriberNeedsItsCopy(t *testing.T) {
	totals := conduct(t, 3, 5, 2, "", transport.Traits{}, func(generator, sequence uint32) treatment {
		return treatment{lose: generator == 101 && sequence == 2}
	})
	if c := totals.Counts; c.Lost != 2 || c.Received != 2*c.Sent-2 || c.Duplicated != 0 {
		t.Errorf("two subscribers, one message lost: %+v", c)
	}
}

func TestWhatIsNotSelectedIsNotLost(t *testing.T) {
	totals := conduct(t, 4, 5, 1, "id < 102", transport.Traits{}, func(generator, _ uint32) treatment {
		return treatment{lose: generator == 103}
	})
	if c := totals.Counts; c.Lost != 0 || c.Received == 0 || c.Unselected == 0 || c.Received+c.Unselected >= c.Sent {
		t.Errorf("of four generators two are selected, one of the others is lost: %+v", c)
	}
}

func TestTimesAddUpToTheRoundTrip(t *testing.T) {
	times := conduct(t, 1, 6, 1, "", transport.Traits{}, func(uint32, uint32) treatment {
		return treatment{delay: interval / 4}
	}).Times
	if times.RTT.Count() == 0 || times.PT.Count() != times.RTT.Count() {
		t.Fatalf("%d round trips, %d process times", times.RTT.Count(), times.PT.Count())
	}
	sum := times.PRT.Mean() + times.PT.Mean() + times.SRT.Mean()
	if difference := times.RTT.Mean() - sum; difference < -1 || difference > 1 {
		t.Errorf("RTT %.0f ns is not PRT + PT + SRT = %.0f ns", times.RTT.Mean(), sum)
	}
	if times.RTT.Percentile(0) < int64(interval/4) {
		t.Errorf("a delay of %v made a round trip of %v", interval/4, time.Duration(times.RTT.Percentile(0)))
	}
}

func TestAMessageThatArrivesBeforeTheCallReturnsHasANegativeProcessTime(t *testing.T) {
	totals := conduct(t, 1, 6, 1, "", transport.Traits{}, func(uint32, uint32) treatment { return treatment{} })
	if pt := &totals.Times.PT; pt.Count() == 0 || pt.Percentile(100) >= 0 {
		t.Errorf("delivered inside the call, but %d process times reach up to %d ns", pt.Count(), pt.Percentile(100))
	}
}

func TestARingSpansThePatience(t *testing.T) {
	for interval, want := range map[time.Duration]int{10 * time.Second: 16, time.Second: 128, 5 * time.Minute: 2} {
		if got := flightsFor(int64(interval)); got != want {
			t.Errorf("%v: %d flights, want %d", interval, got, want)
		}
	}
}

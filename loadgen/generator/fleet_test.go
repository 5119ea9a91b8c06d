package generator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
)

// planned is a broker in memory that treats each message as a plan says, and acknowledges at once.
type planned struct {
	plan    func(generator, sequence uint32) treatment
	mu      sync.Mutex
	deliver []transport.Deliver
	delayed int64             // nanoseconds, of all messages, by the broker's own clock
	held    map[uint32][]byte // by generator: what waits for the next message
}

// treatment of one message. The zero value delivers it.
type treatment struct {
	lose, fail, refuse bool
	behind             bool          // the next message of the generator overtakes it
	copies             int           // in addition
	call               time.Duration // that publishing takes
	delay              time.Duration // from then on
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
	time.Sleep(t.call)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case t.lose:
	case t.behind:
		p.held[identity.Generator] = own
	case t.delay > 0:
		began := clock.Now()
		time.AfterFunc(t.delay, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.delayed += p.give(own) - began
		})
	default:
		for range 1 + t.copies {
			p.give(own)
		}
		if held := p.held[identity.Generator]; held != nil {
			delete(p.held, identity.Generator)
			p.give(held)
		}
	}
	return nil
}

// give delivers; the mutex is held.
func (p *planned) give(own []byte) (at int64) {
	at = clock.Now()
	for _, deliver := range p.deliver {
		deliver(own, at)
	}
	return at
}

const interval = 20 * time.Millisecond

// conduct runs generators for so many messages each, or a few more, under a plan.
func conduct(t *testing.T, generators, messages, subscribers int, selector string, traits transport.Traits,
	plan func(generator, sequence uint32) treatment) Totals {
	t.Helper()
	return conductOver(t, &planned{plan: plan, held: map[uint32][]byte{}}, generators, messages, subscribers, selector, traits)
}

func conductOver(t *testing.T, broker *planned, generators, messages, subscribers int, selector string, traits transport.Traits) Totals {
	t.Helper()
	traits.Acknowledges = true
	share := Share{
		Scenario: scenario.Scenario{
			Interval: scenario.Duration{Duration: interval}, Message: scenario.Message{Kind: "raw", Multiple: 1},
			Subscribers: scenario.Subscribers{Count: subscribers, Selector: selector},
		},
		Run: 1, First: 100, Generators: generators, Channels: []string{"w0-n0"},
	}
	fleet, err := New(share, broker, traits)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := fleet.Start(ctx); err != nil {
		t.Fatal(err)
	}
	const drain = 500 * time.Millisecond
	fleet.Measure(0, math.MaxInt64, drain)
	if err := fleet.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	fleet.Measure(0, clock.Now()+int64(time.Duration(messages)*interval), drain) // at least so many, however long connecting took
	fleet.Drain(ctx)
	if err := fleet.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return fleet.Totals()
}

func TestWhatHappensToMessagesIsCountedExactly(t *testing.T) {
	systemtest.Mark(t)
	plan := func(_, sequence uint32) treatment {
		switch sequence {
		case 1:
			return treatment{lose: true}
		case 2:
			return treatment{copies: 2}
		case 3:
			return treatment{behind: true}
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
			if tried := totals.Counts.Sent + totals.Counts.Failed; tried < 8 {
				t.Fatalf("only %d messages were tried", tried)
			}
			got := totals.Counts
			got.Sent, got.Received, got.Acknowledged = 0, 0, 0
			want := result.Counts{Connections: 1, Failed: 1, Refused: 1, Lost: 2, Unacknowledged: 1, LostAcknowledged: 1, Duplicated: 2, Reordered: 1}
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
	systemtest.Mark(t)
	totals := conduct(t, 3, 5, 2, "", transport.Traits{}, func(generator, sequence uint32) treatment {
		return treatment{lose: generator == 101 && sequence == 2}
	})
	if c := totals.Counts; c.Lost != 2 || c.Received != 2*c.Sent-2 || c.Duplicated != 0 {
		t.Errorf("two subscribers, one message lost: %+v", c)
	}
}

func TestAsManySubscribersAsAScenarioMayHaveAreToldApart(t *testing.T) {
	systemtest.Mark(t)
	const text = "subscribers: {count: %d}"
	if _, err := scenario.Parse("many.yaml", fmt.Appendf(nil, text, MostSubscribers)); err != nil {
		t.Error(err)
	}
	if _, err := scenario.Parse("more.yaml", fmt.Appendf(nil, text, MostSubscribers+1)); err == nil {
		t.Error("a scenario may have more subscribers than a flight can tell apart")
	}
	totals := conduct(t, 1, 4, MostSubscribers, "", transport.Traits{}, func(_, sequence uint32) treatment {
		return treatment{lose: sequence == 1, copies: int(sequence % 2)}
	})
	c := totals.Counts
	if c.Lost != MostSubscribers || c.Received != MostSubscribers*(c.Sent-1) || c.Duplicated == 0 || c.Duplicated%MostSubscribers != 0 {
		t.Errorf("%d subscribers, one message lost, every other one twice: %+v", MostSubscribers, c)
	}
}

func TestWhatIsNotSelectedIsNotLost(t *testing.T) {
	systemtest.Mark(t)
	totals := conduct(t, 4, 5, 1, "id < 102", transport.Traits{}, func(generator, _ uint32) treatment {
		return treatment{lose: generator == 103}
	})
	if c := totals.Counts; c.Lost != 0 || c.Received == 0 || c.Unselected == 0 || c.Received+c.Unselected >= c.Sent {
		t.Errorf("of four generators two are selected, one of the others is lost: %+v", c)
	}
}

func TestTimesAddUpToTheServiceTime(t *testing.T) {
	systemtest.Mark(t)
	const call, delay = interval / 10, interval / 4
	broker := &planned{plan: func(uint32, uint32) treatment { return treatment{call: call, delay: delay} }}
	times := conductOver(t, broker, 1, 6, 1, "", transport.Traits{}).Times
	messages := times.ServiceTime.Count()
	if messages < 6 || times.PRT.Count() != messages || times.PT.Count() != messages || times.SRT.Count() != messages {
		t.Fatalf("%d round trips of %d, %d and %d parts", messages, times.PRT.Count(), times.PT.Count(), times.SRT.Count())
	}
	prt, pt, srt := times.PRT.Mean(), times.PT.Mean(), times.SRT.Mean()
	if difference := times.ServiceTime.Mean() - (prt + pt + srt); difference < -1 || difference > 1 {
		t.Errorf("the service time of %.0f ns is not PRT %.0f + PT %.0f + SRT %.0f ns", times.ServiceTime.Mean(), prt, pt, srt)
	}
	// A machine that is busy makes each part longer, but moves nothing from one to another: the call is in PRT, and of the delay,
	// which began a moment before the call returned, PT holds that moment less.
	if least := times.PRT.Distribution().Min; least < int64(call) {
		t.Errorf("a call of %v shows as a PRT of %v", call, time.Duration(least))
	}
	if least := times.ServiceTime.Distribution().Min; least < int64(call+delay) {
		t.Errorf("a call of %v and a delay of %v made a round trip of %v", call, delay, time.Duration(least))
	}
	broker.mu.Lock()
	defer broker.mu.Unlock()
	if delayed := float64(broker.delayed) / float64(messages); pt > delayed {
		t.Errorf("PT is %.0f ns, and the broker delayed messages by %.0f ns", pt, delayed)
	}
}

func TestTheFirstDeliveryIsCountedFromTheFirstPublish(t *testing.T) {
	fleet, err := New(Share{Generators: 1, Scenario: scenario.Scenario{
		Interval: scenario.Seconds(1), Subscribers: scenario.Subscribers{Count: 2},
	}}, nil, transport.Traits{})
	if err != nil {
		t.Fatal(err)
	}
	g := &fleet.generators[0]
	for range 3 { // of which the first is lost
		g.take(fleet)
	}
	const second = int64(time.Second)
	for sequence := uint32(1); sequence < 3; sequence++ {
		at := g.began + int64(sequence)*second
		g.receive(fleet, 0, sequence, 0, at, at)
	}
	g.receive(fleet, 1, 2, 0, g.began+3*second, g.began+3*second)
	first := &fleet.stats.times.FirstDelivery
	if first.Count() != 2 || first.Percentile(0) < second || first.Percentile(0) > second+second/500 || first.Percentile(100) != 3*second {
		t.Errorf("%d first deliveries after %v to %v", first.Count(), time.Duration(first.Percentile(0)), time.Duration(first.Percentile(100)))
	}
}

func TestAMessageThatArrivesBeforeTheCallReturnsHasANegativeProcessTime(t *testing.T) {
	systemtest.Mark(t)
	totals := conduct(t, 1, 6, 1, "", transport.Traits{}, func(uint32, uint32) treatment { return treatment{} })
	if pt := &totals.Times.PT; pt.Count() == 0 || pt.Percentile(100) >= 0 {
		t.Errorf("delivered inside the call, but %d process times reach up to %d ns", pt.Count(), pt.Percentile(100))
	}
}

func TestAClientThatBlocksDoesNotMakeTheHarnessLate(t *testing.T) {
	systemtest.Mark(t)
	const blocked = 3 * interval
	totals := conduct(t, 1, 12, 1, "", transport.Traits{Blocks: true}, func(_, sequence uint32) treatment {
		if sequence == 2 {
			time.Sleep(blocked) // so that the next two messages are overdue
		}
		return treatment{}
	})
	sum := func(r *measure.Recorder) time.Duration { return time.Duration(r.Mean() * float64(r.Count())) }
	late, fromIntended := sum(&totals.Times.Lateness), sum(&totals.Times.RTT)
	// The one took three intervals; the two behind it were held up for two intervals and one, beside what a machine holds them up.
	if late > fromIntended-blocked-2*interval {
		t.Errorf("from their intended times all messages took %v; the harness calls itself late by %v", fromIntended, late)
	}
}

func TestARingSpansTheTimeout(t *testing.T) {
	for interval, want := range map[time.Duration]int{10 * time.Second: 16, time.Second: 128, 5 * time.Minute: 2} {
		if got := flightsFor(int64(interval)); got != want {
			t.Errorf("%v: %d flights, want %d", interval, got, want)
		}
	}
}

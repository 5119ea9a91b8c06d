package kafkatest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
)

// publisher is a connection that keeps publishing.
type publisher struct {
	name       string
	connection transport.Connection
	channel    string
	kept       outcomes
	sent       int
}

// run publishes until stop is closed, and then until everything is acknowledged.
func (p *publisher) run(t *testing.T, stop <-chan struct{}) {
	ticker := time.NewTicker(40 * time.Millisecond)
	defer ticker.Stop()
	for ; ; p.sent++ {
		select {
		case <-ticker.C:
			if err := p.connection.Publish(p.channel, fmt.Appendf(nil, "%s %d", p.name, p.sent), p.kept.acknowledge); err != nil {
				t.Errorf("%s, message %d: %v", p.name, p.sent, err)
				return
			}
		case <-stop:
			if err := p.connection.Close(within(t, testTimeout)); err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
			return
		}
	}
}

// acknowledged is how many messages are safe by now.
func (p *publisher) acknowledged() int {
	p.kept.mutex.Lock()
	defer p.kept.mutex.Unlock()
	return p.kept.acknowledged
}

func TestNothingIsLostWhenANodeIsKilled(t *testing.T) {
	systemtest.Mark(t)
	t.Parallel()   // a leader is given up after nine seconds, in which nothing else happens here
	const each = 3 // publishers of either client, one for every node
	settings := settingsOf(t, three, "all")
	var publishers []*publisher
	boxes := map[string]*inbox{}
	for _, c := range clients {
		made, traits, channel := prepared(t, c, settings)
		if !traits.Durable {
			t.Errorf("the %s client with acknowledgement all and three copies says that it is not durable", c.name)
		}
		boxes[c.name] = subscribe(t, made, channel)
		for i := range each {
			connection, err := made.Connect(within(t, testTimeout), i%len(settings.Servers))
			if err != nil {
				t.Fatal(err)
			}
			publishers = append(publishers, &publisher{name: fmt.Sprint(c.name, i), connection: connection, channel: channel})
		}
	}
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, p := range publishers {
		running.Go(func() { p.run(t, stop) })
	}
	// grow returns when every publisher has so many more messages acknowledged, also those whose leader was killed.
	grow := func(by int) {
		for _, p := range publishers {
			goal := p.acknowledged() + by
			for end := time.Now().Add(testTimeout); p.acknowledged() < goal; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Errorf("%s has %d of %d messages acknowledged", p.name, p.acknowledged(), goal)
					break
				}
			}
		}
	}
	grow(10)
	cluster := three().cluster
	if err := cluster.Kill(1); err != nil {
		t.Fatal(err)
	}
	grow(20)
	close(stop)
	running.Wait()
	for _, c := range clients {
		check(t, boxes[c.name], slices.DeleteFunc(slices.Clone(publishers), func(p *publisher) bool { return !strings.HasPrefix(p.name, c.name) }))
	}
	if err := cluster.Start(within(t, testTimeout), 1); err != nil {
		t.Error(err)
	}
}

// check holds what a subscriber got against what its publishers sent: all of it in order, but for repetitions.
func check(t *testing.T, box *inbox, publishers []*publisher) {
	t.Helper()
	next := map[string]int{}
	total := 0
	for _, p := range publishers {
		total += p.sent
		if p.kept.acknowledged != p.sent || len(p.kept.errors) > 0 {
			t.Errorf("wrong books: %s: %d of %d messages acknowledged, errors %v", p.name, p.kept.acknowledged, p.sent, p.kept.errors)
		}
	}
	repeated := 0
	for seen := 0; seen < total; {
		messages := box.wait(t, seen+repeated+1)
		for _, message := range messages[seen+repeated:] {
			var name string
			var number int
			if _, err := fmt.Sscan(message, &name, &number); err != nil {
				t.Fatalf("%q came", message)
			}
			switch {
			case number < next[name]:
				repeated++
			case number == next[name]:
				next[name]++
				seen++
			default:
				t.Fatalf("wrong books: %s: message %d came before message %d", name, number, next[name])
			}
		}
	}
	t.Logf("%d messages, %d of them twice", total, repeated)
}

package generator

import (
	"context"
	"fmt"
	"sync"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
)

func (f *Fleet) parser() message.Parser {
	if f.share.Scenario.Message.Kind == "batch" {
		return &message.BatchParser{}
	}
	return message.RawParser{}
}

// startsTogether reports whether generators publish while the subscriptions are still being made.
func (f *Fleet) startsTogether() bool { return f.share.Scenario.Subscribers.Start == "together" }

func (f *Fleet) subscribe(ctx context.Context) error {
	for subscriber := range f.share.Scenario.Subscribers.Count {
		for node, channel := range f.share.Channels {
			began := clock.Now()
			var first sync.Once
			parser := f.parser()
			deliver := func(received []byte, before int64) {
				f.receive(subscriber, parser, received, before)
				first.Do(func() { f.stats.subscribed(clock.Now() - began) })
			}
			subscription, err := f.transport.Subscribe(ctx, f.subscribersNode(node), channel, deliver)
			if err != nil {
				return fmt.Errorf("subscriber %d of %s: %w", subscriber+1, channel, err)
			}
			index := f.subscription(subscriber, node)
			f.subscriptions[index] = subscription
			f.inForce[index].Store(clock.Now())
		}
	}
	return nil
}

// subscription is the index of a subscriber's subscription to a node's channel.
func (f *Fleet) subscription(subscriber, node int) int {
	return subscriber*len(f.share.Channels) + node
}

// subscribersNode is where the subscriber of a node's channel is connected.
func (f *Fleet) subscribersNode(publishers int) int {
	switch nodes := len(f.share.Channels); f.share.Scenario.Subscribers.Node {
	case "other":
		return (publishers + 1) % nodes
	case "apart":
		return nodes - 1
	default:
		return publishers
	}
}

func (f *Fleet) receive(subscriber int, parser message.Parser, received []byte, before int64) {
	identity, err := parser.Parse(received)
	taken := clock.Now()
	local := int64(identity.Generator) - int64(f.share.First)
	if err != nil || identity.Run != f.share.Run || local < 0 || local >= int64(len(f.generators)) {
		f.stats.count(func(c *result.Counts) *uint64 { return &c.Foreign })
		return
	}
	if !f.selector.Selects(identity.Generator) {
		f.stats.count(func(c *result.Counts) *uint64 { return &c.Unselected })
		return
	}
	f.generators[local].receive(f, subscriber, identity.Sequence, identity.Intended, before, taken)
}

package generator

import (
	"cmp"
	"slices"

	"lifeline/loadgen/result"
	"lifeline/loadgen/transport"
)

// missingKept is the number of lost deliveries that a run lists.
const missingKept = 1000

// Missing is one lost delivery: the message, when it was sent (CLOCK_MONOTONIC), and whose loss it is.
type Missing struct {
	Generator, Sequence uint32
	Sent                int64
	Kind                result.LossKind
}

// settle gives up a message of g: what has not arrived is lost. The caller holds g's lock.
func (f *Fleet) settle(g *generator, flight *flight) {
	subscribers := f.share.Scenario.Subscribers.Count
	missing := flight.missing(subscribers)
	if missing == 0 {
		return
	}
	f.outstanding.Add(-int64(missing))
	f.stats.mu.Lock()
	defer f.stats.mu.Unlock()
	f.stats.tick(flight.before).Lost += uint32(missing)
	for subscriber := range subscribers {
		if flight.copies&(1<<subscriber) == 0 {
			f.stats.lose(Missing{g.number, flight.sequence, flight.before, f.kindOfLoss(g, flight, subscriber)})
		}
	}
}

// kindOfLoss says whose loss a missing delivery is.
func (f *Fleet) kindOfLoss(g *generator, flight *flight, subscriber int) result.LossKind {
	if f.traits.Acknowledges && flight.state&acknowledged == 0 {
		return result.Unacknowledged
	}
	index := f.subscription(subscriber, slices.Index(f.share.Channels, g.channel))
	if since := f.inForce[index].Load(); since == 0 || flight.before < since {
		return result.SubscriberAway // it started together with the generators
	}
	if s, interrupted := f.subscriptions[index].(transport.Interrupted); interrupted {
		switch s.Missed(flight.before) {
		case transport.Away:
			return result.SubscriberAway
		case transport.Unclear:
			return result.Unclear
		}
	}
	if f.traits.Acknowledges {
		return result.Acknowledged
	}
	return result.Undelivered
}

// lose counts a lost delivery, and lists it if there is room; the caller holds the lock.
func (b *stats) lose(m Missing) {
	b.counts.Lost++
	*b.counts.LostAs(m.Kind)++
	if len(b.missing) < missingKept {
		b.missing = append(b.missing, m)
	}
}

// MergeMissing returns both lists by time, as far as there is room.
func MergeMissing(a, b []Missing) []Missing {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(a, b Missing) int { return cmp.Compare(a.Sent, b.Sent) })
	return all[:min(len(all), missingKept)]
}

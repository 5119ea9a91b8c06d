package agent

import (
	"slices"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/host"
	"lifeline/loadgen/result"
	"lifeline/loadgen/worker"
)

// The gauges of an agent's machine have the methods of a host.Watch. A broken stream is reported by the end of its reports, not here.

// Base is host.Watch's.
func (c *Client) Base() { _ = c.send(order{Gauge: base}) }

// Measure is host.Watch's.
func (c *Client) Measure() { _ = c.send(order{Gauge: measure}) }

// Rest is host.Watch's.
func (c *Client) Rest() { _ = c.send(order{Gauge: rest}) }

// Samples are those of the agent's machine so far, by this machine's clock.
func (c *Client) Samples() []host.Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.samples)
}

// Last is the newest sample.
func (c *Client) Last() host.Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.samples) == 0 {
		return host.Sample{}
	}
	return c.samples[len(c.samples)-1]
}

// Stalls is host.Watch's, by this machine's clock; what the agent has reported, each second.
func (c *Client) Stalls() (found []clock.Interval, until int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, c.stalls.Found = c.stalls.Found, nil
	return found, c.stalls.Until
}

func (c *Client) keep(samples []host.Sample, stalls *worker.Stalls) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sample := range samples {
		sample.At -= c.offset.Nanos
		c.samples = append(c.samples, sample)
	}
	if stalls == nil {
		return
	}
	for _, stall := range stalls.Found {
		c.stalls.Found = append(c.stalls.Found, clock.Interval{From: stall.From - c.offset.Nanos, To: stall.To - c.offset.Nanos})
	}
	c.stalls.Until = stalls.Until - c.offset.Nanos
}

// Stop is host.Watch's. Of an agent that is gone nothing is known.
func (c *Client) Stop(connections int) (result.Resources, result.Noise) {
	const enough = 20 * time.Second
	_ = c.send(order{Stop: &stop{connections}})
	select {
	case last := <-c.stopped:
		return last.Resources, last.Noise
	case <-c.gone:
	case <-time.After(enough):
	}
	return result.Resources{}, result.Noise{Unseen: []string{"the agent was gone before it reported its gauges"}}
}

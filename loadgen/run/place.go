package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lifeline/loadgen/agent"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/crew"
	"lifeline/loadgen/host"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/preflight"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/worker"
)

// place is a machine that runs workers and gauges itself: this one, or an agent's.
type place interface {
	Limits() (preflight.Machine, error)
	Hire(workers int, say func(crew.Said)) error // and starts the gauges
	Order(number int, order worker.Order) error
	Dismiss()

	// The gauges are those of a host.Watch.
	Base()
	Measure()
	Rest()
	Last() host.Sample
	Samples() []host.Sample
	Stalls() (found []clock.Interval, until int64)
	Stop(connections int) (result.Resources, result.Noise)
}

// post is a place with its share of the fleet.
type post struct {
	place
	agent         *agent.Client // nil: this machine
	share         share
	plan          preflight.Plan
	first         int // number of its first worker
	rtt, lateness measure.Recorder
	stalls        []clock.Interval // of the machine so far, a union
}

// share is a range of the fleet's generators, and of its pooled connections.
type share struct{ first, generators, pool int }

// part is one of several nearly equal parts.
func (s share) part(number, of int) share {
	cut := func(all int) (first, count int) {
		first = all * number / of
		return first, all*(number+1)/of - first
	}
	first, generators := cut(s.generators)
	_, pool := cut(s.pool)
	return share{s.first + first, generators, pool}
}

// connections are the share's.
func (s share) connections() int {
	if s.pool > 0 {
		return min(s.pool, s.generators)
	}
	return s.generators
}

// findPlaces reaches the fleet's machines, and plans the share of each. What it has found dismiss ends, also where it fails.
func (r *runner) findPlaces(ctx context.Context) error {
	if len(r.options.Agents) == 0 {
		r.posts = []*post{{place: &here{dir: r.dir, broker: func() []int { return r.cluster.Processes() }}}}
	} else if err := r.dial(ctx); err != nil {
		return err
	}
	all := share{first: r.options.First, generators: r.scenario.Generators, pool: r.scenario.Connections.Pool}
	if few := all.connections(); few < len(r.posts) {
		return fmt.Errorf("%d connections cannot be divided over %d agents", few, len(r.posts))
	}
	for number, p := range r.posts {
		p.share, p.first = all.part(number, len(r.posts)), r.workers
		limits, err := p.Limits()
		if err != nil {
			return err
		}
		if p.plan, err = limits.Plan(r.scenarioOf(p), r.traits); err != nil {
			return p.blame(err)
		}
		r.workers += p.plan.Workers
	}
	return nil
}

// scenarioOf is the scenario of a post's share alone.
func (r *runner) scenarioOf(p *post) scenario.Scenario {
	s := r.scenario
	s.Generators, s.Connections.Pool = p.share.generators, p.share.pool
	return s
}

// dial reaches all agents, at the same time.
func (r *runner) dial(ctx context.Context) error {
	if r.scenario.Broker.URL == "" {
		return errors.New("agents need a broker that they can reach: give its --url")
	}
	r.enter("looking for the agents")
	clients, errs := make([]*agent.Client, len(r.options.Agents)), make([]error, len(r.options.Agents))
	var group sync.WaitGroup
	for i, address := range r.options.Agents {
		group.Go(func() { clients[i], errs[i] = agent.Dial(ctx, address, r.options.TLS) })
	}
	group.Wait()
	for _, client := range clients {
		if client != nil {
			r.posts = append(r.posts, &post{place: client, agent: client})
		}
	}
	return errors.Join(errs...)
}

// prefix of messages that are about the post's machine.
func (p *post) prefix() string {
	if p.agent == nil {
		return ""
	}
	return "agent " + p.agent.Name() + ": "
}

func (p *post) blame(err error) error {
	var failure *result.Failure
	if errors.As(err, &failure) {
		return &result.Failure{Cause: failure.Cause, Message: p.prefix() + failure.Message}
	}
	return fmt.Errorf("%s%w", p.prefix(), err)
}

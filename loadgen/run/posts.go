package run

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lifeline/loadgen/agent"
	"lifeline/loadgen/crew"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/result"
	"lifeline/loadgen/worker"
)

// hire starts the workers of all posts.
func (r *runner) hire() error {
	for _, p := range r.posts {
		if err := p.Hire(p.plan.Workers, func(said crew.Said) {
			said.Member += p.first
			select {
			case r.reports <- said:
			case <-r.heard.Done():
			}
		}); err != nil {
			return p.blame(err)
		}
	}
	r.hired = true
	return nil
}

// dismiss ends all workers, and the runs of their agents.
func (r *runner) dismiss() {
	r.ignore()
	r.atAll(func(p *post) { p.Dismiss() })
}

// atAll calls for every post at the same time.
func (r *runner) atAll(call func(*post)) {
	var group sync.WaitGroup
	for _, p := range r.posts {
		group.Go(func() { call(p) })
	}
	group.Wait()
}

// postOf is a worker's.
func (r *runner) postOf(number int) *post {
	for _, p := range slices.Backward(r.posts) {
		if number >= p.first {
			return p
		}
	}
	return r.posts[0]
}

func (r *runner) order(number int, order worker.Order) error {
	p := r.postOf(number)
	if err := p.Order(number-p.first, order); err != nil {
		return r.death(crew.Said{Member: number, Err: err})
	}
	return nil
}

func (r *runner) orderAll(order worker.Order) {
	for number := range r.workers {
		_ = r.order(number, order) // a worker that is gone ends the run by the end of its reports
	}
}

// job is what one worker gets: a run of generators of nearly equal length.
func (r *runner) job(number int) *worker.Job {
	p := r.postOf(number)
	own := p.share.part(number-p.first, p.plan.Workers)
	job := &worker.Job{Target: r.target, Sources: p.plan.Sources, Share: generator.Share{
		Scenario: r.scenario, Run: r.number, First: own.first, Generators: own.generators, Connections: own.pool,
		Channels:   r.channels(number),
		RampOffset: r.scenario.Ramp.Duration * time.Duration(number),
		RampStep:   r.scenario.Ramp.Duration * time.Duration(r.workers),
	}}
	if p.agent != nil {
		is := p.agent.Describe()
		job.Addresses, job.Ahead = is.Sources, is.ClockBegin.Nanos
	}
	return job
}

// death is the failure of a run whose worker, or whose worker's machine, is gone.
func (r *runner) death(said crew.Said) *result.Failure {
	p := r.postOf(said.Member)
	who := fmt.Sprintf("worker %d of %d", said.Member+1, r.workers)
	if p.agent != nil {
		who += " on agent " + p.agent.Name()
	}
	if errors.Is(said.Err, agent.ErrGone) {
		who = "agent " + p.agent.Name()
	}
	message := fmt.Sprintf("%s ended before its result: %v", who, said.Err)
	if said.Log != "" {
		message += "; the end of its log:\n" + said.Log
	}
	return &result.Failure{Cause: result.WorkerExit, Message: message}
}

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lifeline/loadgen/agent"
	"lifeline/loadgen/crew"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/host"
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

// stop ends the gauges and takes what they found.
func (r *runner) stop() {
	hosts := make([]result.Host, len(r.posts))
	r.atAll(func(p *post) {
		h := &hosts[slices.Index(r.posts, p)]
		if p.agent != nil {
			*h = p.agent.Describe()
			ctx, cancel := context.WithTimeout(context.Background(), tidyTimeout)
			defer cancel()
			h.ClockEnd, _ = p.agent.Offset(ctx) // an agent that is gone has failed the run
		}
		for _, progress := range r.progress[p.first : p.first+p.plan.Workers] {
			add(&h.Counts, progress.Counts)
		}
		h.Generators, h.Workers = p.share.generators, p.plan.Workers
		h.RTT, h.Lateness = p.rtt.Distribution(), p.lateness.Distribution()
		h.Resources, h.Noise = p.Stop(h.Counts.Connections)
		h.Invalid = host.Judge(h.Machine.Cores, h.Noise, h.Lateness)
	})
	r.result.Resources, r.result.Noise = hosts[0].Resources, hosts[0].Noise
	if len(r.options.Agents) > 0 {
		r.result.Hosts = hosts
		summarise(&r.result)
	}
}

// summarise fills a result's machine, resources and noise from its hosts: sums, and the noise of the host that stalled most.
func summarise(to *result.Result) {
	to.Machine, to.Resources, to.Noise = result.Machine{}, result.Resources{}, result.Noise{}
	var models, kernels []string
	for _, h := range to.Hosts {
		models, kernels = append(models, h.Machine.CPU), append(kernels, h.Machine.Kernel)
		to.Machine.Cores += h.Machine.Cores
		to.Machine.Memory += h.Machine.Memory
		sum, client := &to.Resources.Client, h.Resources.Client
		sum.Processes += client.Processes
		sum.CPU += client.CPU
		sum.PeakRSS += client.PeakRSS
		sum.BaseRSS += client.BaseRSS
		to.Resources.Idle += h.Resources.Idle * float64(h.Machine.Cores)
		to.Resources.VmstatMemory += h.Resources.VmstatMemory
		if h.Noise.HiccupP99 >= to.Noise.HiccupP99 {
			to.Noise = h.Noise
		}
	}
	to.Resources.Idle /= float64(max(1, to.Machine.Cores))
	if client := &to.Resources.Client; to.Counts.Connections > 0 {
		client.PerConnection = float64(client.PeakRSS-client.BaseRSS) / float64(to.Counts.Connections)
	}
	each := func(all []string) string {
		slices.Sort(all)
		return strings.Join(slices.Compact(all), "; ")
	}
	to.Machine.CPU, to.Machine.Kernel = each(models), each(kernels)
}

// judge returns why the times are invalid, by the gauges of each host.
func (r *runner) judge() []string {
	if len(r.result.Hosts) == 0 {
		return host.Judge(r.result.Machine.Cores, r.result.Noise, r.result.Times.Lateness)
	}
	return judgeHosts(r.result.Hosts)
}

func judgeHosts(hosts []result.Host) (invalid []string) {
	for _, h := range hosts {
		for _, reason := range h.Invalid {
			invalid = append(invalid, h.Name+": "+reason)
		}
	}
	return invalid
}

// samples are the fleet's, by this machine's clock: of several hosts the sums at the times of the first one's, and the mean idle
// time of a core.
func (r *runner) samples() []host.Sample {
	all := r.posts[0].Samples()
	for _, p := range r.posts[1:] {
		rest := p.Samples()
		for i := range all {
			for len(rest) > 1 && rest[0].At < all[i].At {
				rest = rest[1:]
			}
			if len(rest) > 0 {
				all[i] = plus(all[i], rest[0])
			}
		}
	}
	for i := range all {
		all[i].Idle /= float64(len(r.posts))
	}
	return all
}

func (r *runner) lastSample() host.Sample {
	sum := host.Sample{}
	for _, p := range r.posts {
		sum = plus(sum, p.Last())
	}
	sum.Idle /= float64(len(r.posts))
	return sum
}

func plus(to, from host.Sample) host.Sample {
	to.Idle += from.Idle
	to.BrokerCPU += from.BrokerCPU
	to.ClientCPU += from.ClientCPU
	to.UsedMemory += from.UsedMemory
	to.BrokerRSS += from.BrokerRSS
	to.ClientRSS += from.ClientRSS
	return to
}

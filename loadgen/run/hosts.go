package run

import (
	"context"
	"slices"
	"strings"

	"lifeline/loadgen/host"
	"lifeline/loadgen/result"
)

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
		h.Invalid = host.Judge(h.Noise, h.Lateness)
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
		use(&to.Resources.Client, h.Resources.Client)
		use(&to.Resources.Broker, h.Resources.Broker)
		to.Resources.Idle += h.Resources.Idle * float64(h.Machine.Cores)
		to.Resources.VmstatMemory += h.Resources.VmstatMemory
		if h.Noise.HiccupP998 >= to.Noise.HiccupP998 {
			to.Noise = h.Noise
		}
	}
	to.Resources.Idle /= float64(max(1, to.Machine.Cores))
	for _, side := range []*result.Usage{&to.Resources.Client, &to.Resources.Broker} {
		side.PerConnection = float64(side.PeakRSS-side.BaseRSS) / float64(max(1, to.Counts.Connections))
	}
	each := func(all []string) string {
		slices.Sort(all)
		return strings.Join(slices.Compact(all), "; ")
	}
	to.Machine.CPU, to.Machine.Kernel = each(models), each(kernels)
}

func use(to *result.Usage, from result.Usage) {
	to.Processes += from.Processes
	to.CPU += from.CPU
	to.PeakRSS += from.PeakRSS
	to.BaseRSS += from.BaseRSS
}

// judge returns why the times are invalid, by the gauges of each host.
func (r *runner) judge() []string {
	if len(r.result.Hosts) == 0 {
		return host.Judge(r.result.Noise, r.result.Times.Lateness)
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

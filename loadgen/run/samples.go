package run

import "lifeline/loadgen/host"

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

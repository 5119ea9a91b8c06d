package run

import (
	"lifeline/loadgen/crew"
	"lifeline/loadgen/host"
	"lifeline/loadgen/preflight"
	"lifeline/loadgen/worker"
)

// here is this machine as a place. The broker's processes are its, too, where the fleet has started them.
type here struct {
	dir    string // for the workers' logs
	broker func() []int
	crew   *crew.Crew
	*host.Watch
}

func (*here) Limits() (preflight.Machine, error) { return preflight.Read() }

func (h *here) Hire(workers int, say func(crew.Said)) (err error) {
	if h.crew, err = crew.Hire(workers, h.dir, say); err != nil {
		return err
	}
	h.Watch, err = host.Start(sampleInterval, h.broker, h.crew.Processes)
	return err
}

func (h *here) Order(number int, order worker.Order) error { return h.crew.Order(number, order) }

func (h *here) Dismiss() {
	if h.crew != nil {
		h.crew.Dismiss()
	}
}

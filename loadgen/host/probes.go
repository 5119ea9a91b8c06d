package host

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/clock"
)

// probes are one on each core that this process may use, and so may broker and fleet, which it starts.
type probes struct {
	all     []*probe
	cores   int
	failed  []string // of those, the ones without a probe, and why
	running sync.WaitGroup
	stop    chan struct{}
}

func startProbes() *probes {
	p := &probes{stop: make(chan struct{})}
	var usable unix.CPUSet
	if err := unix.SchedGetaffinity(0, &usable); err != nil {
		p.failed = append(p.failed, err.Error())
	}
	p.cores = usable.Count()
	addProcs(p.cores)
	for core := 0; len(p.all)+len(p.failed) < p.cores; core++ {
		if !usable.IsSet(core) {
			continue
		}
		each, pinned := &probe{core: core}, make(chan error)
		p.running.Go(func() { each.run(pinned, p.stop) })
		if err := <-pinned; err != nil {
			p.failed = append(p.failed, err.Error())
		} else {
			p.all = append(p.all, each)
		}
	}
	return p
}

func (p *probes) restart() {
	for _, each := range p.all {
		each.restart()
	}
}

// worst are the greatest percentiles of lateness of any core: all messages of a broker, or of a worker, may pass through that one.
// Where cores could not be watched all the time, unseen says so.
func (p *probes) worst() (p998, longest int64, unseen []string) {
	failed := slices.Clip(p.failed)
	for _, each := range p.all {
		if !each.isPinned() {
			failed = append(failed, fmt.Sprintf("core %d: the thread was moved from it", each.core))
		}
		of998, ofAll := each.latest(clock.Now())
		p998, longest = max(p998, of998), max(longest, ofAll)
	}
	if len(failed) > 0 {
		unseen = append(unseen, fmt.Sprintf("could not watch every core for stalls (%s): nobody knows whether one stood still",
			strings.Join(failed, "; ")))
	}
	return p998, longest, unseen
}

// take returns the stalls of all cores since the last call, and until when none is missing.
func (p *probes) take() (stalls []clock.Interval, until int64) {
	until = clock.Now()
	now := until
	for _, each := range p.all {
		found, seen := each.take(now)
		stalls, until = append(stalls, found...), min(until, seen)
	}
	return stalls, until
}

// end stops the threads.
func (p *probes) end() {
	close(p.stop)
	p.running.Wait()
	addProcs(-p.cores)
}

var procs sync.Mutex

// addProcs lets so many more goroutines run at once: a probe counts as running all the time.
func addProcs(more int) {
	procs.Lock()
	defer procs.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + more)
}

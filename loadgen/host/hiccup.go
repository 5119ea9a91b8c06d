package host

import (
	"runtime"
	"sync"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/measure"
)

// probe is a thread that has nothing to do but to wake every millisecond, and records how late it wakes: what the machine
// adds to every other time of the run.
type probe struct {
	mutex    sync.Mutex
	lateness measure.Recorder
	stop     chan struct{}
	stopped  chan struct{}
}

const probeInterval = time.Millisecond

func startProbe() *probe {
	p := &probe{stop: make(chan struct{}), stopped: make(chan struct{})}
	go p.run()
	return p
}

func (p *probe) run() {
	defer close(p.stopped)
	runtime.LockOSThread()
	due := clock.Now()
	for {
		select {
		case <-p.stop:
			return
		default:
		}
		due += int64(probeInterval)
		clock.SleepUntil(due)
		now := clock.Now()
		p.mutex.Lock()
		p.lateness.Record(now - due)
		p.mutex.Unlock()
		// One long hiccup counts as one late wake-up, and not as the thousand that follow from it.
		if now-due > int64(probeInterval) {
			due = now
		}
	}
}

// restart forgets what was recorded.
func (p *probe) restart() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.lateness.Reset()
}

// end stops the thread and returns what it recorded.
func (p *probe) end() *measure.Recorder {
	close(p.stop)
	<-p.stopped
	return &p.lateness
}

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
		due += p.late(clock.Now() - due)
	}
}

// late records a wake-up, and those that fell into the time by which it was late: a machine that stood still for a second made a
// thousand of them late, by less and less, as it would have any message that was due then. It returns the time that they cover.
func (p *probe) late(by int64) (covered int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for p.lateness.Record(by); by-covered > int64(probeInterval); p.lateness.Record(by - covered) {
		covered += int64(probeInterval)
	}
	return covered
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

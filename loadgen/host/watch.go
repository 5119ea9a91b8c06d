package host

import (
	"fmt"
	"os"
	"sync"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/result"
)

// Sample is one interval of the watch.
type Sample struct {
	At                   int64   // CLOCK_MONOTONIC ns at its end
	Idle                 float64 // share of the machine's CPU
	BrokerCPU, ClientCPU float64 // cores
	UsedMemory           int64   // of the machine, as vmstat counts it
	BrokerRSS, ClientRSS int64
}

// Watch samples the machine and two groups of processes until it is stopped. Its methods may be called from any goroutine.
type Watch struct {
	broker, client func() []int
	probes         *probes
	stop, stopped  chan struct{}

	mutex             sync.Mutex
	sides             [2]group // broker, client
	firstCPU, lastCPU cpuTimes
	firstAt, lastAt   int64
	first             census // of all processes, at firstAt
	base              [2]int64
	peak              [2]int64
	bottom, top       int64 // used memory
	samples           []Sample
	rested            bool
	measured          measured
}

// measured is what was found from Measure to Rest.
type measured struct {
	cores [2]float64 // that broker and client used
	idle  float64
	noise result.Noise
}

// Start begins to sample every interval. The two functions give the process ids of the moment; this process is the client's
// whether or not they name it. Stop must be called.
func Start(interval time.Duration, broker, client func() []int) (*Watch, error) {
	w := &Watch{broker: broker, client: client, first: takeCensus(), stop: make(chan struct{}), stopped: make(chan struct{})}
	w.sides[0].forks = true
	if err := w.sample(); err != nil {
		return nil, fmt.Errorf("watching the machine needs /proc: %w", err)
	}
	w.probes = startProbes()
	go w.run(interval)
	return w, nil
}

func (w *Watch) run(interval time.Duration) {
	defer close(w.stopped)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
			_ = w.sample() // it has worked before: /proc does not go away
		}
	}
}

// Base takes the present memory as that before the first connection. Call it when broker and workers run and nothing is
// connected.
func (w *Watch) Base() {
	_ = w.sample()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for i := range w.sides {
		w.base[i], w.peak[i] = w.sides[i].rss, w.sides[i].rss
	}
	w.bottom, w.top = w.lastUsed(), w.lastUsed()
}

// Measure forgets CPU times and hiccups so far: call it when the measured part of a run begins, after connecting, and not after
// Rest.
func (w *Watch) Measure() {
	first := takeCensus()
	_ = w.sample()
	w.probes.restart()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.firstCPU, w.firstAt, w.first = w.lastCPU, w.lastAt, first
	for i := range w.sides {
		side := &w.sides[i]
		side.cpu, side.waiting, side.turns = 0, 0, 0
	}
}

// Last is the newest sample; zero before the first interval has passed.
func (w *Watch) Last() Sample {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.samples) == 0 {
		return Sample{}
	}
	return w.samples[len(w.samples)-1]
}

// Samples are all so far, oldest first.
func (w *Watch) Samples() []Sample {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return append([]Sample(nil), w.samples...)
}

// Rest takes CPU times and hiccups from Measure up to now for those of the run: call it when the measured part ends. The wait for lost
// messages that may follow is idle, and closing thousands of connections is not. Samples and memory go on until Stop. One
// goroutine calls Measure, Rest and Stop, in this order.
func (w *Watch) Rest() {
	if w.rested {
		return
	}
	w.rested = true
	_ = w.sample()
	hiccupP998, hiccupMax, unseen := w.probes.worst()
	last := takeCensus()
	w.mutex.Lock()
	defer w.mutex.Unlock()

	seconds := float64(w.lastAt-w.firstAt) / 1e9
	w.measured = reckon(w.firstCPU, w.lastCPU, seconds, w.sides)
	// The kernel charges a process for the interrupts that it served meanwhile, but counts them apart in /proc/stat: on a
	// busy network the difference is too small, and what the others used has to be asked of them.
	others, top := busiest(w.first, last, w.ours, seconds)
	w.measured.noise.Others, w.measured.noise.Busiest = max(w.measured.noise.Others, others), top
	w.measured.noise.HiccupP998, w.measured.noise.HiccupMax = hiccupP998, hiccupMax
	w.measured.noise.Unseen = append(w.measured.noise.Unseen, unseen...)
}

// Stalls returns the times since the last call in which a core of the machine stood still, in no order, and until when none is missing.
// A stall may be returned in parts that overlap. Not to be called after Stop.
func (w *Watch) Stalls() (found []clock.Interval, until int64) { return w.probes.take() }

// reckon makes figures of what machine and sides used in so many seconds.
func reckon(first, last cpuTimes, seconds float64, sides [2]group) measured {
	var m measured
	var waiting, turns int64
	for i, side := range sides {
		m.cores[i] = side.cpu / ticksPerSecond / seconds
		waiting, turns = waiting+side.waiting, turns+side.turns
	}
	if total := last.total - first.total; total > 0 {
		m.idle = float64(last.idle-first.idle) / float64(total)
		m.noise.Steal = float64(last.steal-first.steal) / float64(total)
		m.noise.Others = max(0, float64(last.processes-first.processes)/ticksPerSecond/seconds-m.cores[0]-m.cores[1])
	} else {
		m.noise.Unseen = append(m.noise.Unseen, "could not read the time that the machine was idle (/proc/stat "+
			"stands still here): nobody knows whether other processes or the hypervisor took it")
	}
	if turns > 0 {
		m.noise.RunQueueWait = float64(waiting) / float64(turns)
	} else {
		m.noise.Unseen = append(m.noise.Unseen, "could not read how long ready threads waited for a core (/proc has "+
			"no schedstat here): nobody knows whether the machine was too small")
	}
	return m
}

// ours reports whether a process is of one of the two sides.
func (w *Watch) ours(pid int) bool {
	for _, side := range w.sides {
		if _, is := side.last[pid]; is {
			return true
		}
	}
	return false
}

// Stop ends the watch and returns what it found from Measure to Rest, or to now where nobody has called it, and of memory
// since Base.
func (w *Watch) Stop(connections int) (result.Resources, result.Noise) {
	w.Rest()
	w.probes.end()
	close(w.stop)
	<-w.stopped
	_ = w.sample()
	w.mutex.Lock()
	defer w.mutex.Unlock()

	var used [2]result.Usage
	for i, side := range w.sides {
		used[i] = result.Usage{
			Processes: side.processes, CPU: w.measured.cores[i], PeakRSS: w.peak[i], BaseRSS: w.base[i],
		}
		if connections > 0 {
			used[i].PerConnection = float64(w.peak[i]-w.base[i]) / float64(connections)
		}
	}
	return result.Resources{
		Broker: used[0], Client: used[1], Idle: w.measured.idle, VmstatMemory: w.top - w.bottom,
	}, w.measured.noise
}

// sample takes one; the first one only sets the start.
func (w *Watch) sample() error {
	times, err := readCPU()
	if err != nil {
		return err
	}
	memory, err := readMemory()
	if err != nil {
		return err
	}
	brokers, clients := w.broker(), withSelf(w.client())

	w.mutex.Lock()
	defer w.mutex.Unlock()
	before := [2]float64{w.sides[0].cpu, w.sides[1].cpu}
	w.sides[0].update(brokers)
	w.sides[1].update(clients)
	for i, side := range w.sides {
		w.peak[i] = max(w.peak[i], side.rss)
	}
	now := clock.Now()
	if w.firstAt == 0 {
		w.firstCPU, w.firstAt, w.bottom = times, now, memory.used
	}
	w.bottom, w.top = min(w.bottom, memory.used), max(w.top, memory.used)
	elapsed, ticks := float64(now-w.lastAt)/1e9, times.total-w.lastCPU.total
	if w.lastAt != 0 && ticks > 0 {
		w.samples = append(w.samples, Sample{
			At:         now,
			Idle:       float64(times.idle-w.lastCPU.idle) / float64(ticks),
			BrokerCPU:  (w.sides[0].cpu - before[0]) / ticksPerSecond / elapsed,
			ClientCPU:  (w.sides[1].cpu - before[1]) / ticksPerSecond / elapsed,
			UsedMemory: memory.used,
			BrokerRSS:  w.sides[0].rss, ClientRSS: w.sides[1].rss,
		})
	}
	w.lastCPU, w.lastAt = times, now
	return nil
}

func (w *Watch) lastUsed() int64 {
	if len(w.samples) == 0 {
		return w.bottom
	}
	return w.samples[len(w.samples)-1].UsedMemory
}

func withSelf(pids []int) []int {
	self := os.Getpid()
	for _, pid := range pids {
		if pid == self {
			return pids
		}
	}
	return append(pids[:len(pids):len(pids)], self)
}

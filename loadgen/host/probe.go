package host

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/measure"
)

const (
	// probeInterval is the time between two wake-ups of a probe, 500 a second: 20 of those in 20 s are beyond p99.8. On a
	// virtual machine a probe takes 1.2 to 1.6 % of its core.
	probeInterval = 2_000_000
	// StallTime is how late a probe wakes, in nanoseconds, after its core has stood still. A ready thread may have to wait for the time
	// slice of another one to end, 3 ms by Linux' defaults, or for the next clock tick, 1 to 10 ms. No ordinary load of broker and
	// fleet makes the probe wait longer: the kernel, the hypervisor or a thread of higher priority kept the core.
	StallTime = 10_000_000
)

// probe is a thread that does nothing but wake every probeInterval on one core, and record how late it wakes: what this core adds to
// the times of a thread of broker or fleet.
type probe struct {
	core   int
	thread int

	mutex    sync.Mutex
	due      int64 // its next wake-up
	seen     int64 // its last one
	lateness measure.Recorder
	stalls   []clock.Interval // since they were last taken; no more than one in StallTime
}

// run wakes until stop is closed. It reports to pinned once the thread is on its core, or why it cannot be.
func (p *probe) run(pinned chan<- error, stop <-chan struct{}) {
	runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine
	if err := p.pin(); err != nil {
		pinned <- err
		return
	}
	p.seen = clock.Now()
	p.due = p.seen + probeInterval
	due := p.due
	pinned <- nil
	for {
		select {
		case <-stop:
			return
		default:
		}
		sleepUntil(due)
		due = p.woke(clock.Now())
	}
}

// pin ties the thread to its core, and asks for the shortest time slice (Linux 6.12): a thread with a shorter one goes first, so the
// ordinary load of broker and fleet is not taken for a stall.
func (p *probe) pin() error {
	p.thread = unix.Gettid()
	only := coreSet(p.core)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return fmt.Errorf("core %d: %w", p.core, err)
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Runtime: 100_000}, 0)
	return nil
}

// isPinned reports whether the thread is still tied to its core: a change of a container's cores, or the core's end, unties it.
func (p *probe) isPinned() bool {
	var set unix.CPUSet
	return unix.SchedGetaffinity(p.thread, &set) == nil && set == coreSet(p.core)
}

func coreSet(core int) unix.CPUSet {
	var set unix.CPUSet
	set.Set(core)
	return set
}

// sleepUntil is clock.SleepUntil for a thread that does nothing else. The runtime is not told that the thread sleeps: it would give the
// thread's turn to other goroutines, for which it wakes threads at several times the cost of the probe, and the probe would have to
// wait for another turn.
func sleepUntil(deadline int64) {
	at := unix.NsecToTimespec(deadline)
	_, _, _ = unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&at)), 0, 0, 0)
}

// woke records a wake-up and returns when the next one is due.
func (p *probe) woke(now int64) (due int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	late := now - p.due
	if late < 0 { // a signal of the runtime
		return p.due
	}
	if late >= StallTime {
		p.stalls = append(p.stalls, clock.Interval{From: p.seen, To: now})
	}
	p.seen = now
	p.due += probeInterval + p.late(late)
	return p.due
}

// late records a wake-up, and those that fell into the time by which it was late: a core that stood still for a second made hundreds of
// them late, by less and less, as it would have any message that was due then. It returns the time that they cover.
func (p *probe) late(by int64) (covered int64) {
	for p.lateness.Record(by); by-covered > probeInterval; p.lateness.Record(by - covered) {
		covered += probeInterval
	}
	return covered
}

// restart forgets the lateness so far.
func (p *probe) restart() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.lateness.Reset()
}

// latest are percentiles of the lateness, a wake-up that is overdue now among them.
func (p *probe) latest(now int64) (p998, longest int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	all := p.lateness
	if late := now - p.due; late > 0 {
		var last probe
		last.lateness.Merge(&p.lateness)
		last.late(late)
		all = last.lateness
	}
	return all.Percentile(99.8), all.Percentile(100)
}

// take returns the stalls since the last call, and until when none is missing. A stall that has not ended is taken up to now, and the
// whole of it once it has.
func (p *probe) take(now int64) (stalls []clock.Interval, until int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	stalls, p.stalls = p.stalls, nil
	if now-p.due < StallTime {
		return stalls, p.seen
	}
	return append(stalls, clock.Interval{From: p.seen, To: now}), now
}

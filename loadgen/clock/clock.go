// Package clock reads and waits on CLOCK_MONOTONIC, which every process of a machine shares: a time stamped by one worker
// can be subtracted from a time stamped by another.
package clock

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Go reads CLOCK_MONOTONIC without a system call but hides its origin, which is found once.
var base, baseNanos = origin()

// origin pairs a time with CLOCK_MONOTONIC, using the shortest of several readings: a process preempted during a
// single reading would be milliseconds ahead of all others.
func origin() (at time.Time, nanos int64) {
	quickest := int64(math.MaxInt64)
	for range 10 {
		before := readMonotonic()
		now := time.Now()
		after := readMonotonic()
		if after-before < quickest {
			quickest, at, nanos = after-before, now, before+(after-before)/2
		}
	}
	return at, nanos
}

func readMonotonic() int64 {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &at); err != nil {
		panic("clock: CLOCK_MONOTONIC cannot be read: " + err.Error())
	}
	return at.Nano()
}

// ahead is by how much this machine's clock is ahead of the one that Now reads.
var ahead int64

// Follow makes Now read the CLOCK_MONOTONIC of another machine, which this machine's is so many nanoseconds ahead of. A worker calls
// it before anything reads the clock: its coordinator may run elsewhere.
func Follow(nanos int64) {
	baseNanos += ahead - nanos
	ahead = nanos
}

// Now is CLOCK_MONOTONIC in nanoseconds.
func Now() int64 { return baseNanos + int64(time.Since(base)) }

// SleepUntil returns at or after the given reading of Now. It holds its thread in the kernel's own timer, because the
// runtime's timers are about a millisecond coarse; so call it from few goroutines that are locked to their threads.
func SleepUntil(deadline int64) {
	at := unix.NsecToTimespec(deadline + ahead)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil) == unix.EINTR {
	}
}

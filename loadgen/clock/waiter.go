package clock

import (
	"encoding/binary"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Waiter waits for a time and can be woken before it. It holds its thread in the kernel's own timer, because the runtime's timers
// are about a millisecond coarse. One goroutine at a time waits.
type Waiter struct{ event int }

// NewWaiter makes a waiter.
func NewWaiter() (*Waiter, error) {
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no descriptor for waiting: %w", err)
	}
	return &Waiter{event}, nil
}

// WaitUntil returns at the given reading of Now, or earlier after a Wake.
func (w *Waiter) WaitUntil(deadline int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0) // to a microsecond; where that is not allowed, a wait ends 50 µs late
	for left := deadline - Now(); left > 0; left = deadline - Now() {
		timeout := unix.NsecToTimespec(left)
		ready, err := unix.Ppoll([]unix.PollFd{{Fd: int32(w.event), Events: unix.POLLIN}}, &timeout, nil)
		if err == nil && ready > 0 {
			var count [8]byte
			unix.Read(w.event, count[:]) // resets it; another thread's Wake in between is as good as this one
			return
		}
		if err != nil && err != unix.EINTR { // which the runtime's own signals are
			return
		}
	}
}

// Wake ends the present or the next wait. Any goroutine may call it until Close.
func (w *Waiter) Wake() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	unix.Write(w.event, one[:]) // fails only where 2^64 wakes are pending
}

// Close gives the descriptor back.
func (w *Waiter) Close() error { return unix.Close(w.event) }

package clock

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// Waiter waits for a time and can be woken before it. It sleeps in the kernel's own timer, because the runtime's timers are about
// a millisecond coarse; so one goroutine, locked to its thread, waits.
type Waiter struct{ event int }

// NewWaiter makes a waiter for the calling thread, whose timers it sharpens to a microsecond.
func NewWaiter() (*Waiter, error) {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("this thread's timers cannot be sharpened: %w", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no descriptor for waiting: %w", err)
	}
	return &Waiter{event}, nil
}

// WaitUntil returns at the given reading of Now, or earlier after a Wake.
func (w *Waiter) WaitUntil(deadline int64) {
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

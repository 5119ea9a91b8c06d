package clock

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// Alarm rings at a time that can be put off without waking the goroutine that waits for it.
type Alarm struct {
	timer int
	mu    sync.Mutex
	at    int64 // when it rings, or rang last
}

// NewAlarm makes an alarm that is not set.
func NewAlarm() (*Alarm, error) {
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no timer: %w", err)
	}
	return &Alarm{timer: timer}, nil
}

// Set lets the alarm ring between two readings of Now, instead of any time set before; at once where they have passed. It costs nothing
// where the alarm is set to such a time already. Any goroutine may call it.
func (a *Alarm) Set(earliest, latest int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if earliest <= a.at && a.at <= latest && a.at > Now() {
		return
	}
	a.at = latest
	once := unix.ItimerSpec{Value: unix.NsecToTimespec(max(latest, 1))}  // 0 would turn it off
	_ = unix.TimerfdSettime(a.timer, unix.TFD_TIMER_ABSTIME, &once, nil) // fails for invalid times only
}

// Wait returns when the alarm has rung since the last Wait. It holds its thread.
func (a *Alarm) Wait() {
	var rings [8]byte
	for {
		if _, err := unix.Read(a.timer, rings[:]); err != unix.EINTR {
			return
		}
	}
}

// Close gives the descriptor back; nobody may be waiting.
func (a *Alarm) Close() error { return unix.Close(a.timer) }

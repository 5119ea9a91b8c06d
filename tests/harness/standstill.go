package harness

import (
	"sync/atomic"
	"time"
)

// WatchStandstill returns how to ask for how long at most, since it was called, the machine kept a thread waiting that
// was ready to run. No program is to be blamed for that: a virtual machine may stand still for seconds.
func WatchStandstill(t T) (longest func() time.Duration) {
	const step = 10 * time.Millisecond
	var most atomic.Int64
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	go func() {
		for before := time.Now(); ; {
			select {
			case <-ended:
				return
			case <-time.After(step):
			}
			now := time.Now()
			most.Store(max(most.Load(), int64(now.Sub(before)-step)))
			before = now
		}
	}()
	return func() time.Duration { return time.Duration(most.Load()) }
}

package clock

import (
	"math"
	"testing"

	"lifeline/loadgen/systemtest"
)

func TestNowIsTheKernelsClock(t *testing.T) {
	systemtest.Mark(t)
	nearest := int64(math.MaxInt64)
	for range 1000 { // in one of which this thread keeps its core
		before := readMonotonic()
		now := Now()
		after := readMonotonic()
		nearest = min(nearest, max(before-now, now-after, 0))
	}
	if nearest > 10_000 {
		t.Errorf("Now is %d ns outside of two readings of CLOCK_MONOTONIC around it", nearest)
	}
}

func TestAClockThatFollowsAnotherIsBehindItsMachines(t *testing.T) {
	const ahead = int64(1e15)
	before := Now()
	Follow(ahead)
	there := Now()
	SleepUntil(there + 1_000_000)
	after := Now()
	Follow(0)
	if now := Now(); there < before-ahead || there > now-ahead || after < there+1_000_000 || now < before {
		t.Errorf("%d, then %d and %d with %d less, then %d", before, there, after, ahead, now)
	}
}

func TestAWaiterReturnsAtItsTimeOrWhenItIsWoken(t *testing.T) {
	waiter, err := NewWaiter()
	if err != nil {
		t.Fatal(err)
	}
	defer waiter.Close()
	due := Now() + 2_000_000
	if waiter.WaitUntil(due); Now() < due {
		t.Error("returned too early")
	}
	waiter.Wake()
	waiter.WaitUntil(math.MaxInt64 / 2) // 146 years
	go waiter.Wake()
	waiter.WaitUntil(math.MaxInt64 / 2)
	if SleepUntil(due + 1_000_000); Now() < due+1_000_000 {
		t.Error("slept too short")
	}
}

package stub

import (
	"testing"
	"time"

	"lifeline/loadgen/systemtest"
)

func TestMessagesUnderWayInAStallAreLeftOutOfTheTimesWithoutStalls(t *testing.T) {
	systemtest.Mark(t)
	_, release := systemtest.KeepCore(t) // or the test is left out
	release()
	broker, err := Start(func(int) Treatment { return Treatment{} })
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	const generators = 12 // whose messages of 7 s are all among the 100 slowest
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		for broker.Counts().Taken < 2*generators {
			time.Sleep(10 * time.Millisecond)
		}
		_, release := systemtest.KeepCore(t)
		time.Sleep(interval)
		release()
	}()
	found := fleet(t, "nats://"+broker.Address(), "minimal", generators)
	<-kept
	// On a busy machine there are more stalls than the one, and some later than the messages due last.
	calm, least, longest := found.Times.RTTWithoutStalls, 0, int64(0)
	for _, trip := range found.Slowest {
		overlaps := false
		for _, stall := range found.Stalls.Longest {
			from, to := stall.At, stall.At+float64(stall.Length)/1e9
			overlaps = overlaps || trip.At < to && from < trip.At+float64(trip.RTT)/1e9
		}
		if overlaps {
			least++
		} else {
			longest = max(longest, trip.RTT)
		}
	}
	if found.Stalls.Count == 0 || time.Duration(found.Stalls.Longest[0].Length) < interval/2 || least == 0 {
		t.Fatalf("a core was kept for %v, and the stalls are %+v, with %d messages under way", interval, found.Stalls, least)
	}
	if left := found.Times.RTT.Count - calm.Count; left < int64(least) || calm.Count == 0 && least < len(found.Slowest) || calm.Max > longest {
		t.Errorf("%d of %d messages are left out, %d at least should be; the longest of the others is %d, not above %d", left,
			found.Times.RTT.Count, least, calm.Max, longest)
	}
	if found.Times.ServiceTimeWithoutStalls.Count != calm.Count {
		t.Errorf("%d service times of %d messages", found.Times.ServiceTimeWithoutStalls.Count, calm.Count)
	}
}

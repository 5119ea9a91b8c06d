package generator

import (
	"testing"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/transport"
)

func TestTimesWithoutStallsAreThoseOfTheMessagesUnderWayInNone(t *testing.T) {
	fleet, err := New(Share{}, nil, transport.Traits{})
	if err != nil {
		t.Fatal(err)
	}
	arrive := func(intended, before, taken int64) {
		fleet.stats.arrived(arrival{intended: intended, before: before, received: taken, taken: taken})
	}
	const stallsBegin, stallsEnd = 1000, 1100
	arrive(900, 910, 1000)   // as the stall begins
	arrive(900, 910, 1001)   // in it
	arrive(1050, 1060, 1070) // within it
	arrive(1099, 1150, 1200) // due in it, and sent after it
	arrive(500, 500, 1200)   // around it
	arrive(1100, 1101, 1140) // after it
	arrive(1200, 1210, 1500) // in the next stall, reported later
	fleet.Stalls([]clock.Interval{{From: stallsBegin, To: 1050}}, 1050)
	fleet.Stalls([]clock.Interval{{From: stallsBegin, To: stallsEnd}}, 1300)
	count := func() int64 { totals := fleet.Totals(); return totals.Times.RTTWithoutStalls.Count() }
	if got := count(); got != 2 {
		t.Errorf("%d messages were under way in no stall up to 1300, not 2", got)
	}
	fleet.Stalls([]clock.Interval{{From: 1400, To: 1450}}, 2000)
	totals := fleet.Totals()
	rtt, service := &totals.Times.RTTWithoutStalls, &totals.Times.ServiceTimeWithoutStalls
	if count() != 2 || rtt.Percentile(100) != 100 || rtt.Percentile(0) > 64 || service.Percentile(100) != 90 || totals.Times.RTT.Count() != 7 {
		t.Errorf("%d, up to %d ns and %d ns from the sending", count(), rtt.Percentile(100), service.Percentile(100))
	}
	if len(fleet.stats.waiting) != 0 {
		t.Errorf("%d are still remembered", len(fleet.stats.waiting))
	}
}

package generator

import "testing"

func TestTotalsStayAsTheyAreWhenAClientTellsMoreOfItsMessages(t *testing.T) {
	b := newStats()
	tell := func() {
		b.sent(sending{before: 1, after: 2})
		b.acknowledged(1, 3, false)
		b.acknowledged(1, 3*Tick, false)
	}
	tell()
	totals := b.totals()
	tell()
	if c := totals.Counts; c.Sent != 1 || c.Acknowledged != 2 || totals.Times.PRT.Count() != 1 || totals.Times.Acknowledged.Count() != 2 {
		t.Errorf("of one message: %+v, %d and %d times", c, totals.Times.PRT.Count(), totals.Times.Acknowledged.Count())
	}
	if len(totals.Ticks) != 2 || *totals.Ticks[0] != (Ticks{Sent: 1, Acknowledged: 1}) {
		t.Errorf("of one message: %d ticks, the first %+v", len(totals.Ticks), totals.Ticks[0])
	}
}

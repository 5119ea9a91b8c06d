package run

import (
	"testing"

	"lifeline/loadgen/clock"
)

func TestAResultListsTheLongestStallsOfItsSpan(t *testing.T) {
	const second = int64(1_000_000_000)
	all := []clock.Interval{{From: 0, To: second}} // before the span
	for i := range int64(stallsKept + 50) {
		all = append(all, clock.Interval{From: (10 + i) * second, To: (10+i)*second + i + 1})
	}
	end := (10 + stallsKept + 50) * second
	all = append(all, clock.Interval{From: end, To: end + second}) // after it
	got := stallsWithin(all, 10*second, end, 5*second)
	const count = stallsKept + 50
	if got.Count != count || got.Total != count*(count+1)/2 || len(got.Longest) != stallsKept {
		t.Errorf("%d stalls of %d ns, %d of them listed", got.Count, got.Total, len(got.Longest))
	}
	if first := got.Longest[0]; first.Length != count || first.At != 5+count-1 {
		t.Errorf("the longest is %+v", first)
	}
	if got := stallsWithin(nil, 10*second, end, 0); got.Count != 0 || got.Longest != nil {
		t.Errorf("of nothing: %+v", got)
	}
}

package clock

import (
	"slices"
	"testing"
)

func TestAUnionCoversTheSameTimes(t *testing.T) {
	parts := []Interval{{50, 60}, {10, 20}, {15, 17}, {20, 30}, {31, 32}}
	union := Union(slices.Clone(parts))
	if want := []Interval{{10, 30}, {31, 32}, {50, 60}}; !slices.Equal(union, want) {
		t.Fatalf("%v, want %v", union, want)
	}
	for at := range int64(70) {
		within := func(all []Interval) bool {
			return slices.ContainsFunc(all, func(i Interval) bool { return i.From <= at && at < i.To })
		}
		if within(parts) != within(union) {
			t.Errorf("%d is in only one of %v and %v", at, parts, union)
		}
	}
	if Union(nil) != nil {
		t.Error("the union of nothing is something")
	}
}

func TestAnOverlapIsATimeInCommon(t *testing.T) {
	union := []Interval{{10, 30}, {31, 32}, {50, 60}}
	for span, want := range map[Interval][]Interval{
		{0, 10}: {}, {30, 31}: {}, {60, 90}: {}, {29, 31}: union[:1], {29, 32}: union[:2], {55, 56}: union[2:], {0, 90}: union,
	} {
		if got := span.Overlap(union); !slices.Equal(got, want) {
			t.Errorf("%v overlaps %v, want %v", span, got, want)
		}
	}
}

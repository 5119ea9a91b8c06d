package clock

import (
	"cmp"
	"slices"
	"sort"
)

// Interval is the time from From up to To, two readings of Now.
type Interval struct{ From, To int64 }

// Union returns the intervals in order, with those that overlap or touch each other merged. It reuses their memory.
func Union(intervals []Interval) []Interval {
	slices.SortFunc(intervals, func(a, b Interval) int { return cmp.Compare(a.From, b.From) })
	union := intervals[:0]
	for _, next := range intervals {
		if last := len(union) - 1; last >= 0 && next.From <= union[last].To {
			union[last].To = max(union[last].To, next.To)
		} else {
			union = append(union, next)
		}
	}
	return union
}

// Overlap returns those of a union that have a time in common with the interval.
func (i Interval) Overlap(union []Interval) []Interval {
	first := sort.Search(len(union), func(k int) bool { return union[k].To > i.From })
	end := sort.Search(len(union), func(k int) bool { return union[k].From >= i.To })
	return union[first:max(first, end)]
}

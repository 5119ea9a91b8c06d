// Package measure collects times. A Recorder keeps a histogram for the percentiles and exact sums for mean and standard
// deviation; recorders of many workers are sent over a pipe (gob), merged, and become a result.Distribution.
package measure

import (
	"math"
	"math/big"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The histogram's range and precision. Below 131 µs its buckets are 64 ns wide, above it a thousandth of the value.
const (
	lowest  = 100             // ns
	Highest = 120_000_000_000 // ns; longer times are clamped to it, and counted
	digits  = 3
)

// Recorder collects times in nanoseconds. Its zero value is empty and ready; the first value allocates 180 KB, the first
// negative one as much again. One goroutine at a time may use a Recorder.
//
// A Recorder takes negative values too (the study's process time is negative where a message arrives before the publishing
// call returns). HdrHistogram cannot hold them, so their magnitudes have a histogram of their own.
type Recorder struct {
	positive, negative *hdrhistogram.Histogram // of values from 0 on, and of the magnitudes of those below; nil: none yet
	sum, squares       wide
	min, max           int64
	clamped            int64
}

// Record takes one value. Allocates nothing after the first.
func (r *Recorder) Record(ns int64) {
	if r.Count() == 0 {
		r.min, r.max = ns, ns
	}
	r.min, r.max = min(r.min, ns), max(r.max, ns)
	side, magnitude := &r.positive, uint64(ns)
	if ns < 0 {
		side, magnitude = &r.negative, -uint64(ns)
	}
	r.sum.add(ns)
	r.squares.addSquare(magnitude)
	if magnitude > Highest {
		magnitude = Highest
		r.clamped++
	}
	must(histogram(side).RecordValue(int64(magnitude)))
}

// Merge adds what from has recorded; from keeps it. Merging is exact: in whatever order, it gives what one Recorder
// would have held.
func (r *Recorder) Merge(from *Recorder) {
	if from.Count() == 0 {
		return
	}
	if r.Count() == 0 {
		r.min, r.max = from.min, from.max
	}
	r.min, r.max = min(r.min, from.min), max(r.max, from.max)
	r.sum.addWide(from.sum)
	r.squares.addWide(from.squares)
	r.clamped += from.clamped
	if from.positive != nil {
		histogram(&r.positive).Merge(from.positive)
	}
	if from.negative != nil {
		histogram(&r.negative).Merge(from.negative)
	}
}

// Reset forgets everything and keeps the memory, for a Recorder that serves one second after the other.
func (r *Recorder) Reset() {
	positive, negative := r.positive, r.negative
	for _, h := range []*hdrhistogram.Histogram{positive, negative} {
		if h != nil {
			h.Reset()
		}
	}
	*r = Recorder{positive: positive, negative: negative}
}

// Count is how many values were recorded.
func (r *Recorder) Count() int64 { return count(r.positive) + count(r.negative) }

// Percentile is the smallest recorded value that percent of all values do not exceed, rounded away from zero to its
// bucket's end; at 100 the exact maximum. 0 where nothing was recorded.
func (r *Recorder) Percentile(percent float64) int64 {
	total := r.Count()
	if total == 0 {
		return 0
	}
	// The product may come out a trifle above a whole number: 99.9 % of 1,000 is the 999th value, not the 1,000th.
	rank := int64(math.Ceil(percent/100*float64(total) - 1e-6))
	rank = max(1, min(rank, total))
	if rank == total {
		return r.max
	}
	below := count(r.negative)
	if rank > below {
		return min(r.max, atRank(r.positive, rank-below))
	}
	return max(r.min, -atRank(r.negative, below-rank+1)) // the smallest value has the greatest magnitude
}

// AtMost is how many values did not exceed limit. Values in the same bucket as limit count as exceeding it unless the
// maximum does not, so an objective is never met by rounding.
func (r *Recorder) AtMost(limit int64) int64 {
	if r.Count() > 0 && r.max <= limit {
		return r.Count()
	}
	var within int64
	for _, bar := range bars(r.positive) {
		if bar.To <= limit {
			within += bar.Count
		}
	}
	for _, bar := range bars(r.negative) {
		if -bar.From <= limit {
			within += bar.Count
		}
	}
	return within
}

// Mean is exact; 0 where nothing was recorded.
func (r *Recorder) Mean() float64 {
	n := r.Count()
	if n == 0 {
		return 0
	}
	mean, _ := new(big.Rat).SetFrac(r.sum.int(), big.NewInt(n)).Float64()
	return mean
}

// StdDev is the standard deviation of exactly the recorded values (not an estimate for a larger population).
func (r *Recorder) StdDev() float64 {
	n := r.Count()
	if n == 0 {
		return 0
	}
	// n·Σx² − (Σx)², in integers: the subtraction of two large floats would leave nothing of a small deviation.
	count, sum := big.NewInt(n), r.sum.int()
	spread := new(big.Int).Mul(count, r.squares.int())
	spread.Sub(spread, new(big.Int).Mul(sum, sum))
	variance, _ := new(big.Rat).SetFrac(spread, new(big.Int).Mul(count, count)).Float64()
	return math.Sqrt(variance)
}

func histogram(side **hdrhistogram.Histogram) *hdrhistogram.Histogram {
	if *side == nil {
		*side = hdrhistogram.New(lowest, Highest, digits)
	}
	return *side
}

func count(h *hdrhistogram.Histogram) int64 {
	if h == nil {
		return 0
	}
	return h.TotalCount()
}

// atRank is the upper end of the bucket that holds the rank-th smallest value, counted from 1.
func atRank(h *hdrhistogram.Histogram, rank int64) int64 {
	// The library turns a percentage into the nearest rank; this percentage leads to exactly ours.
	return h.ValueAtPercentile(100 * float64(rank) / float64(h.TotalCount()))
}

func bars(h *hdrhistogram.Histogram) []hdrhistogram.Bar {
	if h == nil {
		return nil
	}
	return h.Distribution()
}

// must is for errors of the library that the ranges above exclude.
func must(err error) {
	if err != nil {
		panic("measure: " + err.Error())
	}
}

package plot

import (
	"math"

	"lifeline/loadgen/format"
)

// Scale maps values to positions along an axis.
type Scale int

// The scales. Nines spreads percentages near 100: each further nine takes the same room.
const (
	Linear Scale = iota
	Log
	Nines
)

// position is the value in the scale's own units; drawn reports whether the scale has a place for it.
func (s Scale) position(value float64) (at float64, drawn bool) {
	switch s {
	case Log:
		return math.Log10(value), value > 0
	case Nines:
		return -math.Log10(1 - value/100), value >= 0 && value < 100
	default:
		return value, !math.IsNaN(value) && !math.IsInf(value, 0)
	}
}

// ticks are round values within [from, to], about as many as wanted.
func (s Scale) ticks(from, to float64, wanted int) []float64 {
	switch s {
	case Log:
		return logTicks(from, to, wanted)
	case Nines:
		var within []float64
		for _, tick := range []float64{0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999} {
			if tick >= from && tick <= to {
				within = append(within, tick)
			}
		}
		return within
	default:
		return linearTicks(from, to, wanted)
	}
}

func linearTicks(from, to float64, wanted int) []float64 {
	step := roundStep((to - from) / float64(wanted))
	var ticks []float64
	for i := math.Ceil(from/step - 1e-9); i*step <= to*(1+1e-12)+1e-12; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// roundStep is the next of 1, 2, 5 times a power of ten.
func roundStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= least*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

func logTicks(from, to float64, wanted int) []float64 {
	factors := []float64{1}
	if decades := math.Log10(to / from); decades*3 <= float64(wanted)*1.5 {
		factors = []float64{1, 2, 5}
	}
	var ticks []float64
	for power := math.Floor(math.Log10(from)); power <= math.Ceil(math.Log10(to)); power++ {
		for _, factor := range factors {
			if tick := factor * math.Pow(10, power); tick >= from*(1-1e-9) && tick <= to*(1+1e-9) {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// widen turns the range of the data into one that ends at round values, so that no line touches the frame.
func (s Scale) widen(from, to float64) (float64, float64) {
	switch s {
	case Log:
		if from <= 0 || to <= 0 {
			return 1, 10
		}
		if to/from > 200 { // wide enough for whole decades
			return math.Pow(10, math.Floor(math.Log10(from))), math.Pow(10, math.Ceil(math.Log10(to)))
		}
		from, to = roundDown(from), roundStep(to)
		if from == to {
			to *= 10
		}
		return from, to
	case Nines:
		return from, to
	default:
		if from > 0 && from < to/2 {
			from = 0
		}
		if from == to {
			return from - 1, to + 1
		}
		step := roundStep((to - from) / 5)
		return math.Floor(from/step+1e-9) * step, math.Ceil(to/step-1e-9) * step
	}
}

// roundDown is the greatest of 1, 2, 5 times a power of ten that is not above v.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, factor := range []float64{5, 2} {
		if v >= factor*power {
			return factor * power
		}
	}
	return power
}

func (a Axis) text(value float64) string {
	if a.Text != nil {
		return a.Text(value)
	}
	if a.Scale == Nines {
		return percentText(value)
	}
	if value == math.Trunc(value) {
		return format.Count(int64(value))
	}
	return format.Trim(format.Number(value))
}

package llb

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactTimeNs computes FORMAT.md, section 7, in unbounded integers.
func exactTimeNs(calibrations []Calibration, tickHz, tick uint64) int64 {
	real := func(i int) *big.Int {
		sum := new(big.Int).SetUint64(calibrations[i].MonotonicNs)
		return sum.Add(sum, big.NewInt(calibrations[i].RealtimeOffsetNs))
	}
	i := 0
	for k := range calibrations {
		if calibrations[k].Tick <= tick {
			i = k
		}
	}
	var rise, run *big.Int
	if len(calibrations) == 1 {
		rise, run = big.NewInt(1_000_000_000), new(big.Int).SetUint64(tickHz)
	} else {
		a := min(i, len(calibrations)-2)
		from, to := calibrations[a], calibrations[a+1]
		rise = new(big.Int).Sub(real(a+1), real(a))
		if to.Step {
			rise = new(big.Int).SetUint64(to.MonotonicNs - from.MonotonicNs)
		}
		run = new(big.Int).SetUint64(to.Tick - from.Tick)
	}
	mult := new(big.Int).Div(rise.Lsh(rise, 32), run)
	product := mult.Mul(mult, big.NewInt(int64(tick-calibrations[i].Tick)))
	time := product.Rsh(product, 32)
	time.Add(time, real(i))
	return int64(new(big.Int).And(time, new(big.Int).SetUint64(^uint64(0))).Uint64())
}

func TestTimeIsExactForAnyCalibrationsAndTicks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	upTo := func(bits int) uint64 { return random.Uint64() >> (63 - random.IntN(bits)) }
	checked := 0
	for range 20_000 {
		calibrations := make([]Calibration, 1+random.IntN(4))
		tickHz := 1 + random.Uint64N(maxTickHz)
		for i := range calibrations {
			c := &calibrations[i]
			c.Tick, c.MonotonicNs, c.RealtimeOffsetNs = upTo(60), upTo(60), int64(upTo(61))-1<<59
			if i > 0 {
				c.Step = random.IntN(3) == 0
				c.Tick += calibrations[i-1].Tick
				c.MonotonicNs += calibrations[i-1].MonotonicNs
				if !c.Step {
					c.RealtimeOffsetNs = calibrations[i-1].RealtimeOffsetNs
				}
			}
		}
		var converter timeline
		if _, fault := converter.calibrate(calibrations, tickHz); fault != "" {
			continue
		}
		ticks := []uint64{0, ^uint64(0), random.Uint64()}
		for _, c := range calibrations {
			ticks = append(ticks, c.Tick-1, c.Tick, c.Tick+1, c.Tick+upTo(40))
		}
		for _, tick := range ticks {
			if got, want := converter.timeNs(tick), exactTimeNs(calibrations, tickHz, tick); got != want {
				t.Fatalf("tick %d with %+v at %d Hz: got %d, want %d", tick, calibrations, tickHz, got, want)
			}
			checked++
		}
	}
	if checked < 50_000 {
		t.Fatalf("only %d conversions were legal enough to be checked", checked)
	}
}

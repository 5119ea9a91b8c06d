package measure

import (
	"bytes"
	"encoding/gob"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// values are drawn as round trips fall: most near 200 µs, a long tail, and a few below zero.
func values(seed uint64, count int) []int64 {
	random := rand.New(rand.NewPCG(seed, 1))
	drawn := make([]int64, count)
	for i := range drawn {
		drawn[i] = int64(200_000*math.Exp(random.NormFloat64()*2)) - 20_000
	}
	return drawn
}

func recorded(values []int64) *Recorder {
	r := new(Recorder)
	for _, value := range values {
		r.Record(value)
	}
	return r
}

func near(a, b, relative float64) bool {
	return math.Abs(a-b) <= relative*math.Max(math.Abs(a), math.Abs(b))
}

func TestPercentilesAreThoseOfTheSortedValuesToAThousandth(t *testing.T) {
	drawn := values(7, 100_000)
	r := recorded(drawn)
	slices.Sort(drawn)
	if drawn[0] >= 0 {
		t.Fatal("the values should include negative ones")
	}
	for _, percent := range Percents {
		exact := drawn[int(math.Ceil(percent/100*float64(len(drawn))-1e-6))-1]
		got := r.Percentile(percent)
		if math.Abs(float64(got-exact)) > math.Max(64, 0.001*math.Abs(float64(exact))) {
			t.Errorf("%v %%: %d, the sorted values say %d", percent, got, exact)
		}
	}
	if r.Percentile(100) != drawn[len(drawn)-1] || r.Distribution().Min != drawn[0] {
		t.Error("greatest and least value are not exact")
	}
}

func TestAPercentileOfAWholeRankIsThatRank(t *testing.T) {
	r := new(Recorder)
	for i := range int64(1000) {
		r.Record((i + 1) * 1_000_000)
	}
	// In floating point 99.9 % of 1,000 is a trifle more than 999.
	if got := r.Percentile(99.9); got < 998_500_000 || got > 999_900_000 {
		t.Errorf("99.9 %% of 1 to 1,000 ms is %d ns", got)
	}
}

func TestMeanAndDeviationAreExact(t *testing.T) {
	// A deviation of 1 ns at a mean of 100 s: floating point sums of squares would show none, or a negative variance.
	r := new(Recorder)
	for range 1_000_000 {
		r.Record(99_999_999_999)
		r.Record(100_000_000_001)
	}
	if r.Mean() != 100_000_000_000 || r.StdDev() != 1 {
		t.Errorf("mean %v, deviation %v", r.Mean(), r.StdDev())
	}
	r = recorded([]int64{-3, -1})
	if r.Mean() != -2 || r.StdDev() != 1 {
		t.Errorf("of negative values: mean %v, deviation %v", r.Mean(), r.StdDev())
	}
}

func TestMergingGivesWhatOneRecorderWouldHold(t *testing.T) {
	drawn := values(11, 30_000)
	whole := recorded(drawn).Distribution()
	merged := new(Recorder)
	for _, part := range [][]int64{drawn[20_000:], nil, drawn[:7], drawn[7:20_000]} {
		merged.Merge(recorded(part))
	}
	got := merged.Distribution()
	if got.Mean != whole.Mean || got.StdDev != whole.StdDev || got.Histogram != whole.Histogram || got.Negatives != whole.Negatives ||
		!slices.Equal(got.Percentiles, whole.Percentiles) || got.Min != whole.Min || got.Max != whole.Max {
		t.Errorf("merged: %+v\nwhole: %+v", got, whole)
	}
}

func TestValuesBeyondTheRangeAreCountedAtItsEnd(t *testing.T) {
	r := recorded([]int64{1_000_000, 2 * Highest, -2 * Highest})
	d := r.Distribution()
	if d.Clamped != 2 || d.Count != 3 || d.Max != 2*Highest || d.Min != -2*Highest {
		t.Errorf("%+v", d)
	}
	if got := r.Percentile(1); got > -Highest || got < -2*Highest {
		t.Errorf("the least value's percentile is %d", got)
	}
}

func TestNothingRecordedIsAllZeros(t *testing.T) {
	d := new(Recorder).Distribution()
	if d.Count != 0 || d.Mean != 0 || d.StdDev != 0 || d.Percentiles != nil || d.Histogram != "" {
		t.Errorf("%+v", d)
	}
}

func TestARecorderTravelsByGob(t *testing.T) {
	type message struct{ RTT, Empty Recorder }
	sent := message{RTT: *recorded(values(3, 10_000))}
	var pipe bytes.Buffer
	if err := gob.NewEncoder(&pipe).Encode(&sent); err != nil {
		t.Fatal(err)
	}
	if pipe.Len() > 30_000 {
		t.Errorf("%d bytes for 10,000 values", pipe.Len())
	}
	var got message
	if err := gob.NewDecoder(&pipe).Decode(&got); err != nil {
		t.Fatal(err)
	}
	got.RTT.Merge(recorded([]int64{5}))
	sent.RTT.Merge(recorded([]int64{5}))
	want, have := sent.RTT.Distribution(), got.RTT.Distribution()
	if have.Histogram != want.Histogram || have.Mean != want.Mean || have.StdDev != want.StdDev || have.Min != want.Min {
		t.Errorf("sent %+v\ngot %+v", want, have)
	}
	if got.Empty.Count() != 0 {
		t.Error("an empty recorder came back with values")
	}
}

func TestADistributionGivesItsRecorderBack(t *testing.T) {
	want := recorded(values(5, 50_000)).Distribution()
	r, err := Restore(want)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Distribution()
	if !slices.Equal(got.Percentiles, want.Percentiles) || got.Histogram != want.Histogram || got.Count != want.Count {
		t.Errorf("restored: %+v\nwas: %+v", got, want)
	}
	if !near(got.Mean, want.Mean, 1e-9) || !near(got.StdDev, want.StdDev, 1e-9) {
		t.Errorf("restored mean %v and deviation %v, were %v and %v", got.Mean, got.StdDev, want.Mean, want.StdDev)
	}
	want.Count++
	if _, err := Restore(want); err == nil {
		t.Error("a distribution that contradicts its histogram is accepted")
	}
}

func TestResetForgetsEverything(t *testing.T) {
	r := recorded(values(5, 1000))
	r.Reset()
	r.Record(70_000)
	if r.Count() != 1 || r.Mean() != 70_000 || r.Percentile(1) != 70_000 {
		t.Errorf("%+v", r.Distribution())
	}
}

func TestAnObjectiveIsNotMetByRounding(t *testing.T) {
	r := recorded([]int64{-50_000, 1_000_000, 4_999_999_999, 5_000_000_001, 6_000_000_000})
	if got := r.AtMost(5_000_000_000); got < 2 || got > 3 {
		t.Errorf("%d of 3 within 5 s", got)
	}
	if got := r.AtMost(6_000_000_000); got != 5 {
		t.Errorf("%d of 5 within the maximum", got)
	}
	if got := r.AtMost(0); got != 1 {
		t.Errorf("%d of 1 below zero", got)
	}
}

func BenchmarkRecord(b *testing.B) {
	drawn := values(1, 4096)
	r := new(Recorder)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Record(drawn[i%len(drawn)])
	}
}

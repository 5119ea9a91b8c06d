package measure

import (
	"fmt"
	"math"
	"math/big"

	"github.com/HdrHistogram/hdrhistogram-go"

	"lifeline/loadgen/result"
)

// Percents are the percentages that a Distribution lists: the study's 95 to 100 among them.
var Percents = []float64{1, 5, 10, 25, 50, 75, 90, 95, 96, 97, 98, 99, 99.5, 99.8, 99.9, 99.99, 100}

// Distribution is what a report holds of r.
func (r *Recorder) Distribution() result.Distribution {
	d := result.Distribution{
		Count: r.Count(), Mean: r.Mean(), StdDev: r.StdDev(), Min: r.min, Max: r.max,
		Histogram: encode(r.positive), Negatives: encode(r.negative), Negative: count(r.negative), Clamped: r.clamped,
	}
	if d.Count == 0 {
		return d
	}
	d.Sum, d.Squares = r.sum.int().String(), r.squares.int().String()
	for _, percent := range Percents {
		d.Percentiles = append(d.Percentiles, result.Percentile{Percent: percent, Value: r.Percentile(percent)})
	}
	return d
}

// Restore is the way back from a report: a Recorder that gives d again. Where d has no sums, they are found from mean and deviation
// and are as exact as these.
func Restore(d result.Distribution) (*Recorder, error) {
	positive, err := decode(d.Histogram)
	if err != nil {
		return nil, err
	}
	negative, err := decode(d.Negatives)
	if err != nil {
		return nil, err
	}
	r := &Recorder{positive: positive, negative: negative, min: d.Min, max: d.Max, clamped: d.Clamped}
	if r.Count() != d.Count {
		return nil, fmt.Errorf("a distribution of %d values has %d in its histograms", d.Count, r.Count())
	}
	if d.Sum != "" {
		if r.sum, err = fromText(d.Sum); err == nil {
			r.squares, err = fromText(d.Squares)
		}
		return r, err
	}
	n := float64(d.Count)
	if r.sum, err = fromFloat(d.Mean * n); err != nil {
		return nil, err
	}
	r.squares, err = fromFloat((d.StdDev*d.StdDev + d.Mean*d.Mean) * n)
	return r, err
}

func encode(h *hdrhistogram.Histogram) string {
	if count(h) == 0 {
		return ""
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	must(err)
	return string(text)
}

func decode(text string) (*hdrhistogram.Histogram, error) {
	if text == "" {
		return nil, nil
	}
	decoded, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	// A histogram of another tool may have another range; ours take values up to Highest.
	own := hdrhistogram.New(lowest, Highest, digits)
	if own.Merge(decoded) != 0 {
		return nil, fmt.Errorf("reading a histogram: it holds values above %d s", Highest/1_000_000_000)
	}
	return own, nil
}

func fromFloat(value float64) (wide, error) {
	if math.IsNaN(value) || math.Abs(value) >= math.MaxInt64*float64(1<<63) {
		return wide{}, fmt.Errorf("a distribution's mean or deviation is out of range")
	}
	whole, _ := big.NewFloat(value).Int(nil)
	return fromInt(whole), nil
}

func fromText(text string) (wide, error) {
	value, ok := new(big.Int).SetString(text, 10)
	if !ok || value.BitLen() > 127 {
		return wide{}, fmt.Errorf("a distribution's sum is out of range")
	}
	return fromInt(value), nil
}

func fromInt(whole *big.Int) wide {
	low := new(big.Int).And(whole, new(big.Int).SetUint64(math.MaxUint64))
	return wide{High: new(big.Int).Rsh(whole, 64).Int64(), Low: low.Uint64()}
}

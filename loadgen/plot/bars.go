package plot

import (
	"fmt"
	"math"
	"slices"
)

// Bars is a picture of values side by side, on a logarithmic axis. Bars begin at the power of ten below the least value: their
// lengths are orders of magnitude, not proportions. Its JSON is what `fleet-study chart` reads.
type Bars struct {
	Title string   `json:"title"`
	Unit  string   `json:"unit"`
	Kinds []string `json:"kinds"` // that there may be: each has its colour, used or not
	Bars  []Bar    `json:"bars"`
}

// Bar is one value, which must be greater than 0. Bars of one kind have one colour.
type Bar struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
	Kind  string  `json:"kind"`
	Text  string  `json:"text"` // how the value is written
}

const (
	barHeight = 18
	barGap    = 8
	barsLeft  = 250
	barsRight = 110 // for the longest bar's text
)

// SVG draws the picture.
func (b Bars) SVG() []byte {
	c := newCanvas(b.Title)
	y := c.heading(b.Title, "") + 10
	x := 16.0
	for i, kind := range b.Kinds {
		if !slices.ContainsFunc(b.Bars, func(bar Bar) bool { return bar.Kind == kind }) {
			continue
		}
		c.add(`<rect x="%s" y="%s" width="12" height="12" class="f%d"/>`, px(x), px(y-10), i)
		c.text(x+18, y, start, "ink", textSize, kind)
		x += 40 + textWidth(kind, textSize)
	}
	f := frame{left: barsLeft, right: width - barsRight, top: y + 14, bottom: y + 14 + float64(len(b.Bars)*(barHeight+barGap))}
	f.X.Scale = Log
	f.X.From, f.X.To = b.extent()
	for power := f.X.From; power <= f.X.To*1.001; power *= 10 {
		at, _ := f.x(power)
		c.line(at, f.top, at, f.bottom, "grid", "")
		c.text(at, f.bottom+16, middle, "soft", textSize-1, powerOfTen(power))
	}
	c.text(width-8, f.bottom+16, end, "soft", textSize-1, b.Unit)
	for i, bar := range b.Bars {
		at, _ := f.x(bar.Value)
		top := f.top + float64(i*(barHeight+barGap))
		c.text(f.left-8, top+barHeight-5, end, "ink", textSize, bar.Label)
		c.add(`<rect x="%s" y="%s" width="%s" height="%d" class="f%d"/>`, px(f.left), px(top), px(at-f.left), barHeight, max(0, slices.Index(b.Kinds, bar.Kind)))
		c.text(at+6, top+barHeight-5, start, "ink", textSize, bar.Text)
	}
	return c.end(f.bottom + 34)
}

// powerOfTen is written as people do: 10, 100 k, 1 M.
func powerOfTen(power float64) string {
	for _, prefix := range []struct {
		from float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if power >= prefix.from*0.999 {
			return fmt.Sprintf("%.0f%s", power/prefix.from, prefix.name)
		}
	}
	return fmt.Sprintf("%.3g", power)
}

// extent is the least and greatest power of ten that the bars need.
func (b Bars) extent() (from, to float64) {
	least, most := math.Inf(1), 0.0
	for _, bar := range b.Bars {
		least, most = math.Min(least, bar.Value), math.Max(most, bar.Value)
	}
	return math.Pow(10, math.Floor(math.Log10(least)-0.01)), math.Pow(10, math.Ceil(math.Log10(most)+0.01))
}

// Package plot draws figures as SVG: lines on linear, logarithmic and percentile axes, and spans of time. A figure stands for
// itself in a file and within an HTML page, and follows the reader's choice of light or dark.
package plot

import "math"

// Figure is one picture: panels one below the other.
type Figure struct {
	Title    string
	Subtitle string // what a reader has to know to read it: how many of what, over how long
	Note     string // below: sources, what is missing and why
	Panels   []Panel
}

// Panel is one pair of axes.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []Series
	Marks  []Mark
	Rules  []Rule
	Bands  []Band
	Height float64 // of the axes, in pixels; 0: 240
}

// Axis of a panel. From and To may be 0 to be found from the data; with a logarithmic scale only positive values are drawn.
type Axis struct {
	Label    string
	Scale    Scale
	From, To float64
	Ticks    []float64              // nil: chosen
	Text     func(v float64) string // of a tick; nil: a plain number
}

// Series is a line through points, in the order given.
type Series struct {
	Name   string
	Points []Point
	Colour int  // one of the palette, by number
	Dashed bool //
	Dots   bool // a dot at every point, with its text to be seen on hovering
	Alone  bool // dots without a line between them
}

// Point of a series; Text is shown on hovering, where the series has dots.
type Point struct {
	X, Y float64
	Text string
}

// Mark is a single point from elsewhere, with its label beside it: a figure of the study, a limit.
type Mark struct {
	X, Y  float64
	Label string
}

// Rule is a line right across; vertical where Vertical.
type Rule struct {
	At       float64
	Vertical bool
	Label    string
}

// Band shades a span of x, an outage for example. To below From means a moment.
type Band struct {
	From, To float64
	Label    string
}

const (
	width       = 860
	left        = 76
	widestName  = 300 // room for the names at the lines' ends
	sampleLine  = 16  // before a name
	nameHeight  = 15.0
	panelHeight = 240
	titleSize   = 16
	textSize    = 12
)

// SVG draws the figure.
func (f Figure) SVG() []byte {
	right := 28.0
	for _, panel := range f.Panels {
		if len(panel.Series) < 2 {
			continue
		}
		for _, series := range panel.Series {
			right = math.Max(right, math.Min(widestName, textWidth(series.Name, textSize)+sampleLine+24))
		}
	}
	c := newCanvas(f.Title)
	y := c.heading(f.Title, f.Subtitle)
	for _, panel := range f.Panels {
		y = panel.draw(c, y, width-right)
	}
	return c.end(c.note(f.Note, y))
}

package plot

import (
	"fmt"
	"math"
)

// Spans is a picture of what happens when: a row for each case, a lane in it for each of its spans, on one axis of time.
type Spans struct {
	Title, Subtitle, Note string
	Text                  func(v float64) string // of a tick and of a span's length
	Lanes                 []string               // names of the lanes, the same in every row
	Rows                  []Row
}

// Row is one case.
type Row struct {
	Name  string
	Spans []Span // one for each lane
}

// Span goes from one time to another; one that goes backwards is drawn hollow.
type Span struct{ From, To float64 }

const (
	laneHeight = 15
	rowGap     = 16
	spansLeft  = 210
)

// SVG draws the picture.
func (s Spans) SVG() []byte {
	c := newCanvas(s.Title)
	y := c.heading(s.Title, s.Subtitle) + 14
	x := 16.0
	for i, lane := range s.Lanes {
		c.add(`<rect x="%s" y="%s" width="12" height="12" class="f%d"/>`, px(x), px(y-10), i)
		c.text(x+18, y, start, "ink", textSize, lane)
		x += 40 + textWidth(lane, textSize)
	}
	y += 14
	f := frame{left: spansLeft, right: width - 90, top: y, bottom: y + s.height()}
	f.X.Text = s.Text
	f.X.From, f.X.To = s.extent()
	for _, tick := range linearTicks(f.X.From, f.X.To, 7) {
		at, _ := f.x(tick)
		c.line(at, f.top, at, f.bottom, "grid", "")
		c.text(at, f.bottom+16, middle, "soft", textSize-1, f.X.text(tick))
	}
	zero, _ := f.x(0)
	c.line(zero, f.top, zero, f.bottom, "axis", "")
	for _, row := range s.Rows {
		y += rowGap / 2
		c.text(spansLeft-12, y+float64(len(row.Spans)*laneHeight)/2+4, end, "ink", textSize, row.Name)
		for lane, span := range row.Spans {
			s.drawSpan(c, f, lane, span, y)
			y += laneHeight
		}
		y += rowGap / 2
	}
	return c.end(c.note(s.Note, f.bottom+24))
}

func (s Spans) drawSpan(c *canvas, f frame, lane int, span Span, y float64) {
	from, _ := f.x(math.Min(span.From, span.To))
	to, _ := f.x(math.Max(span.From, span.To))
	look := fmt.Sprintf(`class="f%d"`, lane)
	if span.To < span.From {
		look = fmt.Sprintf(`class="l%d" fill="none" stroke-width="1.5" stroke-dasharray="3 2"`, lane)
	}
	length := s.Text(span.To - span.From)
	c.add(`<rect x="%s" y="%s" width="%s" height="%d" %s><title>%s</title></rect>`,
		px(from), px(y+1), px(math.Max(1.5, to-from)), laneHeight-3, look, escape(s.Lanes[lane]+" "+length))
	c.text(to+6, y+laneHeight-4, start, "ink", textSize-1, length)
}

func (s Spans) height() float64 {
	height := 0.0
	for _, row := range s.Rows {
		height += rowGap + float64(len(row.Spans)*laneHeight)
	}
	return height
}

func (s Spans) extent() (from, to float64) {
	for _, row := range s.Rows {
		for _, span := range row.Spans {
			from = math.Min(from, math.Min(span.From, span.To))
			to = math.Max(to, math.Max(span.From, span.To))
		}
	}
	return Linear.widen(from, to)
}

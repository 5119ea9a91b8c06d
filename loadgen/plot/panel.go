package plot

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// frame is a panel's axes with their places on the canvas.
type frame struct {
	Panel
	left, right, top, bottom float64
}

// draw returns where the next panel begins.
func (p Panel) draw(c *canvas, y, right float64) float64 {
	height := p.Height
	if height == 0 {
		height = panelHeight
	}
	if len(p.Series) > 1 {
		height = math.Max(height, nameHeight*float64(len(p.Series)-1))
	}
	if p.Title != "" {
		y += 18
		c.text(left, y, start, "ink", textSize+1, p.Title)
	}
	y += 22
	if p.Y.Label != "" {
		c.text(left-8, y-8, end, "soft", textSize-1, p.Y.Label)
	}
	f := frame{Panel: p, left: left, right: right, top: y, bottom: y + height}
	f.fit()
	f.drawBands(c)
	f.drawGrid(c)
	for _, series := range p.Series {
		f.drawSeries(c, series)
	}
	f.drawRules(c)
	for _, mark := range p.Marks {
		f.drawMark(c, mark)
	}
	f.drawNames(c)
	below := f.bottom + 18
	if p.X.Label != "" {
		below += 16
		c.text((f.left+f.right)/2, below, middle, "soft", textSize-1, p.X.Label)
	}
	return below + 10
}

// fit finds the axes' ranges where they are not given.
func (f *frame) fit() {
	fitAxis(&f.X, f.each(func(p Point) float64 { return p.X }, true), false)
	fitAxis(&f.Y, f.each(func(p Point) float64 { return p.Y }, false), true)
}

func (f *frame) each(of func(Point) float64, horizontal bool) []float64 {
	var values []float64
	for _, series := range f.Series {
		for _, point := range series.Points {
			values = append(values, of(point))
		}
	}
	for _, mark := range f.Marks {
		values = append(values, of(Point{X: mark.X, Y: mark.Y}))
	}
	for _, rule := range f.Rules {
		if rule.Vertical == horizontal {
			values = append(values, rule.At)
		}
	}
	return values
}

func fitAxis(axis *Axis, values []float64, widen bool) {
	if axis.From != 0 || axis.To != 0 {
		return
	}
	from, to := math.Inf(1), math.Inf(-1)
	for _, value := range values {
		if _, drawn := axis.Scale.position(value); drawn {
			from, to = math.Min(from, value), math.Max(to, value)
		}
	}
	if from > to {
		from, to = 1, 10
	}
	if widen || from == to || axis.Scale == Log {
		from, to = axis.Scale.widen(from, to)
	}
	axis.From, axis.To = from, to
}

func (f *frame) x(value float64) (float64, bool) {
	return place(f.X, value, f.left, f.right)
}

func (f *frame) y(value float64) (float64, bool) {
	return place(f.Y, value, f.bottom, f.top)
}

// within reports whether an axis reaches to a value: a limit that lies beyond is not drawn at its end.
func within(axis Axis, value float64) bool { return value >= axis.From && value <= axis.To }

// place is false for a value that the scale cannot show; one beyond the axis' end is put at its end.
func place(axis Axis, value, at0, at1 float64) (float64, bool) {
	position, drawn := axis.Scale.position(value)
	if !drawn {
		return 0, false
	}
	from, _ := axis.Scale.position(axis.From)
	to, _ := axis.Scale.position(axis.To)
	share := math.Max(0, math.Min(1, (position-from)/(to-from)))
	return at0 + share*(at1-at0), true
}

func (f *frame) drawGrid(c *canvas) {
	ticks := f.Y.Ticks
	if ticks == nil {
		ticks = f.Y.Scale.ticks(f.Y.From, f.Y.To, 6)
	}
	for _, tick := range ticks {
		if y, drawn := f.y(tick); drawn {
			c.line(f.left, y, f.right, y, "grid", "")
			c.text(f.left-8, y+4, end, "soft", textSize-1, f.Y.text(tick))
		}
	}
	ticks = f.X.Ticks
	if ticks == nil {
		ticks = f.X.Scale.ticks(f.X.From, f.X.To, 8)
	}
	for _, tick := range ticks {
		if x, drawn := f.x(tick); drawn {
			c.line(x, f.top, x, f.bottom, "grid", "")
			c.text(x, f.bottom+16, middle, "soft", textSize-1, f.X.text(tick))
		}
	}
	c.line(f.left, f.bottom, f.right, f.bottom, "axis", "")
}

func (f *frame) drawSeries(c *canvas, s Series) {
	if !s.Alone {
		f.drawLine(c, s)
	}
	if !s.Dots {
		return
	}
	for _, point := range s.Points {
		x, drawnX := f.x(point.X)
		y, drawnY := f.y(point.Y)
		if drawnX && drawnY {
			c.add(`<circle cx="%s" cy="%s" r="3.5" class="f%d"><title>%s</title></circle>`, px(x), px(y), colour(s), escape(point.Text))
		}
	}
}

// drawLine leaves a gap where there is nothing to show; a point between two gaps is a dot, or it would not be seen.
func (f *frame) drawLine(c *canvas, s Series) {
	var path strings.Builder
	var x, y float64
	length := 0 // points since the last gap
	pause := func() {
		if length == 1 {
			c.add(`<circle cx="%s" cy="%s" r="2" class="f%d"/>`, px(x), px(y), colour(s))
		}
		length = 0
	}
	for _, point := range s.Points {
		atX, drawnX := f.x(point.X)
		atY, drawnY := f.y(point.Y)
		if !drawnX || !drawnY {
			pause()
			continue
		}
		x, y = atX, atY
		pen := "L"
		if length == 0 {
			pen = "M"
		}
		fmt.Fprintf(&path, "%s%s %s", pen, px(x), px(y))
		length++
	}
	pause()
	c.add(`<path d="%s" class="l%d" fill="none" stroke-width="2" stroke-linejoin="round"%s/>`, path.String(), colour(s), dash(s))
}

func colour(s Series) int { return s.Colour % len(palette) }

// dash returns the dash pattern of lines that request one, or that share a colour with an earlier line.
func dash(s Series) string {
	if s.Dashed || s.Colour >= len(palette) {
		return ` stroke-dasharray="6 4"`
	}
	return ""
}

// drawMark draws a ring; its label stands on the side where there is room.
func (f *frame) drawMark(c *canvas, m Mark) {
	x, drawnX := f.x(m.X)
	y, drawnY := f.y(m.Y)
	if !drawnX || !drawnY || !within(f.X, m.X) || !within(f.Y, m.Y) {
		return
	}
	c.add(`<circle cx="%s" cy="%s" r="5" class="mark"/>`, px(x), px(y))
	if x+10+textWidth(m.Label, textSize-1) > f.right {
		c.text(x-10, y+4, end, "marked over", textSize-1, m.Label)
	} else {
		c.text(x+10, y+4, start, "marked over", textSize-1, m.Label)
	}
}

func (f *frame) drawRules(c *canvas) {
	// Lines first, or the next one would cross the label of the one before.
	for _, rule := range f.Rules {
		if x, drawn := f.x(rule.At); drawn && rule.Vertical && within(f.X, rule.At) {
			c.line(x, f.top, x, f.bottom, "rule", ` stroke-dasharray="3 3"`)
		}
	}
	row := 0.0
	for _, rule := range f.Rules {
		if !rule.Vertical {
			if y, drawn := f.y(rule.At); drawn && within(f.Y, rule.At) {
				c.line(f.left, y, f.right, y, "rule", ` stroke-dasharray="3 3"`)
				c.text(f.right-4, y-5, end, "soft over", textSize-1, rule.Label)
			}
			continue
		}
		x, drawn := f.x(rule.At)
		if !drawn || !within(f.X, rule.At) {
			continue
		}
		// Labels of neighbouring lines stand one below the other.
		y := f.top + 13 + 15*row
		row++
		if x+5+textWidth(rule.Label, textSize-1) > f.right {
			c.text(x-5, y, end, "soft over", textSize-1, rule.Label)
		} else {
			c.text(x+5, y, start, "soft over", textSize-1, rule.Label)
		}
	}
}

func (f *frame) drawBands(c *canvas) {
	for _, band := range f.Bands {
		from, _ := f.x(band.From)
		to, _ := f.x(math.Max(band.From, band.To))
		c.add(`<rect x="%s" y="%s" width="%s" height="%s" class="band"/>`, px(from), px(f.top), px(math.Max(2, to-from)), px(f.bottom-f.top))
		if band.Label != "" {
			c.text(from, f.top-6, start, "marked", textSize-1, band.Label)
		}
	}
}

// drawNames writes each series' name at the end of its line, moved apart where lines end close to each other.
func (f *frame) drawNames(c *canvas) {
	if len(f.Series) < 2 {
		return
	}
	type name struct {
		series Series
		y      float64
	}
	var names []name
	for _, series := range f.Series {
		for i := len(series.Points) - 1; i >= 0; i-- {
			if y, drawn := f.y(series.Points[i].Y); drawn {
				names = append(names, name{series, y})
				break
			}
		}
	}
	sort.SliceStable(names, func(i, j int) bool { return names[i].y < names[j].y })
	for i := range names {
		if i > 0 {
			names[i].y = math.Max(names[i].y, names[i-1].y+nameHeight)
		}
	}
	// What was pushed below the frame pushes back upwards.
	for i := len(names) - 1; i >= 0; i-- {
		limit := f.bottom
		if i < len(names)-1 {
			limit = names[i+1].y - nameHeight
		}
		names[i].y = math.Min(names[i].y, limit)
	}
	for _, n := range names {
		if n.series.Alone {
			c.add(`<circle cx="%s" cy="%s" r="3.5" class="f%d"/>`, px(f.right+8+sampleLine/2), px(n.y), colour(n.series))
		} else {
			c.line(f.right+8, n.y, f.right+8+sampleLine, n.y, "l"+strconv.Itoa(colour(n.series)), ` stroke-width="2"`+dash(n.series))
		}
		c.text(f.right+14+sampleLine, n.y+4, start, "ink", textSize, n.series.Name) // the palette's colours are too light to be read
	}
}

func percentText(value float64) string {
	return strconv.FormatFloat(value, 'f', -1, 64) + " %"
}

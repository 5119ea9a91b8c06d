package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// element is an SVG element as a browser would see it.
type element struct {
	name, text string
	attributes map[string]string
}

func (e element) number(t *testing.T, name string) float64 {
	t.Helper()
	number, err := strconv.ParseFloat(e.attributes[name], 64)
	if err != nil {
		t.Fatalf("<%s %s=%q>: %v", e.name, name, e.attributes[name], err)
	}
	return number
}

func parse(t *testing.T, svg []byte) []element {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	var all []element
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attributes: map[string]string{}}
			for _, attribute := range token.Attr {
				e.attributes[attribute.Name.Local] = attribute.Value
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += string(token)
			}
		}
	}
}

func named(all []element, name string) []element {
	return slices.DeleteFunc(slices.Clone(all), func(e element) bool { return e.name != name })
}

func withText(t *testing.T, all []element, text string) element {
	t.Helper()
	for _, e := range all {
		if strings.TrimSpace(e.text) == text {
			return e
		}
	}
	t.Fatalf("no element says %q", text)
	return element{}
}

func line(points ...float64) []Point {
	var all []Point
	for i := 0; i < len(points); i += 2 {
		all = append(all, Point{X: points[i], Y: points[i+1]})
	}
	return all
}

func TestNamesOfCoincidingLinesDoNotOverlap(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	for number := range 30 { // more than a panel of the usual height has room for
		names = append(names, "line "+strconv.Itoa(number))
	}
	for _, at := range []float64{0, 5, 10} { // the axis' lower end, its middle, its upper end
		panel := Panel{Y: Axis{From: 0, To: 10, Ticks: []float64{0, 10}}}
		for _, name := range names {
			panel.Series = append(panel.Series, Series{Name: name, Points: line(0, 1, 10, at)})
		}
		svg := parse(t, Figure{Title: "names", Panels: []Panel{panel}}.SVG())
		top, bottom := withText(t, svg, "10").number(t, "y"), withText(t, svg, "0").number(t, "y")
		var heights []float64
		for _, name := range names {
			heights = append(heights, withText(t, svg, name).number(t, "y"))
		}
		slices.Sort(heights)
		for i := 1; i < len(heights); i++ {
			if heights[i]-heights[i-1] < textSize {
				t.Errorf("names at %v overlap", heights)
			}
		}
		if heights[0] < top-1 || heights[len(heights)-1] > bottom+1 {
			t.Errorf("names at %v leave the panel from %v to %v", heights, top, bottom)
		}
	}
}

func TestALogarithmicLineHasAGapWhereThereIsNothing(t *testing.T) {
	panel := Panel{Y: Axis{Scale: Log}, Series: []Series{{Points: line(0, 10, 1, 0, 2, 100, 3, 1000)}}}
	path := named(parse(t, Figure{Panels: []Panel{panel}}.SVG()), "path")[0].attributes["d"]
	if strings.Count(path, "M") != 2 || strings.Count(path, "L") != 1 {
		t.Errorf("path %q", path)
	}
}

func TestAPointBetweenTwoGapsIsSeen(t *testing.T) {
	panel := Panel{Y: Axis{Scale: Log}, Series: []Series{{Points: line(0, 10, 1, 0, 2, 100, 3, 0, 4, 10, 5, 20)}}}
	if dots := named(parse(t, Figure{Panels: []Panel{panel}}.SVG()), "circle"); len(dots) != 2 {
		t.Errorf("%d dots; want those of the first and the third point", len(dots))
	}
}

func TestEachNineIsAsWideAsTheOneBefore(t *testing.T) {
	axis := Axis{Scale: Nines, From: 0, To: 99.99}
	at := func(value float64) float64 {
		x, drawn := place(axis, value, 0, 400)
		if !drawn {
			t.Fatalf("%v is not drawn", value)
		}
		return x
	}
	for i, value := range []float64{0, 90, 99, 99.9, 99.99} {
		if math.Abs(at(value)-float64(i*100)) > 0.001 {
			t.Errorf("%v %% stands at %v", value, at(value))
		}
	}
	if _, drawn := place(axis, 100, 0, 400); drawn {
		t.Error("100 % has no place on this axis")
	}
}

func TestTicksAreRoundAndWithinTheAxis(t *testing.T) {
	for _, c := range []struct {
		scale    Scale
		from, to float64
		want     []float64
	}{
		{Linear, 0, 19_800, []float64{0, 5000, 10_000, 15_000}},
		{Linear, -0.2, 0.9, []float64{-0.2, 0, 0.2, 0.4, 0.6, 0.8}},
		{Log, 20, 2000, []float64{20, 50, 100, 200, 500, 1000, 2000}},
		{Log, 1e5, 1e10, []float64{1e5, 1e6, 1e7, 1e8, 1e9, 1e10}},
		{Nines, 0, 99.95, []float64{0, 50, 90, 99, 99.9}},
	} {
		got := c.scale.ticks(c.from, c.to, 6)
		same := len(got) == len(c.want)
		for i := 0; same && i < len(got); i++ {
			same = math.Abs(got[i]-c.want[i]) <= 1e-9*math.Abs(c.want[i])+1e-12
		}
		if !same {
			t.Errorf("from %v to %v: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestEverythingIsDrawnWithinTheFigure(t *testing.T) {
	figure := Figure{
		Title: "Round trips <&> \"limits\"", Subtitle: strings.Repeat("many words ", 40), Note: "below",
		Panels: []Panel{{
			Title: "panel", X: Axis{Label: "connections"}, Y: Axis{Label: "ms"},
			Series: []Series{{Name: "dots", Dots: true, Points: line(1, -3, 5, 8, 9, 2)}, {Name: "line", Dashed: true, Points: line(1, 1, 9, 1)}},
			Marks:  []Mark{{X: 9, Y: 7, Label: "a point at the right end, with a long label"}},
			Rules:  []Rule{{At: 9, Vertical: true, Label: "a limit at the right end"}, {At: 3, Label: "across"}},
			Bands:  []Band{{From: 4, To: 6, Label: "outage"}, {From: 7, To: 0}},
		}},
	}
	svg := parse(t, figure.SVG())
	var w, h float64
	for i, text := range strings.Fields(svg[0].attributes["viewBox"]) {
		number, _ := strconv.ParseFloat(text, 64)
		w, h = map[int]float64{2: number}[i]+w, map[int]float64{3: number}[i]+h
	}
	for _, e := range svg {
		for _, name := range []string{"x", "x1", "x2", "cx"} {
			if e.attributes[name] != "" {
				if x := e.number(t, name); x < 0 || x > w {
					t.Errorf("<%s> %q at x %v of %v", e.name, e.text, x, w)
				}
			}
		}
		for _, name := range []string{"y", "y1", "y2", "cy"} {
			if e.attributes[name] != "" {
				if y := e.number(t, name); y < 0 || y > h {
					t.Errorf("<%s> %q at y %v of %v", e.name, e.text, y, h)
				}
			}
		}
		if e.name == "text" && e.attributes["text-anchor"] == "start" {
			if right := e.number(t, "x") + textWidth(e.text, textSize-1); right > w {
				t.Errorf("%q ends at %v of %v", e.text, right, w)
			}
		}
	}
	if withText(t, svg, figure.Title).name == "" || withText(t, svg, "outage").name == "" {
		t.Error("a title is missing")
	}
}

func TestALimitBeyondTheAxisIsNotDrawnAtItsEnd(t *testing.T) {
	panel := Panel{X: Axis{From: 0, To: 1000}, Series: []Series{{Points: line(0, 1, 1000, 2)}}, Marks: []Mark{{X: 4000, Y: 1, Label: "a point"}},
		Rules: []Rule{{At: 800, Vertical: true, Label: "near"}, {At: 4000, Vertical: true, Label: "far"}}}
	svg := parse(t, Figure{Panels: []Panel{panel}}.SVG())
	withText(t, svg, "near")
	for _, e := range svg {
		if e.text == "far" || e.text == "a point" || e.name == "circle" {
			t.Errorf("<%s> %q is drawn", e.name, e.text)
		}
	}
}

func TestTwoLinesOfOneColourAreToldApart(t *testing.T) {
	panel := Panel{Series: []Series{{Name: "first", Points: line(0, 1, 1, 2)}, {Name: "ninth", Colour: len(palette), Points: line(0, 2, 1, 3)}}}
	paths := named(parse(t, Figure{Panels: []Panel{panel}}.SVG()), "path")
	if paths[0].attributes["class"] != paths[1].attributes["class"] || paths[0].attributes["stroke-dasharray"] == paths[1].attributes["stroke-dasharray"] {
		t.Errorf("%v and %v", paths[0].attributes, paths[1].attributes)
	}
}

func TestASpanThatGoesBackwardsIsHollow(t *testing.T) {
	picture := Spans{Title: "spans", Text: func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }, Lanes: []string{"there", "back"},
		Rows: []Row{{Name: "row", Spans: []Span{{0, 10}, {10, 4}}}}}
	rectangles := named(parse(t, picture.SVG()), "rect")
	there, back := rectangles[len(rectangles)-2], rectangles[len(rectangles)-1]
	if there.attributes["fill"] != "" || back.attributes["fill"] != "none" {
		t.Errorf("there %v, back %v", there.attributes, back.attributes)
	}
	if back.number(t, "x")+back.number(t, "width") > there.number(t, "x")+there.number(t, "width")+0.2 {
		t.Error("the span backwards does not end where the one before ends")
	}
}

func TestAFigureWithoutDataIsStillAFigure(t *testing.T) {
	for _, scale := range []Scale{Linear, Log, Nines} {
		svg := Figure{Title: "empty", Panels: []Panel{{X: Axis{Scale: scale}, Y: Axis{Scale: scale}, Series: []Series{{Name: "a"}, {Name: "b"}}}}}.SVG()
		if text := string(svg); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("scale %d: %s", scale, text)
		}
		parse(t, svg)
	}
}

func TestABarOfTenTimesTheValueIsOnePowerOfTenLonger(t *testing.T) {
	bars := Bars{Title: "title", Unit: "ns", Kinds: []string{"ours", "others"}, Bars: []Bar{{"a", 20, "ours", "20"}, {"b", 200, "others", "200"}, {"c", 2000, "ours", "2 k"}}}
	var lengths []float64
	for _, e := range parse(t, bars.SVG()) {
		if e.name == "rect" && e.attributes["height"] == "18" {
			lengths = append(lengths, e.number(t, "width"))
		}
	}
	if len(lengths) != 3 || math.Abs((lengths[2]-lengths[1])-(lengths[1]-lengths[0])) > 0.2 || lengths[1] <= lengths[0] {
		t.Errorf("bars of 20, 200 and 2,000 are %v long", lengths)
	}
}

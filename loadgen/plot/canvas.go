package plot

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"lifeline/loadgen/format"
)

// canvas collects elements; the height is known at the end.
type canvas struct {
	title string
	body  strings.Builder
}

func newCanvas(title string) *canvas { return &canvas{title: title} }

// palette are the colours of lines on light and on dark ground. The first two are those of the other results' pictures.
var palette = [][2]string{
	{"#1f6f8b", "#56b4d3"}, {"#e08e45", "#f0a868"}, {"#7a5195", "#b994d6"}, {"#3f8f5f", "#7cc79a"},
	{"#b8432f", "#ec8a74"}, {"#4a62a8", "#92a8e6"}, {"#8f7d1f", "#d6c562"}, {"#6b7075", "#b3b8bd"},
}

func style() string {
	var css strings.Builder
	css.WriteString(".over{paint-order:stroke;stroke:#fff;stroke-width:4px}.ground{fill:#fff}.ink{fill:#222}.soft{fill:#666}.grid{stroke:#e3e3e3}.axis{stroke:#999}.band{fill:#b8432f;opacity:.14}" +
		".rule{stroke:#888}.mark{fill:none;stroke:#b8432f;stroke-width:2}.marked{fill:#b8432f}")
	for i, colour := range palette {
		fmt.Fprintf(&css, ".l%d{stroke:%s}.f%d{fill:%s}", i, colour[0], i, colour[0])
	}
	css.WriteString("@media(prefers-color-scheme:dark){.over{stroke:#16191d}.ground{fill:#16191d}.ink{fill:#e8e8e8}.soft{fill:#a5abb1}.grid{stroke:#2c3137}" +
		".axis{stroke:#6b7178}.band{fill:#ec8a74}.rule{stroke:#888}.mark{stroke:#ec8a74}.marked{fill:#ec8a74}")
	for i, colour := range palette {
		fmt.Fprintf(&css, ".l%d{stroke:%s}.f%d{fill:%s}", i, colour[1], i, colour[1])
	}
	css.WriteString("}")
	return css.String()
}

func (c *canvas) add(format string, values ...any) { fmt.Fprintf(&c.body, format+"\n", values...) }

type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

func (c *canvas) text(x, y float64, at anchor, class string, size int, content string) {
	c.add(`<text x="%s" y="%s" font-size="%d" text-anchor="%s" class="%s">%s</text>`, px(x), px(y), size, at, class, escape(content))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class, more string) {
	c.add(`<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"%s/>`, px(x1), px(y1), px(x2), px(y2), class, more)
}

// heading returns where the figure goes on.
func (c *canvas) heading(title, subtitle string) float64 {
	y := 26.0
	c.text(16, y, start, "ink", titleSize, title)
	for _, line := range wrap(subtitle, width-32) {
		y += 18
		c.text(16, y, start, "soft", textSize, line)
	}
	return y + 12
}

func (c *canvas) note(note string, y float64) float64 {
	for _, line := range wrap(note, width-32) {
		y += 16
		c.text(16, y, start, "soft", textSize-1, line)
	}
	return y + 14
}

func (c *canvas) end(height float64) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %s" role="img" font-family="system-ui,sans-serif">`+"\n", width, px(height))
	fmt.Fprintf(&out, "<title>%s</title>\n<style>%s</style>\n", escape(c.title), style())
	fmt.Fprintf(&out, `<rect width="%d" height="%s" class="ground"/>`+"\n", width, px(height))
	out.WriteString(c.body.String())
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

// px keeps a tenth of a pixel: files stay small, and the same data give the same file.
func px(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// textWidth is an estimate: SVG knows no fonts before it is shown.
func textWidth(text string, size int) float64 {
	return 0.6 * float64(size) * float64(len([]rune(text)))
}

func wrap(text string, columns float64) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && textWidth(line+" "+word, textSize) > columns {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// escape returns any text as valid XML.
func escape(text string) string { return html.EscapeString(format.OneLine(text)) }

package report

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"lifeline/loadgen/format"
)

// table is one table of a report, written once and shown as Markdown, as HTML and as text. Its first column names the rows.
type table struct {
	title string
	note  string
	head  []string
	rows  [][]string
	words int // columns of words, which stand to the left; the others are figures. 0: the first one
}

func (t table) leftColumns() int { return max(1, t.words) }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t table) markdown(out *strings.Builder) {
	if len(t.rows) == 0 {
		return
	}
	if t.title != "" {
		fmt.Fprintf(out, "\n## %s\n", plain(t.title))
	}
	if t.note != "" {
		fmt.Fprintf(out, "\n%s\n", plain(t.note))
	}
	out.WriteString("\n")
	row := func(cells []string) {
		for _, cell := range cells {
			fmt.Fprintf(out, "| %s ", strings.ReplaceAll(plain(cell), "|", `\|`))
		}
		out.WriteString("|\n")
	}
	row(t.head)
	left := t.leftColumns()
	out.WriteString(strings.Repeat("| --- ", left) + strings.Repeat("| ---: ", len(t.head)-left) + "|\n")
	for _, cells := range t.rows {
		row(cells)
	}
}

func (t table) html(out *strings.Builder) {
	if len(t.rows) == 0 {
		return
	}
	if t.title != "" {
		fmt.Fprintf(out, "<h2>%s</h2>\n", html.EscapeString(t.title))
	}
	if t.note != "" {
		fmt.Fprintf(out, "<p>%s</p>\n", html.EscapeString(t.note))
	}
	out.WriteString("<div class=\"wide\"><table>\n<thead>")
	row := func(cells []string, tag, scope string) {
		out.WriteString("<tr>")
		for i, cell := range cells {
			class := ""
			if i < t.leftColumns() {
				class = ` class="word"`
			}
			fmt.Fprintf(out, "<%s%s%s>%s</%s>", tag, scope, class, html.EscapeString(format.OneLine(cell)), tag)
		}
		out.WriteString("</tr>")
	}
	row(t.head, "th", ` scope="col"`)
	out.WriteString("</thead>\n<tbody>\n")
	for _, cells := range t.rows {
		row(cells, "td", "")
		out.WriteString("\n")
	}
	out.WriteString("</tbody></table></div>\n")
}

// text is for a terminal: columns aligned by blanks, figures to the right.
func (t table) text(out *strings.Builder) {
	widths := make([]int, len(t.head))
	for _, cells := range append([][]string{t.head}, t.rows...) {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, cells := range append([][]string{t.head}, t.rows...) {
		var line strings.Builder
		for i, cell := range cells {
			cell = format.OneLine(cell)
			blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString(cell + blanks)
			} else {
				line.WriteString("  " + blanks + cell)
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

package study

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var figure = regexp.MustCompile(`\d[\d.,]*[a-zµ]*`)

// reason is one gauge beyond its limit, for all points that it made invalid.
type reason struct {
	before, after   string // the words around the gauge's figure
	figures, points []string
}

// reasons says why points have no valid run: each reason once, with the range of its figure.
func reasons(records []Record) []string {
	var all []reason
	for _, r := range records {
		if r.Valid || r.Failure != nil {
			continue
		}
		for _, text := range r.Invalid {
			at := figure.FindStringIndex(text)
			if at == nil {
				at = []int{len(text), len(text)}
			}
			before, found, after := text[:at[0]], text[at[0]:at[1]], text[at[1]:]
			i := slices.IndexFunc(all, func(other reason) bool { return other.before == before && other.after == after })
			if i < 0 {
				i, all = len(all), append(all, reason{before: before, after: after})
			}
			all[i].figures, all[i].points = append(all[i].figures, found), append(all[i].points, "`"+r.Point+"`")
		}
	}
	var lines []string
	for _, each := range all {
		slices.SortFunc(each.figures, func(a, b string) int { return cmp.Compare(size(a), size(b)) })
		span := each.figures[0]
		if last := each.figures[len(each.figures)-1]; last != span {
			span += " to " + last
		}
		lines = append(lines, fmt.Sprintf("- %s%s%s: %s", each.before, span, each.after, strings.Join(each.points, ", ")))
	}
	return lines
}

// size orders a gauge's figures, times with their units and numbers.
func size(figure string) float64 {
	if span, err := time.ParseDuration(figure); err == nil {
		return float64(span)
	}
	number, _ := strconv.ParseFloat(figure, 64)
	return number
}

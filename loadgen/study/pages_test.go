package study

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/study/paper"
)

func TestPagesShowEveryPointAndEveryPictureTheyName(t *testing.T) {
	out := t.TempDir()
	if _, err := measuring(t, t.Context(), Options{Out: out, Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
		if s.Generators == 25_000 {
			return Measured{Result: result.Result{Failure: &result.Failure{Cause: result.Descriptors, Message: "25,000 are too many"}}}, nil
		}
		return found(s), nil
	})}); err != nil {
		t.Fatal(err)
	}
	if err := WritePages(out); err != nil {
		t.Fatal(err)
	}
	text := ""
	files, err := filepath.Glob(filepath.Join(out, "*.md"))
	if err != nil || len(files) != len(pages)+1 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += string(content)
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		page, _, _ := strings.Cut(link[1], "#")
		target := filepath.Join(out, page)
		if elsewhere, ok := strings.CutPrefix(link[1], "../../"); ok { // pages are in results/fleet
			target = filepath.Join("..", "..", elsewhere)
		}
		if _, err := os.Stat(target); err != nil {
			t.Errorf("a page names %s: %v", link[1], err)
		}
	}
	for _, want := range []string{"25,000 are too many (descriptors)", "| 5 runs of 7 s, every 1s; p99.8 needs 5,000 messages a run, has 10 |", "0.17 %", "99.8 % of messages arrived within 100 ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("no page says %q", want)
		}
	}
	for _, odd := range []string{"NaN", "Inf", "%!", "<nil>"} {
		if strings.Contains(text, odd) {
			t.Errorf("a page says %q", odd)
		}
	}
}

func TestSectionsWithoutTheirPointsSaySo(t *testing.T) {
	out := t.TempDir()
	if _, err := measuring(t, t.Context(), Options{Out: out, Only: []string{"warm-up-nats"},
		Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) { return found(s), nil })}); err != nil {
		t.Fatal(err)
	}
	if err := WritePages(out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(out, "4-queries.md"))
	if err != nil || !strings.Contains(string(page), "| core NATS | waits | 50 | 0 |") || strings.Count(string(page), notMeasured) < 3 {
		t.Errorf("%v\n%s", err, page)
	}
}

func TestAPageTellsWhatRanBesideTheLoudestOfItsRows(t *testing.T) {
	rows := fleets(time.Millisecond, 500, 1000, 2000)
	rows[1].Noise.Others = 0.25
	if said, want := where(rows), "took at most 0.250 cores beside a row (quiet up to 0.150)."; !strings.HasSuffix(said, want) {
		t.Errorf("%q does not end with %q", said, want)
	}
}

func TestWithoutAnyPointThereAreNoPages(t *testing.T) {
	if err := WritePages(t.TempDir()); err == nil {
		t.Error("pages of nothing")
	}
}

// fleets makes records of so many connections whose round trips all take so long.
func fleets(took time.Duration, connections ...int) []Record {
	var all []Record
	for _, n := range connections {
		s := scenario.Default()
		s.Generators = n
		r := found(s)
		percentiles := []result.Percentile{}
		for _, percent := range []float64{50, 99, 99.8} {
			percentiles = append(percentiles, result.Percentile{Percent: percent, Value: int64(took)})
		}
		r.Times.RTT.Percentiles = percentiles
		one := Record{Measured: r}
		for range EnoughRuns {
			one.Runs = append(one.Runs, runOf(r))
		}
		all = append(all, one)
	}
	return all
}

func TestGradesAreThoseOfTheStudyAtItsOwnFigures(t *testing.T) {
	narada, rgma := fleets(100*time.Millisecond, 500, 2500), fleets(4*time.Second, 100, 500)
	for _, c := range []struct {
		what      string
		got, want grade
	}{
		{"NaradaBrokering, real time", first(gradeRealTime(narada)), veryGood},
		{"R-GMA, real time", first(gradeRealTime(rgma)), average},
		{"a fleet that lost a tenth, beside a slower one that lost nothing",
			first(gradeRealTime(append(losing(1, fleets(time.Millisecond, 500)), fleets(50*time.Millisecond, 4000)...))), poor},
		{"slower than either", first(gradeRealTime(fleets(5*time.Second, 100))), poor},
		{"more than NaradaBrokering", first(gradeConnections(fleets(time.Millisecond, 4000))), veryGood},
		{"R-GMA, connections", first(gradeConnections(rgma)), average},
		{"a network that is as fast and larger", first(gradeScalability(rgma, fleets(time.Second, 500, 1000))), veryGood},
		{"a network that is larger and slower", first(gradeScalability(narada, fleets(time.Second, 2500, 4000))), average},
		{"a network that takes no more", first(gradeScalability(narada, fleets(time.Millisecond, 500))), poor},
		{"a larger network that no single broker of its size stands beside", first(gradeScalability(rgma, fleets(time.Second, 1000))), unknown},
		{"nothing measured", first(gradeRealTime(nil)), unknown},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s instead of %s", c.what, c.got, c.want)
		}
	}
}

func TestAGradeSaysWhereNoiseOrTheMachineMayHaveMadeIt(t *testing.T) {
	single, network := fleets(time.Millisecond, 2500), fleets(1600*time.Microsecond, 2500, 5000)
	if _, why := gradeScalability(single, network); strings.Contains(why, "noise") {
		t.Errorf("five equal runs are without noise: %s", why)
	}
	for i := range network[0].Runs {
		network[0].Runs[i].Times.RTT.Percentiles = []result.Percentile{{Percent: 50, Value: int64(1400+100*i) * 1000}}
	}
	if got, why := gradeScalability(single, network); got != average || !strings.Contains(why, "within noise against 1.50") {
		t.Errorf("%s: %s", got, why)
	}
	if _, why := gradeScalability(single, []Record{{Measured: network[0].Measured, Runs: network[0].Runs[:1]}, network[1]}); !strings.Contains(why, "too few runs") {
		t.Error(why)
	}
	network[0].Valid = false
	if got, _ := gradeScalability(single, network); got != atLeastAverage {
		t.Errorf("%s from upper bounds", got)
	}
}

func TestAReasonThatMadePointsInvalidIsSaidOnce(t *testing.T) {
	both := fleets(time.Millisecond, 500, 1000)
	for i, late := range []string{"12.5ms", "900µs"} {
		both[i].Point, both[i].Valid = string(rune('a'+i)), false
		both[i].Invalid = []string{"generators published " + late + " late in 2 of 1,000 cases (limit 5ms)"}
	}
	both[1].Invalid = append(both[1].Invalid, "no round trip was measured")
	want := []string{"- generators published 900µs to 12.5ms late in 2 of 1,000 cases (limit 5ms): `a`, `b`", "- no round trip was measured: `b`"}
	if got := reasons(append(both, fleets(time.Millisecond, 2000)...)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if cells := timeCells(both[0]); !strings.HasPrefix(cells[4], "≤ 1") || cells[len(cells)-1] != "no" {
		t.Errorf("%q", cells)
	}
}

// losing makes fleets lose so many of their messages.
func losing(messages uint64, fleets []Record) []Record {
	for i := range fleets {
		fleets[i].Counts.Lost = messages
	}
	return fleets
}

func first(g grade, _ string) grade { return g }

func TestThePapersPointStandsBesideOursWhereverItIs(t *testing.T) {
	curves := []group{{"ours", []report.Curve{{Name: "ours", Distribution: found(scenario.Default()).Times.RTT}}}}
	for at, words := range map[float64]string{2e6: "Ring: the paper", 100e6: "lies above the axis"} {
		mark := paper.Narada
		mark.Y = at
		figure, any, err := percentiles("", "", mark, curves)
		if svg := string(figure.SVG()); err != nil || !any || !strings.Contains(svg, words) || !strings.Contains(svg, mark.Label) {
			t.Errorf("%v, %v: no %q", err, any, words)
		}
	}
}

func TestAnAimHasTheTimesThatNoStallTouchedBesideIt(t *testing.T) {
	r := fleets(30*time.Millisecond, 100_000)[0]
	if cell := calmCell(r); cell != "" {
		t.Errorf("%q without any stall", cell)
	}
	r.Runs = []Run{runOf(r.Measured), runOf(r.Measured)}
	r.Runs[0].Times.RTTWithoutStalls = result.Distribution{Count: 1, Percentiles: []result.Percentile{{Percent: 99.8, Value: 10e6}}}
	if cell := calmCell(r); cell != "20 ms (10 ms to 30 ms)" && cell != "20.0 ms (10.0 ms to 30.0 ms)" {
		t.Errorf("%q", cell)
	}
}

package study

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/host"
)

// pages are what WritePages writes, in the order of the paper. Each gets all records; a section says so where it has none.
var pages = []struct {
	file, title string
	write       func(*page) error
}{
	{"1-environment.md", "Hardware, software, metrics and payload (Table I, sections III.A to III.D)", environmentPage},
	{"2-transports.md", "Transports compared (Table II, Figures 3 and 4)", transportsPage},
	{"3-brokers.md", "One broker and networks of brokers (Figures 5 to 9)", brokersPage},
	{"4-queries.md", "Start-up, continuous, latest and history queries, derived streams (Figures 10 to 14)", queriesPage},
	{"5-decomposition.md", "Where a round trip's time goes (Figure 15)", phasesPage},
	{"6-grades.md", "Grades (Table III)", gradesPage},
	{"7-faults.md", "A broker node dies (beyond the paper)", faultsPage},
	{"changes.md", "What corrections changed: figures before and after", changesPage},
}

// WritePages writes all pages and pictures from the points' files in the folder data below out.
func WritePages(out string) error {
	records, err := readRecords(filepath.Join(out, DataFolder))
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return fmt.Errorf("%s holds no points yet", filepath.Join(out, DataFolder))
	}
	var contents [][]string
	for _, each := range pages {
		p := &page{out: out, records: records}
		p.say("# %s", each.title)
		if err := each.write(p); err != nil {
			return fmt.Errorf("writing %s: %w", each.file, err)
		}
		p.footer()
		if err := p.save(each.file); err != nil {
			return err
		}
		for _, heading := range p.sections {
			contents = append(contents, []string{fmt.Sprintf("[%s](%s#%s)", heading, each.file, anchor(heading))})
		}
	}
	p := &page{out: out, records: records}
	indexPage(p, contents)
	return p.save("README.md")
}

// page is one of them in the making.
type page struct {
	out     string
	records map[string]Record
	used    []Record // listed in the footer with machine and reasons
	text    strings.Builder

	sections []string // headings of the paper's tables and figures
}

func (p *page) say(form string, values ...any) { fmt.Fprintf(&p.text, form+"\n", values...) }

// paragraph is a sentence or more with an empty line before it; nothing where there is nothing to say.
func (p *page) paragraph(form string, values ...any) {
	if text := fmt.Sprintf(form, values...); text != "" {
		p.say("\n%s", text)
	}
}

// record is a point that was measured; using it puts it into the footer.
func (p *page) record(id string) (Record, bool) {
	r, ok := p.records[id]
	if ok && !slices.ContainsFunc(p.used, func(other Record) bool { return other.Point == id }) {
		p.used = append(p.used, r)
	}
	return r, ok
}

// measured are those of the points that have times.
func (p *page) measured(ids ...string) []Record {
	var all []Record
	for _, id := range ids {
		if r, ok := p.record(id); ok && r.measured() {
			all = append(all, r)
		}
	}
	return all
}

// series are a scenario's points over the numbers of generators, fewest first.
func (p *page) series(name string) []Record {
	var all []Record
	for _, id := range slices.Sorted(maps.Keys(p.records)) {
		if rest, ok := strings.CutPrefix(id, name+"-"); ok && strings.Trim(rest, "0123456789") == "" {
			r, _ := p.record(id)
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Record) int { return cmp.Compare(a.Scenario.Generators, b.Scenario.Generators) })
	return all
}

func (p *page) picture(file, title string, svg []byte) error {
	p.paragraph("![%s](%s)", title, file)
	return p.write(file, svg)
}

func (p *page) save(file string) error { return p.write(file, []byte(p.text.String())) }

func (p *page) write(file string, content []byte) error {
	if err := os.WriteFile(filepath.Join(p.out, file), content, 0o666); err != nil {
		return fmt.Errorf("writing the pages: %w", err)
	}
	return nil
}

// footer says what was not as it should be, how to measure again, and where this was measured.
func (p *page) footer() {
	var failed []string
	for _, r := range p.used {
		if r.Failure != nil {
			failed = append(failed, fmt.Sprintf("- `%s`: %s (%s)", r.Point, firstLine(r.Failure.Message), r.Failure.Cause))
		} else if broken := r.failedRuns(); len(broken) > 0 {
			failed = append(failed, fmt.Sprintf("- `%s`: %d of %d runs, the first: %s (%s)", r.Point, len(broken), len(r.Runs),
				firstLine(broken[0].Failure.Message), broken[0].Failure.Cause))
		}
	}
	if len(failed) > 0 {
		p.paragraph("Failed or refused, and why:\n\n%s", strings.Join(failed, "\n"))
	}
	if invalid := reasons(p.used); len(invalid) > 0 {
		p.paragraph("Points without any valid run. Their times contain waits for the machine, so they are upper bounds (≤); the figures are "+
			"those of the first run:\n\n%s", strings.Join(invalid, "\n"))
	}
	if len(p.used) > 0 {
		p.paragraph("%s Each row's data, with the command that measures it alone, is in `data/ROW.json`.", where(p.used))
	}
}

// where names command, forms, machine, what else it did, and dates.
func where(records []Record) string {
	machines := map[string]bool{}
	first, last := records[0].Started, records[0].Started
	loudest := records[0]
	for _, r := range records {
		if r.Noise.Others > loudest.Noise.Others {
			loudest = r
		}
		machines[machine(r)] = true
		if r.Started.Before(first) {
			first = r.Started
		}
		if r.Started.After(last) {
			last = r.Started
		}
	}
	const minute = "2006-01-02 15:04"
	span := "on " + first.UTC().Format(minute) + " UTC"
	if !last.Equal(first) {
		span = "from " + first.UTC().Format(minute) + " to " + last.UTC().Format(minute) + " UTC"
	}
	return fmt.Sprintf("Command: `make results-fleet`. Machine, for brokers and fleet together: %s. Measured %s; %s.",
		strings.Join(slices.Sorted(maps.Keys(machines)), " and "), span, beside(loudest))
}

// beside reports the CPU time of other processes during the record.
func beside(r Record) string {
	return fmt.Sprintf("whatever else ran took at most %s cores beside a row (quiet up to %s)",
		format.Number(r.Noise.Others), format.Number(host.MaxOthers))
}

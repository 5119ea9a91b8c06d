package report

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
)

func TestARunEndsWithALineOfFixedForm(t *testing.T) {
	r := result.Result{Counts: result.Counts{Connections: 800, Sent: 9600, Failed: 3, Skipped: 4, Refused: 5, Received: 9597, Lost: 3, Away: 2,
		Duplicated: 1}, Valid: true, Broker: result.BrokerCounters{Compared: true, Agree: true}}
	var rtt measure.Recorder
	rtt.Record(183_000)
	r.Times.RTT = rtt.Distribution()
	rtt.Record(91_000)
	r.Times.ServiceTime = rtt.Distribution()
	want := "fleet: connections=800 sent=9600 unsent=7 refused=5 received=9597 lost=3 away=2 duplicated=1 p50_ms=0.183 p998_ms=0.183 " +
		"service_p998_ms=0.183 broker=agree valid=true"
	if got := Line(r); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAReportIsReadAsItWasWritten(t *testing.T) {
	folder := t.TempDir()
	want := sample("written", 800, 1)
	page, err := Write(folder, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, filepath.Join(folder, JSONName)} {
		got, err := Read(path)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another result, %v", path, err)
		}
	}
	if page != filepath.Join(folder, PageName) {
		t.Errorf("page %q", page)
	}
	files, _ := os.ReadDir(folder)
	if len(files) != 3+4 {
		t.Errorf("%d files: JSON, Markdown, page and four pictures are expected, and nothing that was temporary", len(files))
	}
}

func TestWhatIsNoResultIsRefusedByItsName(t *testing.T) {
	for name, content := range map[string]string{"text": "no JSON", "format": `{"format": 7}`} {
		path := filepath.Join(t.TempDir(), name+".json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestThePageStandsAlone(t *testing.T) {
	folder := t.TempDir()
	r := sample("a <script> name", 800, 1)
	page, err := Write(folder, r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	html := string(text)
	if loads := regexp.MustCompile(`(?i)<(script|link|img|iframe)|\s(src|href)=|url\(|@import`).FindString(html); loads != "" {
		t.Errorf("the page contains %q", loads)
	}
	if strings.Count(html, "<svg") != 4 || strings.Count(html, "</svg>") != 4 {
		t.Error("four pictures are expected within the page")
	}
	for _, words := range []string{"2 were lost (0.02 %)", "99.8 % within", "kill node 1", "prefers-color-scheme"} {
		if !strings.Contains(html, words) {
			t.Errorf("the page does not say %q", words)
		}
	}
}

func TestMarkdownHasEveryPictureAndTable(t *testing.T) {
	folder := t.TempDir()
	if _, err := Write(folder, sample("markdown", 800, 1)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, MarkdownName))
	if err != nil {
		t.Fatal(err)
	}
	for _, picture := range regexp.MustCompile(`!\[[^]]*\]\(([^)]*)\)`).FindAllStringSubmatch(string(text), -1) {
		svg, err := os.ReadFile(filepath.Join(folder, picture[1]))
		if err != nil {
			t.Error(err)
		}
		if err := xml.Unmarshal(svg, new(struct{})); err != nil {
			t.Errorf("%s: %v", picture[1], err)
		}
	}
	for _, heading := range []string{"Times", "The slowest messages", "Faults", "Messages", "Processor and memory", "Noise", "The broker's own counters", "Scenario"} {
		if !strings.Contains(string(text), "\n## "+heading+"\n") {
			t.Errorf("no table %q", heading)
		}
	}
	columns := 0
	for line := range strings.Lines(string(text)) {
		switch bars := strings.Count(line, "|"); {
		case bars == 0:
			columns = 0
		case columns == 0:
			columns = bars
		case bars != columns:
			t.Errorf("a row of another width: %s", line)
		}
	}
}

func TestTheVerdictTellsWhatAFaultDid(t *testing.T) {
	r := sample("fault", 800, 1)
	unended, unrecovered, harmless := r.Faults[0], r.Faults[0], r.Faults[0]
	unended.FirstAfter, unended.Recovered = 0, 0
	unrecovered.Recovered = 0
	harmless.Recovered = harmless.At
	r.Faults = append(r.Faults, unended, unrecovered, harmless)
	said := strings.Join(Verdict(r), "\n")
	for _, want := range []string{
		"2 were lost (0.02 %): 2 never acknowledged;",
		"Kill node 1, 60 s after the first message: no delivery for 2.5 s, all as before after 4 s, 2 lost meanwhile.",
		": no more deliveries, 2 lost meanwhile.",
		": deliveries were not as before until the end, 2 lost meanwhile.",
		": deliveries did not fall.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the verdict does not say %q:\n%s", want, said)
		}
	}
}

func TestTheVerdictSaysTheWorstFirst(t *testing.T) {
	r := sample("bad", 800, 1)
	r.Failure = &result.Failure{Cause: result.BrokerExit, Message: "node 1 ended: out of memory"}
	r.Valid, r.Invalid = false, []string{"other processes used 1.5 of 2 cores"}
	r.Counts.Lost, r.Counts.LostAcknowledged, r.Counts.Away = 12, 3, 7
	r.Goals[0].Met, r.Goals[0].Share = false, 0.98
	none := uint64(0)
	r.Goals[0].Objective.MaxLost = &none
	said := strings.Join(Verdict(r), "\n")
	for _, want := range []string{
		"Failed (broker-exit): node 1 ended: out of memory\n", "12 were lost (0.1 %): 3 acknowledged by the broker and not delivered, 2 never acknowledged, 7 published while",
		"Objective missed: 99.5 % within 5 s: 98 % were; none lost: 12 were.", "Other processes used 1.5 of 2 cores.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the verdict does not say %q:\n%s", want, said)
		}
	}
	if !strings.HasPrefix(said, "Failed") || good(r) {
		t.Errorf("the failure does not come first:\n%s", said)
	}
}

func TestTimesStandBesideThoseWithoutStalls(t *testing.T) {
	r := sample("stalled", 800, 1)
	if text := Text(r); strings.Contains(text, "stall") || strings.Contains(text, "stood still") {
		t.Errorf("a machine that never stood still: %s", text)
	}
	var calm measure.Recorder
	for range r.Times.RTT.Count - 500 {
		calm.Record(250_000)
	}
	r.Times.RTTWithoutStalls, r.Times.ServiceTimeWithoutStalls = calm.Distribution(), calm.Distribution()
	r.Stalls = result.Stalls{Count: 12, Total: 1_300_000_000, Longest: []result.Stall{{At: 5, Length: 190_000_000}}}
	folder := t.TempDir()
	page, err := Write(folder, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{page, filepath.Join(folder, MarkdownName)} {
		text := read(t, file)
		for _, words := range []string{
			"stood still 12 times, for up to 190 ms; 500 messages (2.5 %) were under way meanwhile, and without those 99.8 % made the round trip within 250 µs.",
			"RTT, without 12 stalls of the machine (500 messages, 2.5 %)", "service time, without 12 stalls", "the same, longest",
		} {
			if !strings.Contains(text, words) {
				t.Errorf("%s does not say %q", filepath.Base(file), words)
			}
		}
	}
	if line := Line(r); !strings.Contains(line, fmt.Sprintf("p998_ms=%.3f ", float64(r.Times.RTT.At(99.8))/1e6)) {
		t.Errorf("the line's p99.8 is not that of all messages: %s", line)
	}
}

func TestTheUserOfARunThatOthersDisturbedSeesTheirNames(t *testing.T) {
	r := sample("disturbed", 800, 1)
	r.Noise.Busiest = []result.Process{{Name: "postgres", ID: 12, Cores: 0.31}}
	if said := strings.Join(Verdict(r), "\n"); strings.Contains(said, "postgres") {
		t.Errorf("nobody disturbed this run: %s", said)
	}
	r.Valid, r.Invalid = false, []string{"other processes used 0.50 cores"}
	if said := strings.Join(Verdict(r), "\n"); !strings.Contains(said, "postgres (process 12) with 0.31 cores") {
		t.Error(said)
	}
}

func TestAFleetThatNeverSentStillHasAReport(t *testing.T) {
	r := result.Result{Failure: &result.Failure{Cause: result.Descriptors, Message: "it takes 40,012 descriptors and has 20,000"}, Invalid: []string{"noise"}}
	folder := t.TempDir()
	if _, err := Write(folder, r); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, MarkdownName))
	if err != nil || !strings.Contains(string(text), "Failed (descriptors): it takes 40,012") || strings.Contains(string(text), "NaN") {
		t.Errorf("%v\n%s", err, text)
	}
	if said := Text(r); said != "Failed (descriptors): it takes 40,012 descriptors and has 20,000\n" {
		t.Errorf("%q: there were no times to trust or to show", said)
	}
}

func TestAnOutageIsAGapAndABand(t *testing.T) {
	figure := Timeline(sample("outage", 800, 1))
	messages, rtt := figure.Panels[0], figure.Panels[1]
	if len(messages.Bands) != 1 || messages.Bands[0].From != 60 || messages.Bands[0].To != 64 {
		t.Errorf("bands %+v", messages.Bands)
	}
	if len(messages.Series) != 3 || messages.Series[2].Name != "never arrived" {
		t.Errorf("what was lost is not drawn: %d lines", len(messages.Series))
	}
	if at := rtt.Series[0].Points[61]; at.Y != 0 {
		t.Errorf("a second without deliveries has the round trip %v", at)
	}
	unwatched := sample("unwatched", 800, 1)
	last := len(unwatched.Timeline) - 1
	unwatched.Timeline[last] = result.Second{At: float64(last)}
	if line := Timeline(unwatched).Panels[2].Series[0].Points; len(line) != last {
		t.Error("a second without a sample of the machine is drawn as a busy one")
	}
	external := sample("external", 800, 1)
	external.Resources.Broker = result.Usage{}
	for _, line := range Timeline(external).Panels[2].Series {
		if line.Name == "broker" {
			t.Error("a broker elsewhere is drawn as one that takes no CPU time")
		}
	}
	recovering := sample("never", 800, 1)
	recovering.Faults[0].Recovered = 0
	if band := Timeline(recovering).Panels[0].Bands[0]; band.To != 119 {
		t.Errorf("an outage without recovery ends at %v", band.To)
	}
}

func TestTheSecondsOfAShortRunHaveNamesOfTheirOwn(t *testing.T) {
	short := sample("short", 800, 1)
	short.Timeline, short.Faults = short.Timeline[:2], nil
	svg := string(Timeline(short).SVG())
	if strings.Count(svg, ">0:00<") != 3 || strings.Count(svg, ">0:01<") != 3 || strings.Contains(svg, "0:-") {
		t.Errorf("two seconds in three panels: %q", regexp.MustCompile(`>[0-9]+:[^<]*<`).FindAllString(svg, -1))
	}
}

func TestACurveEndsAtItsGreatestValueAndNotBeyondItsCount(t *testing.T) {
	var few measure.Recorder
	for i := range 10 {
		few.Record(int64(i+1) * 1_000_000)
	}
	figure, err := Distribution("", "", []Curve{{Name: "ten", Distribution: few.Distribution()}})
	if err != nil {
		t.Fatal(err)
	}
	points := figure.Panels[0].Series[0].Points
	if last := points[len(points)-1]; last.X > 95 || last.Y != 10_000_000 {
		t.Errorf("ten messages end at %v %% with %v", last.X, last.Y)
	}
}

package study

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lifeline/loadgen/study/paper"
)

// publishedFolder is where the committed pages and data are.
var publishedFolder = filepath.Join("..", "..", "results", "fleet")

// publishedPages are the committed pages by name.
func publishedPages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(publishedFolder, "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	all := map[string]string{}
	for _, file := range files {
		all[filepath.Base(file)] = read(t, file)
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestPublishedPagesAreWhatTheirDataGive(t *testing.T) {
	data, err := filepath.Abs(filepath.Join(publishedFolder, DataFolder))
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := os.Symlink(data, filepath.Join(out, DataFolder)); err != nil {
		t.Fatal(err)
	}
	if err := WritePages(out); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.md", "*.svg"} {
		written, _ := filepath.Glob(filepath.Join(out, pattern))
		committed, _ := filepath.Glob(filepath.Join(publishedFolder, pattern))
		if len(written) != len(committed) {
			t.Errorf("%d files %s are published, %d are written: remove those that nothing writes", len(committed), pattern, len(written))
		}
		for _, file := range written {
			name := filepath.Base(file)
			if content, err := os.ReadFile(filepath.Join(publishedFolder, name)); err != nil || string(content) != read(t, file) {
				t.Errorf("%s is not what its data give (%v): scripts/results-fleet --pages", name, err)
			}
		}
	}
}

func TestEachTableAndFigureOfThePaperHasItsSection(t *testing.T) {
	pages := publishedPages(t)
	all := ""
	for name, text := range pages {
		if name != "README.md" {
			all += text
		}
	}
	wanted := []string{"Table I", "Table II", "Table III", "Section III.B", "Section III.F.1", "Payload"}
	for figure := 3; figure <= 15; figure++ {
		wanted = append(wanted, fmt.Sprintf("Figure %d", figure))
	}
	for _, what := range wanted {
		_, section, found := strings.Cut(all, "\n## "+what+": ")
		section, _, _ = strings.Cut(section, "\n## ")
		picture := strings.ToLower(strings.ReplaceAll(what, " ", "-")) + ".svg"
		switch {
		case !found:
			t.Errorf("%s has no section", what)
		case !strings.Contains(section, "\n"+paperLead+" ("):
			t.Errorf("the section of %s does not say what the paper did", what)
		case !strings.Contains(section, notMeasured) && !strings.Contains(section, strings.TrimSpace(hereLead)):
			t.Errorf("the section of %s does not say what we did", what)
		case strings.HasPrefix(what, "Figure") && !strings.Contains(section, "("+picture+")") && !strings.Contains(section, notMeasured):
			t.Errorf("the section of %s has no picture", what)
		}
		if !strings.Contains(pages["README.md"], "["+what+": ") {
			t.Errorf("the index does not name %s", what)
		}
	}
}

func TestTheIndexLinksToHeadings(t *testing.T) {
	pages := publishedPages(t)
	links := regexp.MustCompile(`\]\(([^)#]+)#([^)]+)\)`).FindAllStringSubmatch(pages["README.md"], -1)
	for _, link := range links {
		found := false
		for _, line := range strings.Split(pages[link[1]], "\n") {
			heading, is := strings.CutPrefix(line, "## ")
			found = found || is && anchor(heading) == link[2]
		}
		if !found {
			t.Errorf("%s has no heading for #%s", link[1], link[2])
		}
	}
	if len(links) < 18 {
		t.Errorf("only %d links to sections", len(links))
	}
}

func TestEachNumberThatPagesGiveOfThePaperIsAFacts(t *testing.T) {
	known := map[string]bool{}
	for _, fact := range paper.Facts() {
		for number := range paper.Numbers(strings.Join(fact.Text, " ")) {
			known[number] = true
		}
	}
	seen := 0
	for name, text := range publishedPages(t) {
		for _, line := range strings.Split(text, "\n") {
			if !strings.HasPrefix(line, paperLead) {
				continue
			}
			seen++
			for number := range paper.Numbers(line) {
				if !known[number] {
					t.Errorf("%s says of the paper %q, and no fact has %s", name, line, number)
				}
			}
		}
	}
	if seen < 18 {
		t.Errorf("only %d paragraphs say what the paper did", seen)
	}
}

func TestEachFactOfThePaperIsOnAPage(t *testing.T) {
	all := ""
	for _, text := range publishedPages(t) {
		all += text
	}
	for _, fact := range paper.Facts() {
		for _, part := range strings.Split(fact.Says, "; ") { // of a row of a table, each is a cell
			if !strings.Contains(all, part) {
				t.Errorf("no page says of the paper (%s): %s", fact.About, part)
			}
		}
	}
}

func TestPublishedDataAndPagesNameNoOtherPrograms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(publishedFolder, DataFolder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no data: %v", err)
	}
	name := regexp.MustCompile(`"busiest":|"pid":|\(process [0-9]+\)`)
	for _, file := range files {
		if found := name.FindString(read(t, file)); found != "" {
			t.Errorf("%s has %s", file, found)
		}
	}
	for page, text := range publishedPages(t) {
		if found := name.FindString(text); found != "" {
			t.Errorf("%s has %s", page, found)
		}
	}
}

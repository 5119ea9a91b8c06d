package report

import (
	"fmt"
	"strings"

	"lifeline/loadgen/format"
	"lifeline/loadgen/result"
)

// markdown is the report for a repository: the same sentences, pictures and tables as the page.
func markdown(r result.Result, pictures []picture) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n", plain(Name(r)))
	for _, sentence := range Verdict(r) {
		fmt.Fprintf(&out, "%s\n\n", plain(sentence))
	}
	fmt.Fprintf(&out, "%s\n\nMachine: %s.\n", plain(setting(r)), plain(machine(r)))
	for _, picture := range pictures {
		fmt.Fprintf(&out, "\n![%s](%s)\n", plain(picture.title), picture.file)
	}
	for _, table := range tables(r) {
		table.markdown(&out)
	}
	return out.String()
}

// markup is what Markdown takes for more than text: HTML, and links.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", "[", `\[`, "`", "\\`", `\`, `\\`)

// plain is a text that Markdown shows as it is, on one line: names and messages come from scenarios, brokers and machines.
func plain(text string) string { return markup.Replace(format.OneLine(text)) }

// tables are those of one run, in the order in which they are shown.
func tables(r result.Result) []table {
	return []table{times(r), slowest(r), faults(r), counts(r), resources(r), hosts(r), noise(r), brokerCounters(r), setup(r)}
}

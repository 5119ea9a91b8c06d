package paper

import (
	"regexp"
	"strings"
)

var (
	number = regexp.MustCompile(`[0-9]+(?:[.,][0-9]+)*`)
	named  = regexp.MustCompile(`(?i)\bfigures? [0-9]+|\b(?:CPU|MEM|RTT|STDDEV)2\b|\b[IV]+(?:\.[A-Z](?:\.[0-9])?)+`)
	words  = map[string]string{"zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "seven": "7", "eight": "8"}
	word   = regexp.MustCompile(`[a-z]+`)
)

// Numbers are those of a text, in digits: 1,000 is 1000 and "four" is 4. Names of figures, sections and curves (CPU2) are no
// numbers, nor is "one". Tests hold pages to facts by it.
func Numbers(text string) map[string]bool {
	found := map[string]bool{}
	text = named.ReplaceAllString(text, "")
	for _, each := range number.FindAllString(text, -1) {
		found[strings.ReplaceAll(each, ",", "")] = true
	}
	for _, each := range word.FindAllString(strings.ToLower(text), -1) {
		if digit, ok := words[each]; ok {
			found[digit] = true
		}
	}
	return found
}

package scenario

import (
	"maps"
	"slices"
	"strings"
)

// instead says what to write for a key that does not exist: one that is spelt nearly so, the same word at another place,
// or else all keys of this place.
func instead(s *schema, key string) string {
	wanted := plain(key)
	best, least := "", 3
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if d := distance(wanted, plain(name)); d < least {
			best, least = name, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	for _, outer := range slices.Sorted(maps.Keys(root().Properties)) {
		if _, ok := root().Properties[outer].Properties[key]; ok {
			return "did you mean " + outer + "." + key + "?"
		}
	}
	if _, ok := root().Properties[key]; ok {
		return "it belongs to the file's outermost level"
	}
	return "write one of " + known(s)
}

// plain forgets what people spell differently: case, hyphens, underscores.
func plain(key string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key))
}

// distance is Levenshtein's: the fewest insertions, deletions and substitutions.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

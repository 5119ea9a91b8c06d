package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// differing finds the settings that are not the same in all runs, by their path in the scenario file.
func differing(runs []result.Result) []Setting {
	flat := make([]map[string]string, len(runs))
	keys := map[string]bool{}
	for i, r := range runs {
		flat[i] = map[string]string{"client library": r.Client, "machine": machineName(r), "broker version": r.Broker.After.Name}
		maps.Copy(flat[i], settings(r.Scenario))
		delete(flat[i], "name")
		for key := range flat[i] {
			keys[key] = true
		}
	}
	found := []Setting{}
	for key := range keys {
		setting := Setting{Key: key}
		same := true
		for i := range flat {
			setting.Values = append(setting.Values, flat[i][key])
			same = same && flat[i][key] == flat[0][key]
		}
		if !same {
			found = append(found, setting)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Key < found[j].Key })
	return found
}

// settings are a scenario's, by their path in its file.
func settings(s scenario.Scenario) map[string]string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("report: a scenario has no JSON: " + err.Error()) // it came from JSON or a scenario file
	}
	var tree map[string]any
	_ = json.Unmarshal(text, &tree)
	flat := map[string]string{}
	flatten("", tree, flat)
	return flat
}

func flatten(prefix string, value any, into map[string]string) {
	below := func(key string) string { return strings.TrimPrefix(prefix+"."+key, ".") }
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			flatten(below(key), inner, into)
		}
	case []any:
		for i, inner := range value {
			flatten(below(fmt.Sprint(i+1)), inner, into)
		}
	case nil:
	default:
		into[prefix] = fmt.Sprint(value)
	}
}

// setup is the scenario as a table, to run it again.
func setup(r result.Result) table {
	t := table{title: "Scenario", head: []string{"key", "value"}, words: 2}
	flat := settings(r.Scenario)
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		t.add(key, flat[key])
	}
	return t
}

func machineName(r result.Result) string {
	return fmt.Sprintf("%s, %d cores, %s", r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel)
}

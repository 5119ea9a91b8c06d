package host

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"lifeline/loadgen/result"
)

// Others that used less than this share of a core are not named.
const (
	worthNaming = 0.01
	mostNamed   = 3
)

// census is all processes that this one sees, kernel threads included; in a container those of the container.
type census map[int]citizen

type citizen struct {
	name    string
	started int64 // in ticks since the machine started: a process id is used again
	cpu     int64 // in ticks
}

func takeCensus() census {
	entries, _ := os.ReadDir("/proc")
	all := census{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		// What has ended since has no file, or is empty by now.
		if stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat"); err == nil {
			if found, ok := parseCitizen(stat); ok {
				all[pid] = found
			}
		}
	}
	return all
}

func parseCitizen(stat []byte) (found citizen, ok bool) {
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if begin < 0 || end < begin {
		return found, false
	}
	fields := bytes.Fields(stat[end+1:])
	const utime, stime, starttime = 11, 12, 19 // counted from the field after the name
	if len(fields) <= starttime {
		return found, false
	}
	var numbers [3]int64
	for i, field := range []int{utime, stime, starttime} {
		number, err := strconv.ParseInt(string(fields[field]), 10, 64)
		if err != nil {
			return found, false
		}
		numbers[i] = number
	}
	return citizen{name: printable(stat[begin+1 : end]), cpu: numbers[0] + numbers[1], started: numbers[2]}, true
}

// printable makes a process' name, which it chooses itself, safe to show.
func printable(name []byte) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(string(name), "?"))
}

// busiest compares two censuses, of so many seconds apart: what all processes but ours used, in cores, and those of them that
// used most, the first one the most of all. One that ended in between is not seen.
func busiest(before, after census, ours func(pid int) bool, seconds float64) (cores float64, top []result.Process) {
	for pid, now := range after {
		if ours(pid) {
			continue
		}
		used := now.cpu
		if then, known := before[pid]; known && then.started == now.started {
			used -= then.cpu
		}
		share := float64(used) / ticksPerSecond / seconds
		cores += share
		if share >= worthNaming {
			top = append(top, result.Process{Name: now.name, ID: pid, Cores: share})
		}
	}
	slices.SortFunc(top, func(a, b result.Process) int {
		return cmp.Or(cmp.Compare(b.Cores, a.Cores), cmp.Compare(a.ID, b.ID))
	})
	return cores, top[:min(len(top), mostNamed)]
}

package host

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ticksPerSecond is the unit of /proc/*/stat: USER_HZ, which is 100 on every architecture that Go runs on under Linux.
const ticksPerSecond = 100

// usage is what one process has used so far.
type usage struct {
	cpu     float64 // ticks, its ended children not included
	running int64   // ns that its living threads were on a core
	rss     int64   // bytes now
	shared  int64   // of them, pages that other processes may have too
	waiting int64   // ns that its living threads were ready and had no core
	turns   int64   // how often they got one
}

// readProcess fails for a process that has ended.
func readProcess(pid int) (usage, error) {
	folder := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return usage{}, err
	}
	u, err := parseProcess(stat)
	if err != nil {
		return usage{}, fmt.Errorf("reading %s/stat: %w", folder, err)
	}
	statm, err := os.ReadFile(folder + "/statm")
	if err != nil {
		return usage{}, err
	}
	if u.shared, err = parseShared(statm); err != nil {
		return usage{}, fmt.Errorf("reading %s/statm: %w", folder, err)
	}
	threads, err := os.ReadDir(folder + "/task")
	if err != nil {
		return usage{}, err
	}
	for _, thread := range threads {
		// A thread that has just ended has no file; a kernel without schedstat has none at all.
		if data, err := os.ReadFile(folder + "/task/" + thread.Name() + "/schedstat"); err == nil {
			running, waiting, turns := parseSchedstat(data)
			u.running += running
			u.waiting += waiting
			u.turns += turns
		}
	}
	return u, nil
}

func parseProcess(stat []byte) (usage, error) {
	// The command's name is in parentheses and may contain both blanks and parentheses.
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	const state, utime, stime, rss = 0, 11, 12, 21 // counted from the field after the name
	if len(fields) <= rss {
		return usage{}, fmt.Errorf("%d fields", len(fields))
	}
	if fields[state][0] == 'Z' {
		return usage{}, os.ErrProcessDone
	}
	var numbers [3]int64
	for i, field := range []int{utime, stime, rss} {
		number, err := strconv.ParseInt(string(fields[field]), 10, 64)
		if err != nil {
			return usage{}, err
		}
		numbers[i] = number
	}
	return usage{cpu: float64(numbers[0] + numbers[1]), rss: numbers[2] * int64(os.Getpagesize())}, nil
}

// parseShared reads the third field: resident pages of files and of shared memory.
func parseShared(statm []byte) (int64, error) {
	fields := bytes.Fields(statm)
	if len(fields) < 3 {
		return 0, fmt.Errorf("%d fields", len(fields))
	}
	pages, err := strconv.ParseInt(string(fields[2]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// children are the processes that a process has forked and not yet lost, by its first thread.
func children(pid int) []int {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return nil // it has ended, or the kernel keeps no lists: the children then count as other load
	}
	var pids []int
	for _, field := range bytes.Fields(list) {
		if child, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}

// parseSchedstat reads: ns on a core, ns waiting for one, number of times on a core.
func parseSchedstat(data []byte) (running, waiting, turns int64) {
	fields := bytes.Fields(data)
	if len(fields) < 3 {
		return 0, 0, 0
	}
	running, _ = strconv.ParseInt(string(fields[0]), 10, 64)
	waiting, _ = strconv.ParseInt(string(fields[1]), 10, 64)
	turns, _ = strconv.ParseInt(string(fields[2]), 10, 64)
	return running, waiting, turns
}

// group follows the processes of one side. Their number may change: a killed broker comes back as another process.
type group struct {
	forks          bool // children belong to it: a server of PostgreSQL has one for each connection
	last           map[int]usage
	cpu            float64 // ticks since the start of the watch
	waiting, turns int64   // likewise
	rss            int64
	processes      int
}

// update adds what was used since the last call. A process that is seen first is charged from here on, one that has ended
// no more: what it used after the last call is missed, at most one interval.
func (g *group) update(pids []int) {
	now := make(map[int]usage, len(pids))
	g.rss = 0
	add := func(pid int, child bool) {
		current, err := readProcess(pid)
		if err != nil {
			return
		}
		g.rss += current.rss
		if child {
			g.rss -= current.shared // is its parent's
			// A thousand processes that use less than a tick each would seem to use nothing. They have one thread.
			current.cpu = float64(current.running) * ticksPerSecond / 1e9
		}
		now[pid] = current
		if before, known := g.last[pid]; known {
			g.cpu += current.cpu - before.cpu
			// Threads that ended took their times with them.
			g.waiting += max(0, current.waiting-before.waiting)
			g.turns += max(0, current.turns-before.turns)
		}
	}
	for _, pid := range pids {
		if pid == 0 {
			continue
		}
		add(pid, false)
		if g.forks {
			for _, child := range children(pid) {
				add(child, true)
			}
		}
	}
	g.last = now
	g.processes = max(g.processes, len(now))
}

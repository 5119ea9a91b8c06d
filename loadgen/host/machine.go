// Package host watches the machine and the processes of a run: what broker and client take, and what else happened, so
// that times are not blamed on a broker when the machine was to blame.
package host

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/result"
)

// Machine describes where this process runs; what cannot be read stays empty.
func Machine() result.Machine {
	var uname unix.Utsname
	_ = unix.Uname(&uname)
	memory, _ := readMemory()
	return result.Machine{
		CPU:    cpuModel(),
		Cores:  cores(),
		Memory: uint64(memory.total),
		Kernel: unix.ByteSliceToString(uname.Sysname[:]) + " " + unix.ByteSliceToString(uname.Release[:]),
	}
}

func cpuModel() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// cores are the machine's, not this process' share of them: idle time and others' use are the machine's as well.
func cores() int {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	count := 0
	for line := range bytes.Lines(data) {
		if len(line) > 3 && bytes.HasPrefix(line, []byte("cpu")) && line[3] != ' ' {
			count++
		}
	}
	return count
}

// memory is the machine's, in bytes.
type memory struct{ total, used int64 }

// readMemory counts as vmstat does: used is what is neither free nor buffer nor cache (reclaimable slabs are cache).
func readMemory() (memory, error) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return memory{}, err
	}
	kilobytes := map[string]int64{}
	for line := range bytes.Lines(data) {
		name, rest, _ := bytes.Cut(line, []byte(":"))
		if fields := bytes.Fields(rest); len(fields) > 0 {
			kilobytes[string(name)], _ = strconv.ParseInt(string(fields[0]), 10, 64)
		}
	}
	used := kilobytes["MemTotal"] - kilobytes["MemFree"] - kilobytes["Buffers"] - kilobytes["Cached"] - kilobytes["SReclaimable"]
	return memory{total: kilobytes["MemTotal"] * 1024, used: used * 1024}, nil
}

// cpuTimes are shares of all cores' time since the machine started, in ticks.
type cpuTimes struct {
	processes int64 // user, nice and system: what processes are charged for
	idle      int64 // with waiting for disks, as vmstat's id and wa
	steal     int64
	total     int64
}

func readCPU() (cpuTimes, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpuTimes{}, err
	}
	return parseCPU(data), nil
}

// parseCPU reads the first line: cpu user nice system idle iowait irq softirq steal (guest times are within user).
func parseCPU(stat []byte) cpuTimes {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	var ticks [8]int64
	for i, field := range bytes.Fields(line) {
		if i > 0 && i <= len(ticks) {
			ticks[i-1], _ = strconv.ParseInt(string(field), 10, 64)
		}
	}
	t := cpuTimes{processes: ticks[0] + ticks[1] + ticks[2], idle: ticks[3] + ticks[4], steal: ticks[7]}
	for _, tick := range ticks {
		t.total += tick
	}
	return t
}

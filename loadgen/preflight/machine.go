package preflight

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Machine is what a fleet may use.
type Machine struct {
	Descriptors int   // of one process
	Files       int   // of all processes, not yet open
	Ports       int   // of one source address to one address and port of a server
	Sources     int   // source addresses for brokers elsewhere; 0: the one that the kernel chooses
	Memory      int64 // bytes
	Tracked     int   // connections that the kernel's connection tracking has room for; math.MaxInt where it tracks none
}

// Read reads the limits of this machine and of this process, which its children inherit.
func Read() (Machine, error) {
	var m Machine
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return m, fmt.Errorf("reading the limit of descriptors: %w", err)
	}
	m.Descriptors = int(min(limit.Max, math.MaxInt32)) // Go and Java both raise their own limit up to this one
	open, err := numbers("/proc/sys/fs/file-nr", 3)    // open, unused, the most
	if err != nil {
		return m, err
	}
	m.Files = open[2] - open[0]
	ports, err := numbers("/proc/sys/net/ipv4/ip_local_port_range", 2)
	if err != nil {
		return m, err
	}
	m.Ports = ports[1] - ports[0] + 1 - reserved(ports[0], ports[1], "/proc/sys/net/ipv4/ip_local_reserved_ports")
	m.Tracked = tracked()
	m.Memory, err = available()
	return m, err
}

// reserved is how many ports of a range the kernel gives to nobody. The file has a list such as "8080,9148-9150".
func reserved(from, to int, file string) (count int) {
	list, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(list)), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		low, lowErr := strconv.Atoi(first)
		high, highErr := strconv.Atoi(last)
		if lowErr == nil && highErr == nil {
			count += max(0, min(high, to)-max(low, from)+1)
		}
	}
	return count
}

// tracked is the room in nf_conntrack's table, in which a firewall's rules, or a container engine's, have the kernel enter every
// connection, those of the loopback included. A kernel without such rules has no such files, or counts none.
func tracked() int {
	entered, err := numbers("/proc/sys/net/netfilter/nf_conntrack_count", 1)
	if err != nil || entered[0] == 0 {
		return math.MaxInt
	}
	most, err := numbers("/proc/sys/net/netfilter/nf_conntrack_max", 1)
	if err != nil {
		return math.MaxInt
	}
	return max(0, most[0]-entered[0])
}

// numbers reads a file of the kernel that holds so many numbers. A number that does not fit means "no limit".
func numbers(file string, count int) ([]int, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the machine's limits: %w", err)
	}
	fields := strings.Fields(string(content))
	if len(fields) < count {
		return nil, fmt.Errorf("reading %s: %d numbers, not %d", file, len(fields), count)
	}
	found := make([]int, count)
	for i := range found {
		if found[i], err = strconv.Atoi(fields[i]); err != nil {
			found[i] = math.MaxInt
		}
	}
	return found, nil
}

// available is the kernel's own estimate of what new processes can have without swapping, or what the control groups
// leave where that is less.
func available() (int64, error) {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("reading the machine's memory: %w", err)
	}
	defer file.Close()
	memory := int64(-1)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var kilobytes int64
		if _, err := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kilobytes); err == nil {
			memory = kilobytes << 10
		}
	}
	if memory < 0 {
		return 0, fmt.Errorf("reading the machine's memory: /proc/meminfo has no line MemAvailable")
	}
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return memory, nil // a kernel without control groups
	}
	return min(memory, leftByGroups("/sys/fs/cgroup", string(membership))), nil
}

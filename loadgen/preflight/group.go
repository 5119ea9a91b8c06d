package preflight

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// leftByGroups is the memory that control groups (version 2) leave to the process that membership, its /proc/self/cgroup, is
// of: the group itself and all above it may have a limit. root is where groups are mounted.
func leftByGroups(root string, membership string) int64 {
	left := int64(math.MaxInt64)
	for line := range strings.Lines(membership) {
		path, is := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !is {
			continue
		}
		for group := filepath.Join("/", path); ; group = filepath.Dir(group) {
			left = min(left, leftByGroup(filepath.Join(root, group)))
			if group == "/" {
				break
			}
		}
	}
	return left
}

// leftByGroup is the most that there is for a group without a limit, and for a folder that is none.
func leftByGroup(folder string) int64 {
	most, err := numbers(filepath.Join(folder, "memory.max"), 1)
	if err != nil || most[0] == math.MaxInt {
		return math.MaxInt64
	}
	used, err := numbers(filepath.Join(folder, "memory.current"), 1)
	if err != nil {
		return math.MaxInt64
	}
	return int64(most[0]-used[0]) + cache(folder)
}

// cache is what a group holds of files on disks, which the kernel gives up before it refuses memory. After a build that is most
// of what a container uses.
func cache(folder string) int64 {
	file, err := os.Open(filepath.Join(folder, "memory.stat"))
	if err != nil {
		return 0
	}
	defer file.Close()
	var all int64
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var name string
		var bytes int64
		if _, err := fmt.Sscan(lines.Text(), &name, &bytes); err == nil && (name == "active_file" || name == "inactive_file") {
			all += bytes
		}
	}
	return all
}

package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// network is hosts in network namespaces of their own, on one bridge, which is in a namespace, too: nothing of it is seen outside.
type network struct {
	t    *testing.T
	name string // of its namespaces the beginning
}

// newNetwork makes hosts with these addresses each, and removes them when the test ends.
func newNetwork(t *testing.T, hosts map[string][]string) network {
	t.Helper()
	sweep()
	n := network{t: t, name: fmt.Sprintf("fleet-%d-%s", os.Getpid(), strings.ToLower(rand.Text()[:8]))}
	n.add("hub")
	n.must("-n", n.space("hub"), "link", "add", "bridge", "type", "bridge")
	n.must("-n", n.space("hub"), "link", "set", "bridge", "up")
	for host, addresses := range hosts {
		n.add(host)
		n.must("-n", n.space("hub"), "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", n.space(host))
		n.must("-n", n.space("hub"), "link", "set", host, "master", "bridge", "up")
		n.must("-n", n.space(host), "link", "set", "lo", "up")
		n.must("-n", n.space(host), "link", "set", "eth0", "up")
		for _, address := range addresses {
			n.must("-n", n.space(host), "address", "add", address+"/24", "dev", "eth0")
		}
	}
	return n
}

// sweep removes the namespaces of tests that were killed. Their processes ended with them.
func sweep() {
	names, _ := os.ReadDir("/run/netns")
	for _, name := range names {
		var owner int
		if _, err := fmt.Sscanf(name.Name(), "fleet-%d-", &owner); err == nil && syscall.Kill(owner, 0) == syscall.ESRCH {
			_ = exec.Command("ip", "netns", "delete", name.Name()).Run()
		}
	}
}

func (n network) space(host string) string { return n.name + "-" + host }

// add makes a namespace, or skips the test where that is forbidden.
func (n network) add(host string) {
	n.t.Helper()
	if text, err := exec.Command("ip", "netns", "add", n.space(host)).CombinedOutput(); err != nil {
		n.t.Skipf("network namespaces cannot be made here (%v: %s)", err, bytes.TrimSpace(text))
	}
	n.t.Cleanup(func() {
		if text, err := exec.Command("ip", "netns", "delete", n.space(host)).CombinedOutput(); err != nil {
			n.t.Errorf("a network namespace is left: %v: %s", err, text)
		}
	})
}

func (n network) must(arguments ...string) {
	n.t.Helper()
	if text, err := exec.Command("ip", arguments...).CombinedOutput(); err != nil {
		n.t.Fatalf("ip %q: %v: %s", arguments, err, text)
	}
}

// unplug cuts a host off.
func (n network) unplug(host string) { n.must("-n", n.space("hub"), "link", "set", host, "down") }

// on makes a command run on a host. Where ahead is not 0, its CLOCK_MONOTONIC is so many seconds ahead of the others'.
func (n network) on(host string, ahead int, command *exec.Cmd) {
	before := []string{"ip", "netns", "exec", n.space(host)}
	if ahead != 0 {
		before = append(before, "unshare", "--time", "--fork", "--kill-child", "--monotonic", fmt.Sprint(ahead))
	}
	command.Args = append(before, command.Args...)
	path, err := exec.LookPath(command.Args[0])
	if err != nil {
		n.t.Fatal(err)
	}
	command.Path = path
}

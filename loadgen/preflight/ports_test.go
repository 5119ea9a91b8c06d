package preflight

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReservedPortsOfTheRangeAreNotCounted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ip_local_reserved_ports")
	if count := reserved(1000, 2000, file); count != 0 {
		t.Errorf("%d of a kernel without the list", count)
	}
	for list, want := range map[string]int{"\n": 0, "1500\n": 1, "8080,1998-9150,1000\n": 4, "1-999,2001\n": 0} {
		if err := os.WriteFile(file, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		if count := reserved(1000, 2000, file); count != want {
			t.Errorf("%d of %q, not %d", count, list, want)
		}
	}
}

package preflight

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// group writes a control group's files as the kernel shows them.
func group(t *testing.T, folder, most, used, stat string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"memory.max": most, "memory.current": used, "memory.stat": stat} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheTightestGroupLimitsMemoryAndItsFilesDoNotCount(t *testing.T) {
	root := t.TempDir()
	group(t, filepath.Join(root, "slice"), "1000", "900", "anon 400\nfile 500\nactive_file 200\ninactive_file 250")
	group(t, filepath.Join(root, "slice", "roomy"), "5000", "100", "active_file 0\ninactive_file 0")
	group(t, filepath.Join(root, "slice", "tight"), "300", "100", "active_file 1\ninactive_file 2")
	group(t, filepath.Join(root, "free"), "max", "100", "")
	for membership, want := range map[string]int64{
		"0::/slice":                          550,
		"0::/slice/roomy":                    550,
		"4:memory:/slice\n0::/slice/tight\n": 203,
		"0::/free":                           math.MaxInt64,
		"0::/":                               math.MaxInt64,
		"0::/gone":                           math.MaxInt64,
		"4:memory:/slice\n":                  math.MaxInt64,
	} {
		if left := leftByGroups(root, membership); left != want {
			t.Errorf("%q: %d bytes are left, want %d", membership, left, want)
		}
	}
}

package cli

import (
	"flag"
	"io"
	"os"
	"strings"
	"testing"
)

func TestAnUnknownOptionIsNamedAsTheUserWroteIt(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = write
	_, parsed := Parse(flag.NewFlagSet("lifeline dev", flag.ContinueOnError), []string{"--bogus"})
	os.Stderr = before
	write.Close()
	said, _ := io.ReadAll(read)
	if parsed != ErrUsage || !strings.HasPrefix(string(said), "lifeline dev: unknown option --bogus; ") {
		t.Errorf("%v: %q", parsed, said)
	}
}

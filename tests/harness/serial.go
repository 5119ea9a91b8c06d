package harness

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// SerialThreads is how many threads a SerialEmitter has.
const SerialThreads = 2

// SerialEmitter is a process that emits numbered events and notes its progress where it survives its death.
type SerialEmitter struct {
	*Process
	Run  int
	side string
}

// StartSerialEmitter starts one; rate 0 is as fast as it goes.
func StartSerialEmitter(t T, settings []string, directory string, run, events, rate int) *SerialEmitter {
	t.Helper()
	return StartSerialEmitterOf(t, Program(t, "serial-emitter"), settings, directory, run, events, rate)
}

// StartSerialEmitterOf starts one of another build. Each of its batches says in the context which run it is of.
func StartSerialEmitterOf(t T, program string, settings []string, directory string, run, events, rate int) *SerialEmitter {
	t.Helper()
	side := filepath.Join(directory, "side-"+strconv.Itoa(run))
	settings = append(slices.Clone(settings), "LIFELINE_CONTEXT=run="+strconv.Itoa(run))
	process := Start(t, settings, program, "--side", side, "--run", strconv.Itoa(run),
		"--threads", strconv.Itoa(SerialThreads), "--events", strconv.Itoa(events), "--rate", strconv.Itoa(rate))
	return &SerialEmitter{process, run, side}
}

// Returned is, for each thread, how many of its emits have returned. One more may have been published.
func (e *SerialEmitter) Returned(t T) [SerialThreads]int64 {
	t.Helper()
	const cacheLine = 64
	var counts [SerialThreads]int64
	data, err := os.ReadFile(e.side)
	if os.IsNotExist(err) {
		return counts // it died before its first step
	}
	if err != nil || (len(data) != 0 && len(data) != SerialThreads*cacheLine) {
		t.Fatalf("bad side file %s of %d bytes: %v", e.side, len(data), err)
	}
	for i := 0; i*cacheLine < len(data); i++ {
		counts[i] = int64(binary.LittleEndian.Uint64(data[i*cacheLine:]))
	}
	return counts
}

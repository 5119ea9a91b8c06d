// Command lifeline-bench-decode-go measures how fast batches are read on one core through the public API.
package main

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	llb "lifeline/schemas/go"
	"lifeline/schemas/go/internal/sample"
)

const usage = `Usage: lifeline-bench-decode-go [--json] [--rounds N] [--seconds S]

Reads batches of 64 KiB on one core: every batch is checked anew, every field and the converted time of every event
consumed. The floor, in the same run, sums the same bytes as 64-bit words. Prints events per second, the median of N
rounds (11) that take S seconds (1) together per case.

  --json  one row of JSON per case

Examples:
  lifeline-bench-decode-go
  lifeline-bench-decode-go --json --rounds 5 --seconds 0.5 | jq .per_s_median
`

// A row is one case's result.
type row struct {
	Name           string  `json:"name"`
	PerSMedian     float64 `json:"per_s_median"`
	PerSMin        float64 `json:"per_s_min"`
	PerSMax        float64 `json:"per_s_max"`
	Rounds         int     `json:"rounds"`
	EventsPerBatch uint64  `json:"events_per_batch"`
	BytesPerBatch  int     `json:"bytes_per_batch"`
}

// A pass reads a batch once.
type pass func(*sample.Sums, []byte) error

func main() {
	asJSON := flag.Bool("json", false, "")
	rounds := flag.Int("rounds", 11, "")
	seconds := flag.Float64("seconds", 1, "")
	help := flag.Bool("help", false, "")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "lifeline-bench-decode-go: wrong usage (try --help)") }
	flag.Parse()
	if *help {
		fmt.Print(usage)
		return
	}
	if flag.NArg() > 0 || *rounds < 1 || *seconds <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*asJSON, *rounds, time.Duration(*seconds*float64(time.Second))); err != nil {
		fmt.Fprintln(os.Stderr, "lifeline-bench-decode-go:", err)
		os.Exit(1)
	}
}

func run(asJSON bool, rounds int, budget time.Duration) error {
	cases := []struct {
		name  string
		batch func() ([]byte, error)
		pass  pass
	}{
		{"floor-sum-of-longs", table1(llb.Header{}), sumOfLongs},
		{"table1-by-event", table1(llb.Header{}), decode((*sample.Sums).ConsumeTable1)},
		{"table1-big-endian-by-event", table1(llb.Header{BigEndian: true}), decode((*sample.Sums).ConsumeTable1)},
		{"table1-lz4-shuffled-by-event", table1(llb.Header{Compression: llb.LZ4, Shuffle: 16}),
			decode((*sample.Sums).ConsumeTable1)},
		{"table1-lz4-ticks-by-event", table1(llb.Header{Compression: llb.LZ4, Shuffle: 16 | llb.TickDifferences}),
			decode((*sample.Sums).ConsumeTable1)},
		{"mixed-by-event", sample.Mixed, decode((*sample.Sums).ConsumeMixed)},
	}
	for _, c := range cases {
		batch, err := c.batch()
		if err != nil {
			return err
		}
		result, err := measure(batch, c.pass, rounds, budget)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		result.Name = c.name
		if !asJSON {
			fmt.Printf("%-30s %7.1f M events/s  %6.2f ns/event\n", c.name, result.PerSMedian/1e6, 1e9/result.PerSMedian)
		} else if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
			return err
		}
	}
	return nil
}

func table1(storage llb.Header) func() ([]byte, error) {
	return func() ([]byte, error) { return sample.Table1(storage) }
}

func decode(consume func(*sample.Sums, *llb.Reader)) pass {
	reader := new(llb.Reader)
	return func(sums *sample.Sums, batch []byte) error {
		if err := reader.Read(batch); err != nil {
			return err
		}
		consume(sums, reader)
		return nil
	}
}

// sumOfLongs is the lower bound for any decoder: one load per 8 bytes.
func sumOfLongs(sums *sample.Sums, batch []byte) error {
	for at := 0; at+8 <= len(batch); at += 8 {
		sums.Integers += binary.LittleEndian.Uint64(batch[at:])
	}
	return nil
}

func measure(batch []byte, once pass, rounds int, budget time.Duration) (row, error) {
	var reader llb.Reader
	if err := reader.Read(batch); err != nil {
		return row{}, err
	}
	events := uint64(reader.Header().EventCount)

	var expected sample.Sums
	if err := once(&expected, batch); err != nil {
		return row{}, err
	}
	perRound := budget / time.Duration(rounds)
	rates := make([]float64, rounds)
	for round := -1; round < rounds; round++ { // the first one warms up
		var sums sample.Sums
		start := time.Now()
		passes := uint64(0)
		for ; passes == 0 || time.Since(start) < perRound; passes++ {
			if err := once(&sums, batch); err != nil {
				return row{}, err
			}
		}
		elapsed := time.Since(start)
		if sums.Integers != passes*expected.Integers || sums.Events != passes*expected.Events {
			return row{}, fmt.Errorf("%d passes over one batch did not read the same each time", passes)
		}
		if round >= 0 {
			rates[round] = float64(passes*events) / elapsed.Seconds()
		}
	}
	slices.Sort(rates)
	return row{
		PerSMedian:     rates[rounds/2],
		PerSMin:        rates[0],
		PerSMax:        rates[rounds-1],
		Rounds:         rounds,
		EventsPerBatch: events,
		BytesPerBatch:  len(batch),
	}, nil
}

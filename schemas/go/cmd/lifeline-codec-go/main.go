// Command lifeline-codec-go turns batches into their JSON meaning and back, for schemas/vectors/run.py and people.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	llb "lifeline/schemas/go"
	"lifeline/schemas/go/internal/meaning"
)

const usage = `Usage: lifeline-codec-go decode|encode [--stream]

  decode   reads a batch on stdin, writes its JSON meaning on stdout
  encode   reads a JSON meaning on stdin, writes the batch on stdout; compression, shuffle and byte order are
           what the JSON says

  --stream  many at once. decode: stdin is {u32 length, little-endian; batch}..., stdout one line per batch, its
            meaning or {"rejected":CODE,"offset":N,"message":TEXT}. encode: stdin is one meaning per line, stdout
            {u32 length; batch}..., length 0 for a refusal, which stderr explains.

Exit status: 0; 1 for a rejected batch or a meaning that is none; 2 for a wrong command line.

Example: lifeline-codec-go decode < schemas/vectors/valid/table1.llb
`

const (
	exitRejected = 1
	exitUsage    = 2
)

// maxMessage limits the allocation that a wrong length prefix can cause.
const maxMessage = 64 << 20

func main() {
	verb, stream := "", false
	for _, argument := range os.Args[1:] {
		switch {
		case argument == "--help" || argument == "-h":
			fmt.Print(usage)
			return
		case argument == "--stream":
			stream = true
		case verb == "" && (argument == "decode" || argument == "encode"):
			verb = argument
		default:
			fmt.Fprintf(os.Stderr, "lifeline-codec-go: unexpected argument %q (try --help)\n", argument)
			os.Exit(exitUsage)
		}
	}
	run := map[string]func(io.Reader, io.Writer) error{
		"decode": decode, "decode --stream": decodeStream, "encode": encode, "encode --stream": encodeStream,
	}
	if stream {
		verb += " --stream"
	}
	if run[verb] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(exitUsage)
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	err := run[verb](bufio.NewReaderSize(os.Stdin, 1<<16), out)
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitRejected)
	}
}

func decode(in io.Reader, out io.Writer) error {
	batch, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	return writeMeaning(new(llb.Reader), batch, out)
}

func writeMeaning(r *llb.Reader, batch []byte, out io.Writer) error {
	if err := r.Read(batch); err != nil {
		return err
	}
	return writeJSON(out, meaning.Decode(r))
}

func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

func decodeStream(in io.Reader, out io.Writer) error {
	reader := new(llb.Reader)
	for {
		var length uint32
		if err := binary.Read(in, binary.LittleEndian, &length); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a length: %w", err)
		}
		if length > maxMessage {
			return fmt.Errorf("a message of %d bytes is longer than %d", length, maxMessage)
		}
		batch := make([]byte, length)
		if _, err := io.ReadFull(in, batch); err != nil {
			return fmt.Errorf("reading a message of %d bytes: %w", length, err)
		}
		err := writeMeaning(reader, batch, out)
		var rejection *llb.Rejection
		if errors.As(err, &rejection) {
			err = writeJSON(out, struct {
				Rejected llb.Code `json:"rejected"`
				Offset   int      `json:"offset"`
				Message  string   `json:"message"`
			}{rejection.Code, rejection.Offset, rejection.Message})
		}
		if err != nil {
			return err
		}
	}
}

func encode(in io.Reader, out io.Writer) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	batch, err := fromJSON(text)
	if err != nil {
		return err
	}
	_, err = out.Write(batch)
	return err
}

func fromJSON(text []byte) ([]byte, error) {
	batch, err := meaning.Parse(text)
	if err != nil {
		return nil, err
	}
	return meaning.Encode(batch)
}

func encodeStream(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxMessage)
	for lines.Scan() {
		batch, err := fromJSON(lines.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		if err := binary.Write(out, binary.LittleEndian, uint32(len(batch))); err != nil {
			return err
		}
		if _, err := out.Write(batch); err != nil {
			return err
		}
	}
	return lines.Err()
}

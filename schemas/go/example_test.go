package llb_test

import (
	"fmt"
	"log"
	"os"

	llb "lifeline/schemas/go"
)

func ExampleReader() {
	message, err := os.ReadFile("../vectors/valid/table1.llb")
	if err != nil {
		log.Fatal(err)
	}
	var reader llb.Reader
	if err := reader.Read(message); err != nil {
		log.Fatal(err) // a *llb.Rejection: code, offset and message, never the bytes
	}
	for reader.Next() {
		fmt.Println(reader.TimeNs(), reader.Type().Name, reader.Int32(0), reader.Float32(1))
	}
	// Output:
	// 1049155200501481481 MY_EVENT 1 0.5
	// 1049155200501482481 MY_EVENT -2 3.25
}

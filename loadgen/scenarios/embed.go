// Package scenarios holds the scenario files that come with the program: `fleet run demo` runs demo.yaml.
package scenarios

import "embed"

// Files are all of them.
//
//go:embed *.yaml
var Files embed.FS

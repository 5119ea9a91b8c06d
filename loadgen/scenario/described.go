package scenario

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lifeline/loadgen/transport/kind"
)

//go:embed schema.json
var schemaText string

// Schema is the JSON schema of scenario files, for editors. Load checks files against the same text, so that the two cannot
// disagree. What it says of transports comes from their kinds.
var Schema = sync.OnceValue(func() []byte {
	var transports, acknowledgements, offers, clusters, patterns []string
	for _, k := range kind.All() {
		transports = append(transports, k.Name)
		acknowledgements = append(acknowledgements, k.Acknowledgements...)
		offers = append(offers, k.Name+": "+strings.Join(k.Acknowledgements, ", "))
		if k.Broker != nil {
			clusters = append(clusters, k.Name+": "+sizes(k.Nodes))
		}
	}
	slices.Sort(acknowledgements)
	for _, s := range kind.Schemes() {
		patterns = append(patterns, pattern(s))
	}
	list := func(words []string) string { return `["` + strings.Join(words, `", "`) + `"]` }
	return []byte(strings.NewReplacer(
		`["TRANSPORTS"]`, list(transports),
		`["ACKNOWLEDGEMENTS"]`, list(slices.Compact(acknowledgements)),
		"OFFERS", strings.Join(offers, "; "),
		"CLUSTERS", strings.Join(clusters, "; "),
		"URLS", prefixes(kind.Schemes())+"; with TLS "+secured(),
		"PATTERN", "^("+strings.Join(patterns, "|")+")$",
	).Replace(schemaText))
})

// pattern of the URLs of a scheme, without quotes and backslashes.
func pattern(s kind.Scheme) string {
	path, query := "/?", ""
	if s.Path {
		path = "(/[A-Za-z0-9_]*)?"
	}
	if s.Asks {
		query = "([?]tls=true)?"
	}
	return s.Name + "://[^/,?]+(,[^/,?]+)*" + path + query
}

// prefixes are the beginnings of such URLs.
func prefixes(schemes []kind.Scheme) string {
	words := make([]string, len(schemes))
	for i, s := range schemes {
		words[i] = s.Name + "://"
	}
	return kind.Either(words)
}

// secured are the URLs with TLS.
func secured() string {
	var words []string
	for _, s := range kind.Schemes() {
		switch {
		case s.TLS:
			words = append(words, s.Name+"://")
		case s.Asks:
			words = append(words, fmt.Sprintf("%s://HOST:PORT/?tls=true", s.Name))
		}
	}
	return kind.Either(words)
}

// sizes of a cluster, in ascending order.
func sizes(nodes []int) string {
	if last := len(nodes) - 1; last > 0 && nodes[last]-nodes[0] == last {
		return fmt.Sprintf("%d to %d", nodes[0], nodes[last])
	}
	words := make([]string, len(nodes))
	for i, n := range nodes {
		words[i] = strconv.Itoa(n)
	}
	return kind.Either(words)
}

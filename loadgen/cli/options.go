// Package cli is what programs with the fleet's command line share: commands, options, exit codes.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// Options makes the options of a command, such as "fleet run", whose help is usage and then the options.
func Options(name, usage string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.Usage = func() {
		fmt.Fprint(os.Stdout, usage, "Options:\n")
		set.VisitAll(func(option *flag.Flag) {
			argument, text := flag.UnquoteUsage(option)
			switch option.DefValue {
			case "", "false", "0", "0s":
			default:
				text += " (default " + option.DefValue + ")"
			}
			fmt.Fprintf(os.Stdout, "  %-28s %s\n", strings.TrimSpace("--"+option.Name+" "+argument), text)
		})
	}
	return set
}

// Parse takes options before, between and behind the other arguments, which it returns. What was wrong has been printed when
// it returns ErrUsage; help goes to standard output, and is flag.ErrHelp.
func Parse(set *flag.FlagSet, arguments []string) (rest []string, err error) {
	help := set.Usage
	defer func() { set.Usage = help }()
	set.Usage = func() {} // or each mistake is followed by the whole help
	set.SetOutput(io.Discard)
	for {
		switch err := set.Parse(arguments); {
		case errors.Is(err, flag.ErrHelp):
			help()
			return nil, err
		case err != nil:
			complaint := strings.Replace(err.Error(), ": -", ": --", 1) // as the help writes them
			return nil, Misused(set, strings.Replace(complaint, "flag provided but not defined: ", "unknown option ", 1))
		case set.NArg() == 0:
			return rest, nil
		}
		rest = append(rest, set.Arg(0))
		arguments = set.Args()[1:]
	}
}

// Given reports whether the command line held an option.
func Given(set *flag.FlagSet, name string) (found bool) {
	set.Visit(func(option *flag.Flag) { found = found || option.Name == name })
	return found
}

// Misused reports invalid arguments of a command.
func Misused(set *flag.FlagSet, complaint string) error {
	fmt.Fprintf(os.Stderr, "%s: %s; `%s --help` lists the options\n", set.Name(), complaint, set.Name())
	return ErrUsage
}

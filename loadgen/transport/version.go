package transport

import "runtime/debug"

// Version is that of a module that this program was built with, for Traits.Client.
func Version(module string) string {
	if build, found := debug.ReadBuildInfo(); found {
		for _, dependency := range build.Deps {
			if dependency.Path == module {
				return dependency.Version
			}
		}
	}
	return "(unknown version)"
}

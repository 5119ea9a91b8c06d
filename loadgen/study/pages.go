package study

// WritePages writes pages and pictures from the files of the points.
func WritePages(out string) error { return nil }

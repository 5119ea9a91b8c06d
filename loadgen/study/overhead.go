package study

func overheadRow(p *page)          {}
func storedQueries(p *page)        {}
func derivedStreams(p *page) error { return nil }

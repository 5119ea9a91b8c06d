module lifeline/loadgen

go 1.26.0

require golang.org/x/sys v0.49.0

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	lifeline/schemas/go v0.0.0
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
)

replace lifeline/schemas/go => ../schemas/go

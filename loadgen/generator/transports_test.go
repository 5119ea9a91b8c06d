package generator

import _ "lifeline/loadgen/transports" // registers what scenarios may name

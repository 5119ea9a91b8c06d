package scenario_test

import _ "lifeline/loadgen/transports" // registers what scenarios may name

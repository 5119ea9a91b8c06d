module lifeline/tests

go 1.25

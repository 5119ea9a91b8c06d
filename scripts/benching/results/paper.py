"""What the papers measured. NetLogger: D. Gunter, B. Tierney and others, Dynamic Monitoring of High-Performance Distributed
Applications, HPDC 2002."""

TABLE_1_MACHINE = "a 750 MHz Pentium III, Linux 2.4.16, Java 1.3.1 (2002)"
TABLE_1 = [  # language, test, events per second
    ("C", "NetLogger (binary)", 615_000), ("C", "PBIO (binary)", 415_000), ("C", "NetLogger (ascii)", 175_000),
    ("C", "SDDF (binary)", 153_000), ("C", "NetLogger (xml)", 150_000), ("Java", "NetLogger (binary)", 122_000),
    ("Java", "NetLogger (ascii)", 97_000), ("Java", "NetLogger (xml)", 81_000), ("Java", "log4j (ascii)", 26_000),
]

TABLE_2_MACHINE = "a Sun E4500 with 8 processors, Solaris (2002)"
TABLE_2 = [(1, 384_000), (5, 1_520_000), (8, 2_440_000)]  # threads, events per second of all

UNWATCHED, WATCHED = 615_000, 583_000  # events per second, without and with a watched trigger file
REPARSE_50_US = 140
FILTER_US = 1

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

TABLE_3_MACHINE = "GridFTP on a Sun E4500 with 8 processors, Solaris, files of 200 MB from memory, clients on Fast Ethernet (2002)"
TABLE_3_BYTES = 200e6
# clients, NetLogger or not -> CPU seconds per transfer, Mb/s of all clients, and their changes as the paper states them (in per cent)
TABLE_3 = [(1, "without", 4.2, 73, None, None), (1, "un-activated", 4.4, 73, "5", "<1"), (1, "NetLogger", 4.5, 72, "7", "1"),
           (5, "without", 5.5, 361, None, None), (5, "NetLogger", 5.8, 363, "5", "<1"),
           (20, "without", 6.3, 441, None, None), (20, "NetLogger", 6.7, 409, "6", "7")]

# E. Kissel and others, Scalable Integrated Performance Analysis of Multi-Gigabit Networks, 2012, section IV.A
CALIPER_NS = {"host A": 83, "host B": 120, "both": 103}
CALIPER_MACHINE = "six-core Intel Core i7 980X at 3.33 GHz (2012)"

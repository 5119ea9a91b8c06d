package paper

// warmUp is the loss at the start, section F.1.
var warmUp = []Fact{
	{"Section III.F.1", "III.F.1", "Threads that do not wait for 5 to 10 s before they publish will probably lose data, since it takes the producer " +
		"some time to find the consumer.",
		[]string{"must wait for a short time (5 ~ 10 seconds) before publishing", "data will probably be lost", "took some time for the producer to look for the consumer"}},
	{"Section III.F.1", "III.F.1", "400 generators that did not wait for the server to \"warm up\" lost 0.17 %: 71,876 of 72,000 messages were received.",
		[]string{"tested 400 generators publishing data without waiting for the server to 'warm up'", "72,000 messages were sent and 71,876 messages were received",
			"loss rate was 0.17%"}},
	{"Section III.F.1", "V", "A resource that is not located within a time limit can lose data.",
		[]string{"not located within a predefined time limit then data loss can occur"}},
	{"Section III.F.1, loss", "III.F.1", "0.17 %", []string{"loss rate was 0.17%"}},
	{"Section III.F.1, sent", "III.F.1", "72,000", []string{"72,000 messages were sent"}},
}

// queries is section F with Figures 10 to 15.
var queries = []Fact{
	{"Figure 10", "III.F.1", "Primary and Secondary Producers, 50 to 200 connections, percentiles of RTT: delays were up to 35 s.",
		[]string{"R-GMA Primary and Secondary Producer tests", "50 ~ 200 concurrent connections", "delays were up to 35 seconds"}},
	{"Figure 10", "III.F.3", "Earlier tests of others, which found high performance, used another version (Stream Producer and Archiver).",
		[]string{"achieved high performance with R-GMA", "tested an old API of R-GMA (Stream Producer and Archiver)"}},
	{"Figure 10", "III.F.3", "The Secondary Producer had a deliberate delay of 30 s.", []string{"deliberate delay of 30 seconds in the Secondary Producer"}},
	{"Figure 11", "III.F", "A generator was created every second, waited for 10 to 20 s, and published every 10 s.",
		[]string{"terval of 1 second", "random time between 10 to 20 seconds", "monitoring data into a table at the interval of 10 seconds"}},
	{"Figure 11", "III.F.1", "Messages travelled over HTTP; HTTPS was left out because of the cost of encryption.",
		[]string{"two underlying application layer protocols for message transfer: HTTP and HTTPS", "did not use HTTPS because of the encryption overhead"}},
	{"Figure 11", "III.F", "A subscriber could not be notified; it asked the Consumer every 100 ms, \"therefore there was a 100 millisecond error\".",
		[]string{"could not be automatically notified by the Consumer", "queried the Consumer at the interval of 100 milliseconds",
			"Therefore there was a 100 millisecond error"}},
	{"Figure 11", "III.F.1", "RTT and STDDEV are of one server, RTT2 and STDDEV2 of the distributed network, on axes to 2,000 ms and 1,000 " +
		"connections. Both were higher than NaradaBrokering's; nothing was lost.",
		[]string{"RTT and STDDEV are tests on single server", "RTT2 and STDDEV2 are distributed network tests", "2000 1800 1600", "0 200 400 600 800 1000",
			"standard deviation were higher than those of Narada tests", "loss rates were zero for all tests"}},
	{"Figure 11", "III.F.1", "The network had two Producer nodes and two Consumer nodes; two other nodes published and two received, with clocks " +
		"synchronised by NTP. It performed better than one server.",
		[]string{"two Producer nodes and two Consumer nodes", "two nodes published data and two received data", "synchronized by NTP",
			"distributed architecture performs better than a single server"}},
	{"Figure 12", "III.F.1", "Curves of 100 to 600 connections on one server; 99 % of messages arrived within 4,000 ms.",
		[]string{"100 ~ 600 concurrent connections", "99% of messages arrived within 4000 milliseconds"}},
	{"Figure 12", "III.F.1", "One server \"cannot accept 800\" connections: no memory for threads.",
		[]string{"one R-GMA server cannot accept 800 concurrent connections", "ran out of memory to create new threads to serve incoming connections"}},
	{"Figure 12", "III.F.3", "The summary says that one Producer took not more than 500, against the figure's own curve of 600.",
		[]string{"could not accept more than 500 concurrent connections", "100 ~ 600 concurrent connections"}},
	{"Figure 13", "III.F.1", "CPU and MEM are of one server, CPU2 and MEM2 of the distributed network, whose CPU load was lower: \"R-GMA scales very well\".",
		[]string{"CPU and MEM are tests on single server", "CPU2 and MEM2 are distributed network tests",
			"CPU load of a distributed architecture is lower than a single server", "R-GMA scales very well"}},
	{"Figure 14", "III.F.1", "Curves of 400 to 1,000 connections on the distributed network, which took 1,000 \"and could be even more\".",
		[]string{"400 ~ 1000 concurrent connections", "can accept up to 1000 concurrent connections (and could be even more)"}},
	{"Figure 15", "III.F.2", "RTT = PRT + PT + SRT: before_sending to after_sending, to before_receiving, to after_receiving.",
		[]string{"RTT = PRT + PT + SRT", "before_sending ~ after_sending", "after_sending ~ before_receiving", "before_receiving ~ after_receiving"}},
	{"Figure 15", "III.F.2", "R-GMA's long delay occurred in the Primary Producer and the Consumer.",
		[]string{"long delay occurs in the Primary Producer and Consumer"}},
	{"Figure 15", "III.F.2", "R-GMA's PRT and SRT were short, and its PT was \"very long\"; NaradaBrokering's three were all very short.",
		[]string{"Publishing and Subscribing Response Time of R-GMA are short, but the Process Time is very long",
			"three phases of NaradaBrokering are very short"}},
	{"Latest and history", "III.F", "Primary Producers kept the latest value for 30 s and history for 1 minute.",
		[]string{"latest retention period was set to 30 seconds and history retention period was set to 1 minute"}},
	{"Latest and history", "V", "Latest and history queries are among R-GMA's advantages; they were not timed.", []string{"latest and history query, etc"}},
}

// conclusions are Table III, and what monitoring asks for.
var conclusions = []Fact{
	{"Table III", "V", "NaradaBrokering has very good real-time performance, high throughput and average scalability; R-GMA lower performance and very " +
		"good scalability, and is \"not suitable for real-time monitoring\".",
		[]string{"very good real-time performance, high throughput, and average scalability", "R-GMA is not suitable for real-time monitoring"}},
	{"Table III", "I", "Monitoring needs most data within a limit such as 5 s; fewer than 0.5 % may be late.",
		[]string{"within a time limit (e.g. 5 seconds)", "less than 0.5%"}},
	{"Table III, R-GMA", "Table III", "average; average; very good", []string{"R-GMA Average Average Very good"}},
	{"Table III, Narada", "Table III", "very good; very good; average", []string{"Narada Very good Very good Average"}},
}

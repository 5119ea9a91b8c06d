package paper

// environment is Table I and sections A to C.
var environment = []Fact{
	{"Table I", "III.A", "Eight identical nodes, on a switch of 100 Mbit/s that carried 7 to 8 MB/s.",
		[]string{"consists of 8 identical", "100Mbps switch", "7 ~ 8 Mbytes per second"}},
	{"Table I", "III.E, III.F", "The JVMs of NaradaBrokering and of R-GMA's server had 1 GB each, and Tomcat took up to 1,000 connections.",
		[]string{"allocated 1GB memory for Java Virtual Machine of NaradaBrokering", "concurrent connection of Tomcat was increased to 1000",
			"Java Virtual Machine was increased to 1GB"}},
	{"Table I, CPU", "Table I", "Pentium III, 866 MHz, 2 GB", []string{"PentiumIII", "866MHz, 2GB"}},
	{"Table I, system", "Table I", "Scientific Linux, kernel 2.4.21; Sun HotSpot JVM 1.4.2",
		[]string{"Sci Linux, kernel", "2.4.21, Sun Hotspot", "JVM 1.4.2"}},
	{"Table I, Narada", "Table I", "NaradaBrokering 1.1.3", []string{"v1.1.3, RGMA"}},
	{"Table I, R-GMA", "Table I", "R-GMA (gLite 3.0) on Tomcat 5.0.28", []string{"RGMA gLite", "v3.0, Tomcat v5.0.28"}},
	{"Section III.B", "III.B", "One computer simulated 750 generators, 75 messages and less than 50 kB per second, and its CPU was idle " +
		"for more than 85 % of the time.",
		[]string{"750 generators on one computer", "75 messages per second", "less than 50Kbytes per second", "above 85%"}},
	{"Section III.B", "III.B", "One test ran 1,000 generators on a computer.", []string{"1000 generators per computer in only one test"}},
	{"Payload", "III.E", "A message held 2 int, 5 float, 2 long, 3 double and 4 string values in a JMS MapMessage; the length of the " +
		"strings is not given.", []string{"Two integer, five float, two long, three double and four string values", "JMS MapMessage"}},
	{"Payload", "III.B", "At 75 messages per second a computer published less than 50 kB per second.",
		[]string{"75 messages per second", "less than 50Kbytes per second"}},
	{"Payload", "III.F", "R-GMA's messages were others: 4 int, 8 double and 4 char(20) values in an SQL statement.",
		[]string{"four integer, eight double and four char (length 20)", "wrapped in an SQL statement"}},
	{"Metrics", "III.C", "A round trip is the difference between sending and receiving time, CPU idle the average of vmstat's, and memory the " +
		"difference between its peak and its bottom, \"sometimes not very accurate\" because of the cache.",
		[]string{"difference between sending and receiving time", "average of CPU idle time", "difference between peak and bottom values",
			"sometimes not very accurate"}},
}

// comparison is Table II with Figures 3 and 4.
var comparison = []Fact{
	{"Table II", "III.E", "A generator was created every 0.5 s, slept for 10 to 20 s, and published every 10 s; a subscriber with a selector that " +
		"filtered nothing out took all.",
		[]string{"interval of 0.5 second", "random time between 10 to 20 seconds", "JMS topic at the interval of 10 seconds", "did not filter out any data"}},
	{"Table II", "III.E.1", "There were 800 generators; each test lasted 30 minutes and was performed twice.",
		[]string{"simulated 800 power generators", "lasted 30 minutes and was performed twice"}},
	{"Table II", "III.E.1", "All tests used AUTO_ACKNOWLEDGE except test 2, which used CLIENT_ACKNOWLEDGE.",
		[]string{"All tests used AUTO_ACKNOWLEDGE except test 2, which used CLIENT_ACKNOWLEDGE"}},
	{"Table II, test 1", "III.E.1", "0.06 % (143,914 of 144,000 arrived)",
		[]string{"144,000 messages were sent and 143,914 messages were received", "loss rate was 0.06%"}},
	{"Table II, test 2", "III.E.1", "0.03 %", []string{"test 2 (UDP CLI), the loss rate was 0.03%"}},
	{"Table II, other tests", "III.E.1", "none", []string{"For all other tests, the loss rate was zero"}},
	{"Figure 3", "III.E.1", "TCP was \"very stable\", and UDP's round trips were \"surprisingly high\", which the paper puts down to the " +
		"acknowledgement that JMS requires and to how NaradaBrokering does it.",
		[]string{"TCP is a very stable transport protocol", "results of UDP test are surprisingly high", "JMS requires an acknowledgement",
			"Narada acknowledges the messages severely slows"}},
	{"Figure 3", "III.E.1", "Test 5 (Triple) had triple payload at 1/3 of the rate and was slower: NaradaBrokering \"is good at small sized " +
		"messages\". Test 6 had 80 generators, 1/10, at 10 times the rate.",
		[]string{"Test 5 (Triple) used triple payload and the publishing rate was reduced to 1/3", "performance slowed down with large payload",
			"Narada is good at small sized messages", "Test 6 (80) used 80 generators (concurrent connections), which is 1/10", "publishing rate was increased 10 times"}},
	{"Figure 4", "III.E.1", "The figure has the percentiles of the same tests (the text calls it fig. 6).", []string{"percentile of RTT is shown in fig. 6"}},
}

// brokers is section E.2 with Figures 5 to 9.
var brokers = []Fact{
	{"Figure 5", "III.E.2", "Publishers connect to publishing brokers and subscribers to subscribing brokers; a publishing broker takes at most m " +
		"connections, a subscribing broker at most the throughput n, so the topology grows by brokers.",
		[]string{"Publishers connect to publishing brokers. Subscribers connect to subscribing brokers", "accepts no more than m concurrent connections",
			"accepts throughput of no more than n"}},
	{"Figure 5", "III.E.2", "The test used four nodes for brokers, one of them the unit controller of the other three, and four nodes for " +
		"generators; data were received on the node that had sent them.",
		[]string{"used four nodes to setup a Distributed Broker Network", "One of them was the unit controller and assigned addresses to the other three nodes",
			"used the other four nodes to simulate generators", "received by the node where they were sent"}},
	{"Figure 5, broadcast", "III.E.2", "Data flowed to nodes without any subscriber, so the paper concludes that the network broadcast, and that " +
		"this slowed it down.",
		[]string{"data flowed to a node even if there was no subscriber", "slowed performance down", "data were broadcast and not diverged to different routes"}},
	{"Figure 6", "III.E.2", "CPU and MEM are of the single server, CPU2 and MEM2 of the network (DBN). The network's CPU load was higher than the single server's.",
		[]string{"CPU and MEM are single server tests", "CPU2 and MEM2 are DBN tests", "CPU load of the DBN tests was higher than single server"}},
	{"Figure 7", "III.E.2", "There was \"a smooth increase of round-trip time\" with the number of connections; both RTT and STDDEV were very low.",
		[]string{"a smooth increase of round-trip time according to the number of concurrent connections", "Both round-trip time and standard deviation were very low"}},
	{"Figure 7", "III.E.2", "The network was expected to be faster than the single server, and was slower: \"a little disappointing\".",
		[]string{"expected the results of DBN tests to be better than single server", "a little disappointing and are higher than single server"}},
	{"Figure 8", "III.E.2", "Curves of 500 to 3,000 connections on one broker; 99.8 % of messages arrived within 100 ms.",
		[]string{"500 ~ 3000 concurrent connections", "99.8% of messages arrived within 100 milliseconds"}},
	{"Figure 8", "III.E.2", "One broker \"cannot accept 4000\" connections: no memory for the threads that serve them.",
		[]string{"single Narada broker cannot accept 4000 concurrent connections", "ran out of memory to create new threads"}},
	{"Figure 8", "III.E.3", "The summary says not more than 2,500, against the figure's own curve of 3,000.",
		[]string{"could not accept more than 2500 concurrent connections", "500 ~ 3000 concurrent connections"}},
	{"Figure 9", "III.E.2", "Curves of 2,000 to 4,000 connections on the network, which took \"more than 4000\" with a good performance.",
		[]string{"2000 ~ 4000 concurrent connections", "could accept more than 4000 concurrent connections and maintain a good performance"}},
}

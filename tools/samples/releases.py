"""Press releases of invented firms and bodies."""

from samples.grammar import Genre, subjects, variants

SUBJECTS = """
Corvane Instruments opens calibration laboratory for humidity sensors
Corvane Instruments today opened a laboratory in Vellin in which humidity sensors are calibrated between 2 and 98 per
cent at temperatures down to minus forty. The climate chambers were designed in house, use a tenth of the energy of
their predecessors and can be reserved by the hour by universities and smaller manufacturers.

Until now customers had to send their probes abroad and wait five weeks. The new turnaround is four working days, and
each certificate carries a code by which the measured curve can be downloaded.
===
Halberd & Thrush acquires the seed archive of Mallin Brothers
The seed merchant Halberd & Thrush has acquired the archive of Mallin Brothers, which includes 1,870 varieties of
vegetables collected since 1888. Germination tests are under way; of the first two hundred packets opened, sixty-one
have sprouted, among them a purple-podded pea thought to be extinct.

Varieties that can be multiplied will be offered from next season in small quantities and without any restriction on
saving seed. The handwritten trial books of three generations are being scanned and will be freely available.
===
Northern Plain Railways orders forty-two battery trains
Northern Plain Railways has ordered 42 battery trains for the lines that have no overhead wire. Each has three cars,
seats 174 passengers and runs 115 kilometres on a charge, which is taken up in nine minutes at rapid chargers in
Greywick and Stowbeck or under the wire of the main line.

The trains replace diesel railcars that entered service in 1986. Delivery begins in twenty-six months, with a further
eighteen units as an option. The maintenance depot at Iron Hill is being extended and will take on fifty apprentices.
===
Study circle of midwives publishes open handbook for small clinics
A circle of 63 midwives from eleven districts has published a handbook for clinics with fewer than two hundred births
a year. It was written during night shifts over three years, tested in nine houses and reviewed by an ethics board,
and it may be copied, translated and adapted by anyone.

Its centrepiece is a set of twenty-four checklists that fit on a single card each. In the clinics that tried them,
the time from a first warning sign to a call for help fell from nineteen minutes to seven.
===
Pemberlow Glass restarts furnace with hydrogen from the harbour
After a rebuild of fourteen months Pemberlow Glass has lit a furnace in Quillport that melts with up to sixty per
cent hydrogen. The gas comes by pipe from the electrolyser at the harbour, which uses wind power that would otherwise
have been switched off.

Bottles made with the new flame are a shade lighter in colour, a result of the drier atmosphere over the melt.
Wineries that took part in the trial asked to keep it. The firm expects to save 31,000 tonnes of carbon dioxide every
year.
===
City theatres share a single ticket and a single box office
From the autumn the nine theatres of Harrowmere are selling their seats through one box office, which belongs to them
jointly. A pass for people under thirty admits to any performance that is not sold out half an hour before it starts,
for the price of a cinema ticket.

Until now each house had its own system and its own fees. The shared software was written by the staff of the puppet
theatre, whose director describes it as modest, reliable and slightly wooden.
===
Lodestar Mapping gives away its footpath data
Lodestar Mapping is releasing the footpath data of the whole coast, 23,400 kilometres surveyed on foot, under an open
licence. The data set contains gates, stiles, benches, water taps, surface and width, and shows for each section when
it was last walked by one of the firm's surveyors.

The company will go on selling printed maps, whose sales have grown for six years running. Errors may be reported by
anyone; a correction is checked and published within ten days.
===
Dairy cooperative replaces plastic lids with pressed beech fibre
The Tarn Hollow dairy cooperative is replacing the lids on its yoghurt glasses with discs pressed from beech fibre.
They contain no adhesive, withstand three weeks in the refrigerator and rot within forty days on a garden compost
heap.

Eleven million plastic lids a year disappear. Since the new ones cannot be sealed as tightly, the cooperative has
moved its filling line closer to the cold store and shortened the best-before date by two days.
===
Institute for Sleep Research seeks six hundred light sleepers
The Institute for Sleep Research in Lindmouth is looking for 600 people who wake easily. They will wear a ring with a
pulse sensor for ninety nights, keep a diary of no more than two minutes a day and receive their own data in a form
that can be understood.

The study asks whether the sound of rain helps, and if so, which rain. Volunteers should be between twenty and
seventy and should not live beside a fire station. No medicines are involved.
===
Old Mint Bank closes last fax line and apologises for the music
Old Mint Bank has closed its last fax line, which in its final month received eleven messages, eight of them menus.
At the same time the bank is retiring the waiting music of its telephone service after 22 years and 400 complaints.

Customers who call now hear their place in the queue and nothing else. Those who prefer to be called back may hang up
without losing their turn; in the trial almost two thirds did so.
===
Sorrel & Daughters wins contract to re-thatch twelve listed barns
Thatchers Sorrel & Daughters have been awarded the contract for twelve listed barns on the Fallowfield estate. The
work takes five summers, some 90,000 bundles of water reed and nearly as many hazel spars, all of which are to be cut
within forty kilometres of the barns.

Six trainees are being taken on, and one place is reserved for somebody over fifty. The first roof, that of the great
tithe barn, can be watched from a public platform every Saturday.
===
Harbour robot finishes its thousandth hull inspection
The inspection robot of the Port Amity harbour authority has completed its thousandth dive. The machine, no larger
than a suitcase, moves along a hull on magnetic wheels, measures the thickness of the steel at 14,000 points and
needs about three hours for a coaster of ninety metres.

Divers used to take two days for the same task and could only work at slack water. They now concentrate on repairs.
No one has lost a job, the authority stresses, and two of the divers have become the robot's pilots.
"""

QUOTES = """
"We did not want to be first, we wanted to be right," says managing director {person1}. "That took {14..30} months
longer than the plan said, and I would do it the same way again. What convinces me is that the people on the shop
floor stopped calling it the project and started calling it ours."

{person1}, who led the work, sees it as a beginning. "The interesting part is what others will make of it. We have
left the door open on purpose, and I hope that somebody walks in with an idea that annoys us for not having had it."

"Every {weekday} for {2..4} years we sat down with those who would have to live with the result," explains chair
{person1}. "They told us what they would not miss, and we left it out. In the end that was the larger part of the
design."

According to head of development {person1}, the idea came from a complaint. "A customer in {town} sent us a drawing
on the back of an invoice. It was rude, and it was correct. We framed the original and built the thing."

"Numbers are patient, neighbours are not," comments spokesperson {person1}. "So we measured everything twice and then
invited the street to come and see. Of {90..300} visitors on the open day, {3..9} had an objection, and we were able
to settle all but one of them."

{person1}, responsible for operations, points to the [quiet|dull|unspectacular] side of the undertaking: "There are
{40..95} people who had to change a habit for this, and they did it without a single day lost. I have promised them a
summer party with a proper band."

"It would have been easier to announce this a year ago and deliver it a year from now," says founder {person1}. "We
prefer the other order. As of today it works, it can be bought or used or visited, and whoever finds a fault gets an
answer from a person with a name."
"""

ABOUT = """
[Founded|Established] in {1871..1998} and still [owned by its staff|run by the founding family|organised as a
foundation], the [organisation|house] has {40..900} employees at {2..9} sites. Last year it turned over {4..86}
million and trained {5..40} apprentices. Its head office is in {town}.

Pictures for editorial use free of charge, a fact sheet and a list of dates are available from the press office.
Contact: {person2}, telephone {town} {200..899} {10..99} {10..99}, weekdays from nine to five. A tour for journalists
takes place on {1..28} {month}.

About us: we are {60..700} people in {town} and {town2}. We publish our accounts in full, answer letters by letter
and take part in no awards for which the nominee has to pay. Press enquiries are handled by {person2}, who also
speaks French.

The project was supported by the regional fund for {2..4} years with a total of {120..980} thousand. Partners were
the technical college of {town}, the chamber of crafts and {3..11} firms from the district. For further questions
please turn to {person2} at the address on {street}.

Notes to editors: the figures in this text were checked by an independent auditor in {month}. A longer version with
sources is available on request. Interviews can be arranged through {person2}, preferably before noon, and samples
will be sent by post.

Next date: on {weekday}, {1..28} {month}, the doors are open to everyone from ten until six. Admission is free, there
is a cloakroom and a place to change babies, and {person2} will show groups around on the hour. Buses stop in
{street}.
"""

RELEASES = Genre(
    "release",
    ("Presswire North", "Company Newsroom", "Trade Bulletin"),
    subjects(SUBJECTS),
    (variants(QUOTES), variants(ABOUT)),
)

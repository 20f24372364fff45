"""Local news: thirty stories, what is said around them, and five told again in other words."""

from samples.grammar import Genre, subjects, variants

STORIES = """
Swing bridge at Kestrel Bay to close for eleven weeks
The swing bridge that links the two halves of Kestrel Bay will shut to all traffic from the first Monday in March
while engineers replace its turning gear, which dates from 1931. Harbour engineer Ottoline Frayne told a packed
meeting at the Fishermen's Institute that three of the eight bearings had cracked and that a fourth was "holding on
out of habit".

Lorries will be sent round by Cold Barton, a detour of 19 kilometres, and a free passenger ferry will cross every
twelve minutes between six in the morning and midnight. Shops on the island side fear the loss of the Easter trade.
The work is expected to cost 4.3 million, most of it from a coastal infrastructure grant awarded last autumn.
===
Library van returns to the hill villages after nine years
Children in Upper Wray queued in the drizzle on Tuesday to greet a bright green van carrying 2,400 books, the first
mobile library to climb the valley road since the old one was scrapped nine years ago. The vehicle, a converted
bakery van, was bought with money raised by a sponsored sheep count and a bequest from a retired headteacher.

It will call at fourteen stops on a fortnightly round. Borrowers may keep books until the van comes back, and there
are no fines. Driver and librarian Cosmo Applegarth said the most requested title so far was a manual of tractor
repair, closely followed by anything at all about volcanoes.
===
Swarm of bees delays afternoon trains at Ravelston
Trains between Ravelston and Stowbeck were held for almost two hours on Friday afternoon when some 15,000 honeybees
settled on the signal at the north end of platform two. Drivers could not see whether the lamp was red or green, and
the signaller declined to guess. Passengers were given water and, later, ice cream from the station kiosk.

Beekeeper Hyacinth Oduya arrived with a cardboard box and a paintbrush and coaxed the queen inside within twenty
minutes. The swarm has been rehoused at an allotment behind the goods yard, where it is said to be settling in. The
railway confirmed that nobody had been stung, although one passenger's sandwich was abandoned.
===
Council votes to keep the outdoor pool open through winter
After four hours of debate and two recounts, councillors in Lindmouth voted 21 to 20 on Thursday night to keep the
outdoor swimming pool open from October to March for the first time in its ninety-year history. The water will not be
heated. Supporters in woollen hats cheered from the public gallery as the mayor read out the result.

The pool made a loss of 88,000 last summer, and the treasurer warned that the winter could cost as much again. A
group of year-round swimmers calling itself the Blue Toes has promised to sell at least 600 season tickets and to
staff the changing rooms with volunteers on weekday mornings.
===
Flood gates hold as the river Marl reaches its highest mark since 1968
The new flood gates at Oldwater passed their first real test overnight when the river Marl rose to 5.62 metres, a
level not seen for more than half a century. Water lapped within a hand's breadth of the top, but the streets behind
the barrier stayed dry, and the sandbags handed out in the evening were not needed.

Upstream the picture was different. Nine farms at Nettlecombe were cut off, about 300 ewes had to be moved in the
dark, and a footbridge was torn away and found in pieces beside the weir. The forecast is for drier weather until the
weekend, and the river had dropped by forty centimetres at noon.
===
Night bus extended to the hospital after petition by nurses
The number 14 night bus will run as far as the county hospital from next month, ending a gap of 2.7 kilometres that
staff on the late shift have walked for years along a road without a pavement. The change follows a petition started
by two nurses in the stroke unit, which gathered 6,118 signatures in three weeks.

Buses will leave the market square at ten past each hour between eleven and five. The operator says it will review
passenger numbers after six months. It had argued that the extra distance would need another vehicle, but a new
timetable drawn up by a retired mathematics teacher showed that it did not.
===
Rare orchid halts work on the Brackenford bypass
Diggers fell silent on the southern section of the Brackenford bypass this week after a surveyor found eleven spikes
of the ghost-lipped orchid, a plant recorded only twice in the county in the past hundred years. The flowers stand in
a damp hollow exactly where the second roundabout is to be built.

The contractor has fenced off half a hectare and is looking at moving the junction some sixty metres to the east,
which would mean buying a corner of a turkey farm. Botanists want the whole hollow left alone, because the orchid
lives on a fungus in the soil and does not survive being transplanted.
===
Fire destroys sawmill but spares the timber yard
A fire that could be seen from thirty kilometres away destroyed the main shed of the Hollin sawmill in the early
hours of Wednesday. Forty-six firefighters from seven stations fought the flames until daybreak, pumping water from
the mill pond. Two of them were treated for smoke inhalation, and no one else was hurt.

A change in the wind shortly after three saved the seasoned oak in the neighbouring yard, which had been sold for the
roof of the cathedral chapter house. Investigators are looking at a dust extractor that was serviced the day before.
The mill employs 38 people, and its owners say that wages will be paid until Christmas at least.
===
School choir wins trip of a lifetime by mistake
A choir of 32 pupils from Mossgate is to sing in a concert hall of two thousand seats next spring because its
recording was sent to the wrong competition. Music teacher Ferdinand Achterberg meant to enter the under-twelves in a
regional festival and instead chose the adult category of an international one.

The judges, who heard the entries without names, placed the children second among 140 choirs and only learned their
age when the invitation came back with a question about bunk beds. The school now needs to raise 27,000 for travel,
and the first cake sale brought in 912 in a single afternoon.
===
Lighthouse keeper's cottage sold to the village for one coin
The last keeper's cottage on Gannet Point has been sold to the people of Port Amity for a single silver coin, minted
in the year the light was built. The lighthouse authority had planned an auction, but withdrew it after villagers
showed that their great-grandparents had paid for the garden wall.

Volunteers will spend the summer repairing the slates and lime-washing the walls. From next year the cottage is to be
let for short stays, with one week in four kept free for families who look after a sick relative. The light itself
has been automatic since 1987 and is not affected by the sale.
===
Bakery strike ends with a fifth week of holiday
Ovens were lit again at the Dunmarrow cooperative bakery on Sunday night after its 74 workers accepted a fifth week
of holiday in place of the pay rise they had asked for. The seven-day strike had emptied bread shelves in three towns
and led to a lively trade in home-made loaves outside the football ground.

Under the agreement nobody will start before four in the morning on two days running, and the noisy slicing line is
to be enclosed by the end of the year. The cooperative expects to be back to its usual 31,000 loaves a day by
Wednesday, though seeded rolls may be scarce for longer.
===
Mystery donor pays off lunch debts at every primary school
An unknown person has paid every outstanding lunch bill at the nineteen primary schools of Greywick, a total of
14,386, with the request that nobody try to find out who it was. The money arrived in nineteen envelopes, each with
the exact amount and a short note in green ink: "Seconds of pudding, please."

Head teachers said that some families had been avoiding the school gate because of what they owed. The education
office will no longer send reminder letters home with pupils, a practice that one governor described as delivering
the shame by hand. A fund for the future has already received more than two hundred gifts.
===
Wolves seen twice in one week near Larch Valley
A pair of wolves has been photographed twice within a week on the upper pastures of Larch Valley, thirty years after
the last confirmed sighting. The first picture was taken by an automatic camera set up to count martens; the second
by a postwoman on her round, who says the animals looked at her "as if I were late".

Farmers met the ranger service on Monday to talk about fences and guard dogs. Grants of up to 80 per cent will be
paid for electric netting, and a telephone line has been opened for reports of injured stock. No sheep have been lost
so far. Hair caught on a gatepost has been sent for analysis.
===
Town clock to strike again after a dispute over who pays for silence
The clock of the Corn Exchange, mute since a resident complained about its chimes at night, is to strike again
between eight in the morning and nine in the evening. A device that muffles the hammer after dark has been fitted at
the expense of the clockmaker's guild, which called the silence an embarrassment to the profession.

The complainant, a saxophonist who moved to the square two years ago, has withdrawn the case. Both sides were seen
sharing a bottle at the ceremony. The bell, cast in 1742, was found to be carrying 38 kilograms of pigeon droppings,
and it is now a quarter of a tone higher than anyone living can remember.
===
Ferry runs aground in fog with ninety on board
The evening ferry from Quillport ran on to a sandbank in thick fog on Saturday with 91 passengers, 22 cars and a
wedding cake on board. It stayed upright, and everyone was brought ashore by the lifeboat and two crab boats before
the tide turned. One crew member broke a wrist, and the cake is reported to have survived.

The harbour master said that a navigation buoy had drifted some 400 metres in last week's gale and that a warning had
been broadcast. Inspectors will examine whether it reached the bridge. Until the hull has been checked by divers, a
smaller vessel will make four crossings a day and cannot carry lorries.
===
Old brewery to become 120 homes and a museum of labels
Planners have approved the conversion of the Two Keys brewery in Sandling into 120 homes, thirty of them at rents
tied to local wages. The copper kettles will stay in what is to be a glazed entrance hall, and the former bottling
office will house a museum of beer labels with more than nine thousand examples.

Objectors had argued that the towers would overshadow the allotments in the afternoons. The architects lowered the
eastern block by two storeys and turned its roof into a terrace with bee boxes. Demolition of the yeast house begins
in June, and the first residents should move in two and a half years later.
===
Vet's appeal reunites tortoise with family after 26 years
A tortoise that vanished from a garden in Eddington Moor 26 years ago has been returned to its owners after a vet
noticed a faded letter painted under its shell. Clementine, thought to be about sixty, was found by workmen clearing
a railway embankment barely three kilometres from home.

The vet posted a photograph on the noticeboard of the post office rather than on the internet, "because that is where
people of the right age look". Within a day the daughter of the family, now a mother of three, came in with a picture
of herself as a toddler sitting on the same shell. The tortoise weighs 4.1 kilograms and has an excellent appetite.
===
Water firm fined after brown taps in 8,000 households
Some 8,000 households in Copperhythe that had brown water for nine days in August will each get a credit of 75 after
a regulator fined the supply company 1.9 million. An inquiry found that a valve had been opened in the wrong order
and that the first forty calls from customers were recorded as "taste, minor".

The company has apologised and says it has since tagged every valve on the eastern main with its own number and
photograph. Hairdressers and laundries can claim their lost income separately until the end of February. The brown
colour came from iron and was never dangerous, according to the public health laboratory.
===
Teenagers build weather station that outdoes the official one
Four sixteen-year-olds from the technical school in Stowbeck have built a weather station for less than the price of
a bicycle, and for three storms in a row it has been closer to the mark than the official instruments at the
airfield. It measures wind with a spinning cup made of table tennis balls and rain with a tipping spoon.

The meteorological office has lent them a calibrated barometer and asked to see their code. The secret, they say, is
the place: the station stands on the roof of the swimming hall, where the wind arrives undisturbed from the sea,
while the airfield is sheltered by a new hangar. A second one is planned for the lighthouse.
===
Market traders win fight against plastic awnings
The striped canvas awnings of Thistleby market will stay. The council on Tuesday dropped its plan to replace them
with white plastic after traders collected 11,000 signatures and a textile historian pointed out that the pattern of
red and cream, two narrow stripes to one wide, had not changed since at least 1809.

Canvas must be oiled every spring and lasts about twelve years, compared with twenty for plastic. Traders will now do
the oiling themselves over two Sundays in April, and the money saved will go into new lighting. The fishmonger, who
had already bought a plastic roof, is being refunded.
===
Surgeon operates by torchlight as storm cuts power
Doctors at the cottage hospital of Tarn Hollow finished an emergency operation by the light of three head torches on
Sunday when both the mains and the standby generator failed. The patient, a 54-year-old roofer with a ruptured
spleen, is recovering and has asked for one of the torches as a souvenir.

The generator had been tested a week earlier but its fuel line was blocked by a wasps' nest. Storm Ingeborg brought
gusts of 131 kilometres an hour and left 17,000 homes without electricity, most of them until Monday noon. The
hospital will get a second generator, paid for from the county reserve.
===
Ancient boat found in gravel pit is older than the pyramids
Quarry workers near Wexcombe have uncovered a boat hollowed from a single oak that archaeologists believe to be five
thousand years old. It is 7.4 metres long, and the marks of stone axes can still be seen inside the hull. Two paddles
lay beside it, one of them mended with cord made from lime bark.

The timber is kept under a spray of cold water in a tent while a tank is built for it. Drying out would destroy it
within days. It will take four to six years to replace the water in the wood with wax, after which the boat is to be
shown in the county museum. The quarry has moved its excavators to the far side of the pit.
===
Taxi drivers agree to carry guide dogs without extra charge
Taxi firms in Vellin have signed an agreement to carry guide dogs free of charge and to train every driver in how to
seat them. It comes after a court ordered one driver to pay compensation to a piano tuner who was left at the station
in heavy rain because of what the driver called "the carpet".

All 412 licensed cabs will carry a sticker by the end of the month. Drivers with a proven allergy may ask for an
exemption, which has to be renewed every year. The trainers brought eleven dogs to the first session, and the drivers
were asked to ride in the back with a blindfold on.
===
Cinema of 84 seats beats the closing date with a day to spare
The Electric Palace, an 84-seat cinema above a chemist's shop in Marlow's Reach, reached its target of 160,000 on
Wednesday, one day before the lease was to lapse. The last 500 came from a former projectionist, aged 93, who had to
be talked out of giving more.

The money pays for a digital projector, a lift and the removal of asbestos from the ceiling. The red seats stay, the
organ stays, and so, after a vote, does the rule that no one may eat anything louder than chocolate. The reopening
will show the film that was interrupted by a power cut on the evening the cinema closed.
===
Goats hired to clear railway cutting eat surveyor's plans
A herd of thirty goats hired to clear brambles from a railway cutting at Iron Hill did in nine days what a team with
machines had priced at five weeks. They also ate a folder of drawings left on a wall, which turned out to be the only
signed copy of the drainage plan.

The railway is pleased all the same. Goats can stand on slopes too steep for mowers, cost a third as much and leave
the roots that hold the bank together. Next spring they will move on to the embankments at Larch Valley. Staff have
been reminded to keep paper in their vehicles.
===
Tram line to the university opens two years late
The first tram rolled through the new tunnel to the university of Harrowmere at 5.14 on Monday morning with 180
people on board, two of whom had queued all night in the costumes of conductors from 1906. The line is 6.2 kilometres
long, has nine stops and opened two years later than promised.

The delay was caused by a medieval tannery discovered under the third stop and by a tunnel boring machine that had to
be sent back for a new gearbox. Trams run every seven minutes. In the first three days they carried 64,000
passengers, and bicycles are allowed outside the rush hour.
===
Doctor's surgery on wheels reaches the islands
Islanders on Skerra and Little Holm can see a doctor without crossing the sound for the first time since 1999. A
surgery built into a lorry, with an examination couch, an X-ray unit and a small laboratory, comes over on the
Tuesday boat and parks on the pier until Thursday.

In its first month it saw 208 people, of whom 31 would have had to be taken to the mainland by helicopter or
lifeboat. The youngest was four days old. A dentist is to join the team in the new year, and the islands' only
carpenter has built a ramp for those who come by mobility scooter.
===
Chess club evicted by damp finds home in fire station
The chess club of Fallowfield, driven from its cellar by damp after 61 years, has moved into the old hose drying room
of the fire station. The ceiling is eleven metres high, which members say encourages long thoughts, and the heating
is said to be the best in town.

There is one condition: players must keep the pole clear. Twice in the first month the alarm has gone in the middle
of a game, and both times the clocks were stopped by agreement. Firefighters have begun to join in on quiet evenings,
and one of them drew with the club champion in his third game ever.
===
Harvest of apples so large that presses run all night
Cider makers around Elmstead Quay are working in three shifts to keep up with what growers call the heaviest apple
crop in living memory. Trees that usually give 150 kilograms have borne twice as much after a frost-free spring, and
props made from scaffolding poles are sold out across the county.

The price has fallen to a level at which some farmers leave the fruit for the fieldfares. Schools have been invited
to pick what they can carry. At the largest press, where 40 tonnes arrive each day, the pomace is heaped so high that
the delivery drivers have given it a name and a flag.
===
Court rules that village may keep its one-handed signpost
A signpost that has pointed only to the next village since its other arm fell off in 1976 may stay as it is, the
administrative court has ruled. The roads department wanted a metal post with both directions. Residents of Cold
Barton said that anyone who needed to know the way to the other place would not have come.

The judge found that the post, carved by a local wheelwright, was part of the appearance of the green and that no
accident had ever been linked to it. Costs of 3,700 fall on the department. A second arm may be added if it is of
oak, of the same lettering, and approved at the annual meeting.
"""

REACTIONS = """
"We have talked about this for {6..15} years, and talk doesn't [mend|pay for|change] anything," said {person1}, who
runs the [hardware shop|newsagent's|bicycle workshop] on {street}. "Now at least something has happened, and we can
argue about that instead. It makes a change from arguing about the parking."

Among the first to comment was {person1}, a member of the parish council since before the bypass, who called it a
[good|remarkable|curious] day. "You wait for the telephone to ring and it never does, and then it rings all morning.
I have had calls from people I was at school with."

Not everyone is [pleased|convinced]. {person1}, who lives opposite, said that residents had heard about it from the
radio like everybody else. "A leaflet through the door would have cost next to nothing. It is the manner of it I
object to, not the thing itself."

{person1}, {24..61}, a [plumber|nurse|student|taxi driver] from {town}, put it more briefly. "About time," was the
whole of the statement, given from the window of a van that did not stop. Others who had gathered on {street} nodded,
and one of them began to clap.

On {street} on {weekday} opinion was divided roughly along the line of the tramway. "My mother would have loved it,"
said {person1}. "She would have stood here with a flask and told everyone how it was done in her day." A neighbour
said that it would all be forgotten by {month}.

Historian {woman1}, whose book on the district appeared last year, sees a pattern. "Places like this one do not
change by plan. Somebody loses patience, somebody else finds a key, and forty years later it is a tradition." The
archive holds letters about a similar case from the 1880s, she added.

The mayor of {town}, {woman1}, interrupted a holiday to [visit|see for herself]. Standing in borrowed boots, she
thanked "the people who did not go home when their shift was over" and promised that the town hall would answer every
letter within a week, a promise she then repeated more slowly.

Messages of [support|thanks] have come from as far away as {town} and {town2}, said {woman1}, who has been reading
them out in the community centre every evening. One was accompanied by a cheque, one by a recipe, and one by a poem
of {14..40} verses of which, she said, the first two were very good.

Asked whether it had been worth the trouble, {person1} thought for a while. "Ask me again when the bill comes," the
{31..70}-year-old said, and then, after another pause: "Yes. Write that I said yes." The remark drew applause from
those near enough to hear it.

"I was in the bath when I heard," said {person1}, who chairs the residents' association. "By the time I was dressed
there were {12..60} people in the lane and somebody had brought soup. That is the thing about this place: we are slow
to start, but nobody leaves early."
"""

BACKGROUND = """
{town} has {4..38} thousand inhabitants and lost its last [large employer|cannery|shoe factory] in {1991..2009}.
Since then the number of visitors has risen slowly, helped by a footpath along the river and by a television series
that was filmed elsewhere but said to be set here.

Figures from the county show that spending on [roads|public buildings|emergency services] has fallen by {7..23} per
cent in ten years once prices are taken into account, while the number of requests has almost doubled. An inquiry by
the audit office is due to report before the summer.

It is not the first time that the district has been in the news. In {1971..1999} a [landslip|runaway bull|disputed
election] brought reporters from three countries, and postcards of the event can still be bought at the station,
where they are sold from the same rack as the timetables.

The archive of the {paper} has a first mention of the matter from {1902..1958}, when a letter writer who signed as
"Patient" urged the authorities to act without delay. Letters on the subject have appeared in every decade since, two
of them from the same family.

Similar cases in {town} and {town2} took between {3..6} and {7..11} years to resolve, according to a survey by the
association of small municipalities. What made the difference, its author writes, was seldom money and nearly always
a single official who kept answering the telephone.

Insurance covers part of the cost, but not all of it, and the remainder falls on a reserve that was set up after the
hard winter of {1978..1996}. It now holds about {2..9} hundred thousand, a little less than what was taken from it
last year for the repair of the [covered market|weir|cemetery wall].

Two earlier attempts came to nothing. The first was abandoned when a firm of consultants went out of business, taking
the drawings with it; the second was lost by {2..5} votes on an evening when the heating in the council chamber had
failed and several members had gone home.

The region has been through a [restless|trying|busy] year. A dry spring was followed by {3..7} weeks of rain, the
hospital changed hands, and the bus company is looking for {20..90} drivers. Against that, unemployment has dropped
to its lowest level since records were first kept in their present form.

Behind the story lies an old rivalry. Until the boundary was redrawn in {1894..1933}, each bank of the river had its
own council, its own fire engine and its own day of rest, and there are still families who will not buy fish on the
other side.

Experts had warned of something like this. A report of {80..240} pages, delivered {3..8} years ago and never formally
discussed, listed {11..29} recommendations, of which the department says it has carried out {4..9}. The rest are
described as being under consideration.
"""

OUTLOOK = """
A public meeting will be held in the [school hall|old granary|Methodist chapel] on {weekday} at half past seven.
Questions may be handed in beforehand at the library, and those who cannot climb the steps are asked to ring so that
a room on the ground floor can be opened.

The council's works committee takes up the matter on {1..28} {month}. Its chair, {person2}, said that members had
been given the papers early "for once" and that a decision the same evening was likely, if not certain.

What happens next depends on a [second opinion|survey|ruling] expected by the middle of {month}. Until then a notice
with a telephone number hangs on the door, and {person2} has been asked to keep a record of everybody who calls.

Anyone with [information|photographs|first-hand knowledge] is asked to get in touch with the office on {street},
which is open on weekdays until four. Several people have come forward already, {person2} said, and each of them had
remembered it differently.

A fuller account will be published at the end of {month}. {person2}, who is responsible for it, would not be drawn on
the details, but said that readers should expect "fewer adjectives and more numbers" than last time.

For the time being, signs in three languages have gone up and volunteers in yellow jackets are on hand between nine
and five. They can be recognised, said organiser {person2}, by their thermos flasks.

The next step is a small one: {person2} will draw up a list of what is needed and what is already there. The list is
to be pinned up in the post office, where anyone may cross something off by supplying it.

An appeal can be lodged within {4..8} weeks. {woman2}, a lawyer who has followed the case without taking sides,
thinks it unlikely that anyone will. "Everybody is tired," she said, "and it is nearly spring."

Work continues over the weekend. If the weather holds, said {person2}, who is coordinating the helpers, the worst
should be over by {weekday}; if it does not, there is always the week after, and the one after that.

The {paper} will report on progress. Readers who would like to help can find a list of contacts on page {4..19} and
at the counter of the town hall, where {person2} has set up a desk beneath the portrait of the founder.
"""

NEWS = Genre(
    "news",
    ("Harrowmere Courier", "Lindmouth Echo", "Valley Gazette", "Kestrel Bay Tribune", "Morning Ledger"),
    subjects(STORIES),
    (variants(REACTIONS), variants(BACKGROUND), variants(OUTLOOK)),
)

# The same events as the stories of these numbers, told by somebody else: they must not match.
RETOLD = {
    0: """
Eleven weeks without a crossing
Anyone who wants to get from one side of Kestrel Bay to the other this spring will have to take a boat or drive a
long way round. Starting in March, the harbour's ninety-year-old swing bridge is being taken out of service so that
its worn machinery can be exchanged. Half of the bearings are damaged, the responsible engineer, Ottoline Frayne,
explained to residents, many of whom had to stand.

A shuttle ferry for pedestrians is planned and will be free to use until late at night. Heavy vehicles face an extra
nineteen kilometres. While the grant for coastal works pays the larger share of the 4.3 million, traders on the
island are counting what the closure will take from their tills at Easter, and have asked for a cut in their rates.

The bridge has been out of action before, though never for so long. In the cold winter of 1963 it froze in the open
position, and for six days the milk came over by rope.
""",
    3: """
By one vote, cold water wins
Lindmouth's lido stays open all winter. That was the outcome of a long council session on Thursday, in which the
motion passed with the narrowest of margins, and only after the ballots had been counted three times. It is a first
since the baths were built nine decades ago, and swimmers should know what they are in for: nobody is going to warm
the water.

The finances are less bracing than worrying. Last year's season closed almost ninety thousand in the red, and the
town treasurer sees a similar sum melting away between autumn and spring. A club of hardy bathers, the Blue Toes,
intends to prevent that by selling six hundred passes and opening the cabins itself in the mornings.

"Eight degrees is a perfectly good temperature," said its oldest member, who is eighty-one and has not missed a
Sunday since the new year.
""",
    8: """
Wrong box ticked, right notes sung
It began with a drop-down menu. Ferdinand Achterberg, who teaches music in Mossgate, wanted his young singers to take
part in a festival a few valleys away. What he filled in was the form for a worldwide contest for grown-ups, and what
came back was an invitation to perform in one of the great halls of the continent.

The jury listens blind. It put the thirty-two children ahead of all but one of the hundred and forty choirs, and
found out who they were when somebody at the school wrote to ask about sleeping arrangements. Parents are now baking
for the fares; close to a thousand has been raised, some twenty-six thousand are still missing.

As for the teacher, he has been asked by his colleagues to fill in no more forms this year without a witness.
""",
    15: """
From hops to homes
Thirty years after the last barrel was rolled out of the gate, the Two Keys brewery in Sandling is to be lived in.
The planning board gave its consent to a scheme with a hundred and twenty flats. A quarter of them are reserved for
people on ordinary local incomes, and nine thousand beer labels, the life's work of a former foreman, get a museum of
their own.

To win over gardeners who were worried about their afternoon sun, the designers took two floors off one of the
blocks. Bees are to live on top of it instead. Visitors will enter past the old coppers, which are too heavy to move
and, as the conservation officer put it, too handsome to hide. Building starts with the removal of the yeast house in
early summer.
""",
    21: """
Five thousand years under the gravel
What the driver of an excavator at Wexcombe took for a drainpipe has turned out to be the oldest vessel ever found in
the county: a dugout, cut from one oak trunk with axes of stone, more than seven metres from end to end. With it lay
a pair of paddles. A crack in one of them had been bound with twisted bark by somebody who, an archaeologist said,
knew exactly what he or she was doing.

Wood that has lain wet for so long falls to dust when it dries. For now sprinklers keep the find cool and dripping
under canvas. Later it goes into a bath of wax, for as long as six years, before the museum can put it on display.
Digging in the quarry goes on, at a respectful distance.
""",
}

"""Travel pages and popular science."""

from samples.grammar import Genre, subjects, variants

TRAVEL_BANK = """
Two days in Saint Orin, the town of stairs
Nobody knows exactly how many steps there are in Saint Orin; the tourist office says 4,126, the postman says more.
The town climbs from the fish quay to the citadel in seven terraces, and every one of them has its own bakery, its
own saint and its own opinion of the others. Start at the top, with the morning sun in your back, and let gravity be
your guide.

Do not miss the museum of umbrellas, three rooms above a cobbler's, and the square of the deaf fountain, where a
hundred students sit at night. Rooms at the lower end are noisier and have the better view.
===
By slow train along the Vellin gorge
The train from Vellin to the salt works takes three hours for seventy kilometres and would be worth its fare if it
took five. It crosses the river nineteen times, once on a bridge of wood, and stops wherever somebody holds out a
hand. Sit on the left going up, where the cliffs are closer than the luggage rack.

At the summit the driver gets out to change the points by hand and to buy honey. The last carriage has a platform at
the end; the guard will let you stand on it, if you ask in the right order: first about the grandchildren, then about
the key.
===
Winter swimming at Elmstead Quay
At seven in the morning the bathing hut at Elmstead Quay smells of tar and cardamom. Eleven people in dressing gowns
wait for the lamp at the end of the jetty to go out, for that is when the season's first cold dip of the day begins.
The water in January has four degrees, and the sauna behind the hut has ninety.

Guests are welcome, towels can be hired. The rule is three times in and out, without screaming, since the neighbours
are asleep. Breakfast afterwards, with smoked eel and rye bread, is served on planks by a woman who has swum to the
lightship.
===
The desert gardens of Ain Safra
An hour beyond the last petrol station the track drops into a valley which is suddenly green. Ain Safra has water
because its people dug for it: eleven tunnels, up to six kilometres long and a thousand years old, lead it from the
foot of the mountain to palm groves, where it is shared out by the shadow of a stick.

Stay with a family; there are nine that take guests, and the cooperative gives you the next in turn. Walk the main
channel in the evening, when frogs begin. Photographs of the sluice master are allowed after tea, not before.
===
Walking the old frontier from tower to tower
Twenty-two watchtowers stood along the frontier between the two duchies, each within sight of the next. Fourteen are
left, and a path of 96 kilometres joins them, through beech woods and over pastures, with a night's lodging at every
third. Six days are comfortable, four are possible and five are best.

The tower of Hohn has a ladder instead of stairs; in that of Little Mark a weaver lives, who sells tea. Water is
scarce on the third stage. In autumn hunters are about on Wednesdays, and a red hat is advisable.
===
Night market on the canal of Lam Prao
The boats come when the heat goes. From about six they moor side by side along the canal, until one can walk across
it without wetting a foot, and on each of them something different is simmering. Coconut pancakes are made by a lady
with eleven pans, noodle soup by twin brothers who don't speak to each other.

Come hungry, come with coins, and leave the car at the temple. On full-moon nights lanterns are set on the water at
nine, and everybody stops chewing for a minute. The last boat to town leaves at half past ten.
===
A weekend among the bookbinders of Marlow's Reach
In Marlow's Reach every seventh house belongs to somebody who does something to books. There are binders, gilders,
two makers of marbled paper, a restorer of atlases and a man who repairs nothing but the spines of hymnals. Most
doors stand open on Saturdays, and the smell of glue reaches as far as the bus stop.

Courses of half a day end with a notebook of one's own. The hotel Quarto has twelve rooms, each furnished with the
library of a different reader, and no television. For those with children: in the mill one may stamp on rags.
===
Birds, mud and silence on the Pellworth flats
When the tide goes out at Pellworth it takes the sea with it, beyond the horizon, and what is left is a plain of wet
light. In April two hundred thousand waders rest here on the way north. A warden leads groups of at most fifteen,
barefoot, along a line of hazel stakes that is moved every spring.

Never set out alone: the channels fill from behind. The hide on stilts can be booked for a night; it has two bunks,
one telescope and a rope for the food. The chip shop beside the dyke is said to be the northernmost that uses beef
fat.
===
The cable car that carries the post to Hochwies
Hochwies has forty-one inhabitants, no road, and a cable car with room for four persons or one cow. Tourists can ride
when there is no post, no cow and no doctor, and this is more often than one might expect. In eight minutes the cabin
floats over the ravine; it is wise not to count the bolts.

Above, paths start to three alps where cheese is made until mid-September. The inn has five beds and a menu of two
dishes. One of them is dumplings. In the evening the landlord plays a zither which his grandfather won in a bet with
the bishop.
===
Kestrel Bay out of season
In November Kestrel Bay belongs to those who live there and to the herring gulls. The carousel is boarded up, the
beach huts stand in a field like cattle, and for the first time one can hear the halyards. It's the right moment:
hotels cost a third, and the oysters have an r in the month.

Walk out to the wreck at low water, look in at the Fishermen's Institute, where the tide tables have been painted on
the wall since 1870, and drink something hot in the ferry café. When the foghorn sounds, locals check their watches
out of habit.
===
Cycling the brick road of the Northern Plain
The brick road was laid by prisoners and straightened by engineers, and it runs for 140 kilometres through beet
fields without a bend worth the name. What sounds dull is a lesson in looking: wind pumps, hares, a church steeple
which needs an hour to arrive. Bring a handlebar with more than one position.

Surfaces are rough near the sugar factory. In harvest time lorries drop beets at the crossing, and children sell them
back to the drivers. A bed can be found in every village with a swan on its sign; swans mean soup as well.
===
Hot springs above the tree line
It takes four hours on foot to reach the springs of Mount Tarrow, and the first glimpse of steam between the boulders
is usually taken for a campfire. Three pools lie one below the other, hot, warm and merely brave. A shepherds' law,
older than the hut, says that whoever arrives must stack one stone on the wall before undressing.

There is no shop and no signal. The hut warden lends wooden clogs in exchange for news. Soap is forbidden, singing is
not. Start back by three, because mist rises with the cool of the afternoon and the cairns are small.
"""

PRACTICAL = """
Getting there: buses leave {town} at {6..9}.{10..50} and {13..17}.{10..55}, except on {weekday}; the journey takes
about {50..110} minutes. A taxi for four people is hardly dearer, if you agree the price before getting in.

When to go: from {month} the days are [long|clear] enough, and beds are easier to find in midweek. Pack something
against the wind and a book, for the pace here is [slow|unhurried], and those who hurry see the same things in less
detail.

Money: cards are accepted by fewer people than show the sign, and the nearest cash machine is in {town}. Reckon with
{45..110} a day for two without the room. Tipping is not expected, but people are pleased if you learn how to say
thank you.

Eating: {person1} keeps a kitchen with {4..9} tables near the [church|landing stage|post office]. There is no menu.
If you ring before ten you may say what you don't like; that will be all the influence you have on your evening.
"""

ENCOUNTERS = """
We had planned to stay one night and left after {3..6}. The reason was a wedding to which everyone in sight had been
invited, including the driver of the bus, so that there was no bus. {person2} lent us shoes for the dancing; they
were returned with new soles.

On the second evening {person2}, a retired {trade}, unrolled on the counter a map drawn {40..70} years ago, on which
each house had the name of its dog. Half of the dogs are still right, we were told, since people here call the next
one after the last.

Bring back: a jar of whatever stands beside the till without a label. {person2} fills it on {weekday} and does not
say with what. Ours tasted of smoke and pears and has been rationed ever since to a spoonful on birthdays.

Travelling with children? {person2} has {2..5} and recommends the early hours, when delivery vans are about and
bakers give away what has broken. By eleven the young ones want to swim. A shallow place lies beyond the last jetty,
with a tree to jump from.

A warning: there are two places of that name, {80..300} kilometres apart, and the ticket machine knows only the other
one. It happens to {10..30} visitors a year. In {town2}, where they end up, {person2} has opened a guest room for
them and serves consolation pudding.

In the visitors' book we found an entry from {month} {1931..1968}: "Wind all day. Went nowhere. Best day so far."
Below it {person2}, who has kept the key since her marriage, has noted the date on which the writer came back, with
grandchildren.

For rainy days there is the collection of {person2}: {300..900} door knockers on the walls of a barn, all of which
may be tried. Visits end with elderflower cordial, and a knocker can be adopted for a small sum a year, with
certificate.
"""

TRAVEL = Genre(
    "travel",
    ("Slow Roads", "The Third Carriage"),
    subjects(TRAVEL_BANK),
    (variants(PRACTICAL), variants(ENCOUNTERS)),
)

SCIENCE_BANK = """
Spiders tune their webs like string instruments
A web is not only a trap but a message board. Researchers plucked the radial threads of garden spiders with a jet of
air and filmed the vibration with a laser. When a spider was hungry it tightened the threads, raising their pitch by
almost a third, and noticed smaller flies than before. Well-fed animals slackened them again.

The tension is adjusted with the legs within seconds. In a control with webs of the same shape but no tenant nothing
changed overnight, so that humidity can be ruled out as the cause.
===
Ice remembers which way it was pushed
Glaciers flow, and the crystals in them turn until they lie comfortably in the current. A team drilling in the far
south found that deep ice keeps the direction of a flow that ended twelve thousand years ago, although all that lies
above it has been moving at right angles ever since.

The old grain makes the ice softer in one direction than in the other, by a factor of up to nine. Models that neglect
it, the authors write, expect the sea to rise too slowly in some bays and too fast in others.
===
Why left-handed snails survive in some valleys
Most snail shells coil to the right. On four islands, however, up to a fifth of one species coil to the left, and
until now nobody could say why. The answer has teeth: a local snake whose jaws are asymmetric has learned, or
evolved, to grip shells of the common kind, and lets the others fall.

Where there are no such snakes, left-handed snails die out, because they find it hard to mate. Fossil shells with
tooth marks suggest that the contest is at least two million years old.
===
A yeast that lives on wood smoke
In the chimney of a disused smokehouse biologists have found a yeast that feeds on compounds which kill its
relatives. It breaks down phenols with an enzyme previously known only from soil bacteria, and it grows best at 41
degrees in the dark.

The gene was probably picked up by accident, from a bacterium on the wall. Industry has shown interest, as the enzyme
might clean waste water from charcoal works. The discoverers, for their part, have used it to bake bread. It tasted
of ham.
===
Counting whales from the sound of their silence
Hydrophones hear whales only when they sing, and many do not sing for months. A new method turns the problem round:
it listens for gaps in the noise of shrimps, which fall silent for about four minutes as a large animal passes.

In a trial with tagged humpbacks 83 per cent of passages were recognised, and ships were mistaken for whales in no
more than one case out of fifty, as their engines drown the shrimps instead of hushing them.
===
Bronze Age tooth reveals a journey of a thousand kilometres
The woman was about thirty when she was buried with a spindle and two dogs. Her first molar, formed when she was
small, contains strontium of a kind that is found in only one mountain range, far from her grave; the third, formed
in her teens, matches a plain halfway between.

She must have moved at least twice before she was seventeen. Wool fibres from the grave had come the same way.
Whether she travelled with the sheep or the sheep with her cannot be told from isotopes.
===
Raindrops that bounce
A drop which falls on hot metal floats on its own steam. Physicists have now seen the same on surfaces at room
temperature, if the drop is salty, the surface rough and the air very dry. Then it evaporates so quickly at its edges
that it lifts, up to six times in a row.

High-speed pictures show a cushion of vapour a fortieth of a millimetre thick. The effect could keep windows clean
near the coast. So far it lasts for eleven minutes, after which the salt has filled the roughness.
===
Trees in cities wake up earlier and nobody is sure why
Lime trees in the centre of a town come into leaf nine days before those at its edge, even where the temperature is
equal. Street lamps were the obvious suspect, but a survey of 3,200 trees finds that unlit courtyards are no later
than avenues.

What does go with early leaves is sealed soil. Where roots lie under asphalt the ground warms in pulses, and pulses
may be a stronger signal than averages. An experiment with heated cables is to start next winter in two school yards.
===
Bees can count to four and then they guess
Honeybees trained to fly to the third of several yellow tents found it again when the distance between the tents was
changed, which means that they had counted. With four they managed too. From five upward they took any tent beyond
the fourth, seemingly at random, though never one of the first two.

The limit resembles that of newborn chicks and of people who have to speak while counting. A brain the size of a
sesame seed is enough to get as far.
===
Old maps give away the colour of vanished seas
Painters of nautical charts mixed their blues from what was at hand, and often from the water itself. In pigments of
64 maps chemists found the shells of plankton, by which they could tell not just where a chart was coloured but in
which month.

Three kinds of algae no longer live on the coasts in question. The record reaches back to 1570 and shows two abrupt
changes, both of which coincide with the draining of salt marshes.
===
How a beetle drinks fog
The desert beetle stands on its head on the ridge of a dune and lets the fog run down its back. It had been thought
that bumps on the wing cases catch the droplets. Tests on printed beetles show instead that grooves between them do
the work; with bumps but no grooves the catch fell by 70 per cent.

Posture matters even more. At an angle of 23 degrees the beetle gets most, and that is the slope it chooses. A net
folded after its example collected nine litres a night on a roof.
===
The clock in the muscles
Every muscle keeps its own time. Volunteers who trained only the right leg in the morning and only the left in the
evening for ten weeks ended up with legs whose genes switched on three hours apart, measured in tiny samples of
tissue. Each leg was stronger at its accustomed time of day.

For the athlete the gain is small, about two per cent. It may be greater for shift workers whose limbs and livers
disagree. The authors advise against drawing conclusions for the working week.
"""

OUTLOOKS = """
"I didn't believe the first result, nor the second," says {person1}, who made the measurements. "After the {5..9}th I
phoned my supervisor at home." Colleagues in {town} have since repeated it with other equipment and found the same
within {2..6} per cent.

The study, published on {weekday}, rests on {14..90} samples, which is not many. {person1} of the university of
{town}, who was not involved, calls it careful but early: an effect of this size ought to show up in older data too,
if somebody were to look.

The work took {4..11} years and was almost given up when a freezer failed. Its data and programs can be downloaded.
What comes next, says lead author {person1}, is the boring part: to do everything again in {month}, with people who
hope that it is wrong.
"""

CONTEXT = """
Textbooks will not have to be rewritten on account of it, but a footnote might. In {1962..1988} a schoolteacher in
{town2} described something similar in a letter to a journal, which thanked her and printed it among the curiosities.
The authors cite her in their first sentence.

Where is the catch? For one thing, laboratory conditions are kinder than the world outside; for another, {person2}
reminds us, whoever measures {30..200} quantities will find something striking in one of them. The team had written
down in advance what it was going to look for, and that disarms the second objection.

The apparatus cost less than a used car. Its most delicate part is a loudspeaker from a toy, for which {person2},
then a student, searched the flea markets of {town2}. {2..4} of the originals are still working; one has been given
to the museum of technology.

Money for such questions is scarce. The first {2..5} applications were turned down, one of them with the remark that
the answer was surely known. It was not, as a librarian established in an afternoon. Since then {person2} has begun
every lecture with a slide showing that letter.

What is it good for? Asked this on the radio, {person2} replied that newborn babies were no use either, and then
mentioned {2..4} applications, from crop protection to hearing aids, for which patents have been filed by others. The
group itself has not applied for any.

Two rival explanations remain on the table. They differ in what they predict for low temperatures, and it is there,
in a tent near {town2}, that {person2} means to spend the coming {month}. A bet has been laid. The loser has to learn
the other's favourite song.

Criticism comes from statisticians. They would have preferred fewer curves and more raw numbers, and {person2} has
therefore put all {40..180} gigabytes on a public server. Within a week a pupil found an error in the third table. It
changes nothing, but she has been thanked by name.
"""

SCIENCE = Genre(
    "science",
    ("Plain Findings", "The Morning Microscope"),
    subjects(SCIENCE_BANK),
    (variants(OUTLOOKS), variants(CONTEXT)),
)

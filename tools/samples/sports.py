"""Match reports and obituaries: nothing but the bank, so that documents of one kind share its manner."""

from samples.grammar import Genre, Subject, variants

OPENING = """
A [late|scrappy|thunderous] goal by {person1} in the {84..90}th minute gave {club1} a 2-1 win over {club2} on
{weekday} and lifted the side to {4..9}th place. Until then the {2..11} thousand spectators had seen two teams intent
on not losing, and a referee intent on being noticed.

{club1} and {club2} shared the points and {4..7} goals on a pitch that had been declared playable an hour before
kick-off and did its best to prove the decision wrong. {person1} scored twice for the hosts, the second time while
sitting down.

For the {4..6}th time this season {club1} threw away a lead of two goals. What was it this time? "The wind," said
coach {person2}. The {club2} bench, on which somebody had brought a kite, was of another opinion.

There are defeats that hurt and defeats that explain something. The 0-4 of {club1} at {club2} was of the second kind:
whoever had wondered why the club was looking for a left back had the answer after {9..20} minutes, when {person1}
ran past three of them.

The cup has its first surprise. {club1}, two divisions below, put {club2} out on penalties after {person1}, a {trade}
in working life, had forced extra time with a header from the edge of the area that was meant, by all accounts, as a
clearance.

Nothing separates {club1} from the title except arithmetic. After the 3-0 against {club2} the lead stands at {7..11}
points with {4..6} games left, and {person1}, who scored all three, has already been seen measuring the shelf in the
clubhouse.

It rained, it was a goalless draw, and yet nobody left early. {club1} and {club2} produced an hour and a half of
saves, posts and {person1}, the visiting goalkeeper, who stopped {9..14} shots and one dog.

{club1} are through to the semi-final after a match that had everything except a second half worthy of the first. All
five goals against {club2} fell before the tea, three of them to {person1}, and all were celebrated by the same brass
band.
"""

PLAY = """
The decisive move began with a throw-in that should have gone the other way, as both captains agreed later. {last1}
took the ball on the chest, let two opponents slide past and shot low into the [left|right] corner. Protests went on
until the restart, in {town} dialect and at considerable speed.

From the start the home side looked for the space behind the defence and found it again and again through {person3},
who at {18..21} is the youngest player to start a league game for the club. Only the finish was lacking; the crossbar
still shook when the teams changed ends.

Tactically it was a lesson. {person3} dropped back between the centre halves, the wing backs pushed up to the line,
and suddenly there was a spare man in every duel. It took the opponents until the {54..60}th minute to respond, and
by then they were chasing the game.

A red card changed everything. {person3}, booked earlier for kicking the ball away, arrived late in a tackle at the
halfway line and was on the way to the dressing room before the whistle had ended. With ten players the team defended
better than it had with eleven.

Set pieces decided it. Of {8..13} corners, {3..5} led to a chance, and each time it was {person3} who had been left
alone at the far post. "We practise that on Thursdays," said the defender. "On Thursdays it is my brother who forgets
to mark."

After the interval the floodlights failed, and for {11..25} minutes the match was suspended. Players kept warm by
passing a flask around the centre circle. When the light returned, {person3} was the quickest to get used to it and
hit the post from thirty metres.

The first half belonged to the guests. They pressed high, won the ball early and, through {person3}, could have gone
ahead by the {14..20}th minute; instead a misplaced back pass gave away a penalty, which was struck so gently that it
seemed to apologise.
"""

AFTER = """
"You can't train for afternoons like this," said coach {person4}, whose contract runs until the summer. "You can only
turn up with enough socks." Whether it will be extended is to be decided after the home game against {club3}.

Supporters of both sides walked back to the station together, as is the custom here. Next weekend the leaders travel
to {club3}, where the slope of the pitch has been measured at {1..2}.{1..9} per cent and the sausages are considered
the best in the division.

The injury to {person4} is less serious than feared: a bruised rib and {2..3} weeks off. A trainee from the youth
side will take the place against {club3}, having first asked permission to miss a chemistry test.

In the table the result changes little, in the heads a good deal. "Last year we would have lost that," said captain
{person4}. A win over {club3} on {weekday} would make it the best start since {1964..1993}.

Attendance was {1200..8900}, among them {30..75} who had come by bicycle from {town}, as they have for every away
game since a bet was lost in {2004..2016}. The return fixture takes place in {month}; {club3} are the opponents
before that.

Statistics speak for the winners: {53..66} per cent of possession, {6..12} shots on target and, according to the
coach's dentist, no broken teeth. {person4} was voted player of the match and received a ham, which will be raffled
at the game with {club3}.

A word about the referee: he apologised to both benches afterwards, bought a round, and asked to be spared the game
against {club3} on {weekday}. {person4}, for whom it was the {100..300}th appearance, called that the most sporting
gesture of the whole season.
"""

MATCHES = Genre(
    "sport",
    ("Valley Gazette", "Weekend Sport", "Northern Plain Post"),
    [Subject("{club1} and {club2}: [report|how it happened|the match]", ())] * 16,
    (variants(OPENING), variants(PLAY), variants(AFTER)),
)

LIFE = """
{first} {family}, {trade} and for {21..44} years the [voice|conscience|memory] of {town}, has died at the age of
{79..98}. {He} was born above a shop on {street}, the {4..7}th of {8..10} children, and liked to say that {he} had
learned to speak in order to get a word in.

The death is announced of {first} {family}, who came to {town} as a child with one suitcase and a violin, and stayed
for {61..78} years. Trained as a {trade}, {he} was known to three generations for {his} patience, {his} terrible puns
and a yellow raincoat that never seemed to age.

When {first} {family} retired as {trade} in {1989..2007}, the office needed three people to do {his} work, and none
of them could read the filing system. {He} died on {weekday}, aged {77..93}, in {his} own bed and, as {he} had
ordered, with the window open.

Few people can have crossed the sound more often than {first} {family}, who has died at {81..96}. By {his} own
reckoning it was {9..14} thousand times, first as a deckhand, later as {trade} on the islands, and in the last years
simply for the coffee on the boat.

{first} {family} wanted no speeches, so {his} family has asked that people read this instead. Born in {town} in
{1927..1941}, {he} learned the trade of {trade} from an aunt, lost two fingers and no sense of humour in the winter
of 1956, and never owned a television.

It was as a young {trade} that {first} {family}, who has died in {town} aged {80..95}, discovered that the parish
registers were being eaten by beetles. {He} copied them by hand, all {31..58} volumes, on weekday evenings between
supper and the late news, and the work took {11..17} winters.

Anyone who ever got lost in the marshes around {town} will remember {first} {family}, for it was {he} who came with
the lantern. A {trade} by profession, {he} kept the list of those {he} had fetched home, and there were {112..340}
names on it when {he} died on {weekday}.
"""

DEEDS = """
What remains is above all the choir. Founded in {1958..1974} with {7..12} singers and a borrowed piano, it had grown
to ninety voices when {he} handed over the baton. {He} never raised {his} voice in rehearsal; {he} would lower it,
until everyone else did the same.

In {1963..1981} {he} taught a neighbour's children to swim in the mill race, because the school did not, and that
became an association which has since given lessons to {4..9} thousand. The pool in {town2} is to bear {his} name, an
honour {he} declined twice.

{He} served {3..6} terms on the council without ever joining a party. The minutes record {his} longest contribution,
in {1979..1992}, as consisting of eleven words, and it saved the lime trees on {street}.

{His} garden was open to anybody who shut the gate. Visitors came for the auriculas, of which {he} bred {17..64} new
kinds, each named after a person who had once been kind to {him} on a train; the list is kept at the county seed
bank.

During the strike of {1968..1984} {he} cooked every day for {80..230} families in the hall behind the chapel. Asked
years later how it had been possible, {he} handed over the recipe for a soup that begins with the words "Take forty
leeks".

{He} collected sounds: weirs, looms, ferry bells, the last steam crane in the harbour. The tapes, some {900..1800}
hours, were thought to be a private oddity until a film maker from {town2} asked for the noise of a tram that no
longer existed.
"""

FAREWELL = """
{He} leaves {his} {husband}, {2..5} children, {6..13} grandchildren and a parrot. The funeral is on {weekday} at
eleven in the church of {town}; the family asks for gifts to {charity} in place of flowers.

{His} {husband} died before {him}, and {he} spoke of it rarely. A daughter, a son and {3..8} grandchildren survive.
Those who wish to remember {him} are invited to the reading room in {town} on {1..28} {month}, and {charity} will be
glad of a donation.

There will be no service. The ashes are to be scattered from the {town} ferry, weather permitting, and everyone who
turns up in good shoes is welcome. {He} had asked that whatever is collected should go to {charity}.

A gathering with music will take place on {weekday} in the old customs house. {His} three sisters, all of them older,
will be there. A book of condolence lies open in {street}, and donations to {charity} are preferred to wreaths.

The coffin, which {he} built and for years used as a bench, will be carried from {street} to the hill cemetery at ten
on {weekday}. {His} nephews have asked that telephones be left at home. Gifts: {charity}.

To the very end {he} answered each letter on the day it came, and {his} family would like to do the same: please
write to the house in {street}. The burial was held in private. A concert in aid of {charity} is being planned for
{month}.
"""

OBITUARIES = Genre(
    "obituary",
    ("Lindmouth Echo", "Valley Gazette", "Harrowmere Courier"),
    [Subject("{first} {family}[|, {trade}| of {town}]", ())] * 14,
    (variants(LIFE), variants(DEEDS), variants(FAREWELL)),
)

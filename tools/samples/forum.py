"""Questions in forums and notices in the official gazette."""

from samples.grammar import Genre, subjects, variants

THREADS_BANK = """
Sourdough starter smells of nail varnish, is it dead?
Hi all, first post here. I've had my starter for about seven weeks, fed it every morning, and since I moved it to the
shelf above the radiator it smells like nail varnish remover and there's a grey liquid on top. It still bubbles a
bit, but only at the edges.

I've tried throwing half of it away and doubling the flour, no change after two days. Do I have to start again? I've
grown fond of the thing and my kids have given it a name.
===
Gearbox whines in third only, 1998 estate
The estate has 241,000 on the clock and for a month now there's been a whine in third gear, under load and also when
I take my foot off, gone as soon as I push the clutch. Second and fourth are silent. Oil was changed in spring, level
is right, no glitter on the magnet.

The garage wants to fit a whole reconditioned box for more than the car is worth. Could it be just the bearing on the
output side? Has anybody opened one of these on a bench without special tools?
===
Which knot for a hammock on a slippery strap?
My old hammock hung on rope and a bowline held for years. The new one came with flat straps, some shiny synthetic,
and every knot I know creeps until I'm on the grass. The supplier says to use their clip, which I've managed to lose.

I need something that can be undone by cold fingers after a night of hanging weight on it. Width of the strap is 25
mm, if that matters.
===
Printer prints everything twice but only on Tuesdays
I know how this sounds. Office of nine people, one shared laser printer on the network. Every Tuesday, and never on
another day, each job comes out twice. The log on the printer shows one job, the log on the server shows one job, and
there are two copies in the tray.

Drivers reinstalled, firmware updated, cable replaced. We have started to schedule our printing around it but the
boss would like an explanation that doesn't involve the moon.
===
Tomatoes split just before they ripen
Fourth year with the same variety in the same greenhouse and for the first time nearly every fruit splits from the
stalk down, a day or two before I would pick it. I water at weekends only because I work away, about twenty litres a
plant.

Neighbour says it's the heat, brother-in-law says it's a virus, seed firm hasn't answered. The cracks are clean and
dry, no mould. What would you change first?
===
Passport expires while I'm on the boat, what now?
We're crossing from Quillport on the 28th and come back on the 6th, and I have just seen that my passport runs out on
the 3rd. The express office has no appointment before we leave. My identity card is in the name I had before the
wedding.

Does anyone know if the ferry people look at the date on the way out, or only at the face? And who do I ask about the
way back, the embassy or the line?
===
Old oak table, black rings, never been treated
Inherited a farmhouse table, oak, I would guess a hundred years old, no varnish and possibly never oiled. There are
black rings from pots and a pale patch where something caustic stood. I don't want it to look new, I only want to be
able to put a plate on it without apologising.

Sandpaper feels wrong. Somebody told me to use oxalic acid, somebody else said lemon and patience. Photos to follow
when I have found the cable.
===
Choir tenor keeps singing my part
I sing second tenor in a village choir. The chap next to me has a wonderful voice and a terrible memory and for the
last three concerts has drifted into my line, or rather I into his, because he's louder. The conductor sits at the
piano and hears only a pleasant fullness.

I'd hate to offend him, he drives me home. Is there a polite trick? Cotton wool is not an option, I have tried.
===
Can a router see which pages I read?
Moving into a shared flat where the internet comes from the landlord, and the box is in his kitchen. He's friendly,
but he does like to know things. If a page has the little padlock, what exactly can be seen on the box: the name of
the site, the page, or the text?

I don't do anything secret, it's simply nobody's business what I read at night. Explanations for a gardener, please,
not for an engineer.
===
Dog refuses the new stairs
Our setter, nine years old and healthy says the vet, won't walk down the new staircase. Up is no problem. The old one
was carpeted and closed, this one is open at the back, and she stands at the top and sings.

We have tried sausage on each step, mats, and my husband going down on all fours in front of her, of which there is a
film. She weighs 29 kilos, so carrying isn't a long-term plan.
===
Sewing machine skips every fifth stitch
A cast-iron machine from the sixties, freshly oiled, new needle, new thread. On cotton it is perfect, on denim it
skips a stitch, nearly always the fifth. I have counted over three metres of seam and it's too regular to be chance.

Needle size 100, foot pressure at the maximum. Could a gear have a worn tooth? Or do I have to change the timing of
the hook, and if so, with what tool?
===
What is this bolt for? Found under the sink
While fixing the trap I found a brass bolt about as long as a finger standing loose on the bottom of the cupboard.
Square head, left-hand thread, a hole through the end as if for a pin. Nothing leaks, nothing wobbles, and I can't
see where it's missing from.

The house was built in 1934 and the kitchen in 1971. I'd feel better if someone could say "ah yes, that". I'm
reluctant to use the tap.
"""

REPLIES = """
{person1} wrote: Had exactly the same {2..5} years ago. In my case it was so simple that I'm embarrassed to write it
down: I had read the instructions for the other model. Do the easy things first, one at a time, and note the day on
which you did each of them. Good luck!

Edit: thanks for all the answers, I didn't expect {9..26} of them overnight. I'll try the first suggestion on
{weekday}, because it costs nothing, and report back. To the person who asked: no, there isn't a smell of burning.

Reply from {person1} (moderator): moved to the right section. Please use the search before you post; there's a thread
of {14..70} pages about this from {2009..2016}, of which pages three and eleven are worth reading. The rest is a
quarrel about names.

{person1} answered: I do this for a living and I'd leave it alone. Nine times out of ten the repair makes it worse.
If it bothers you, take a photograph now and another in {4..8} weeks, and compare. If there's no difference you've
saved yourself a weekend.

Solved! For those who find this later: it was what {person1} suspected in the {4..19}th reply. It took {10..50}
minutes, a mirror and some bad language. I have put a drawing in the gallery. Thread can be closed, and I owe
somebody a beer in {town}.

{person1}: my late father would've said to ask the oldest person in the street. I'm now that person in mine, so here
goes. Warm it, wait, and turn it the other way. It works with jars as well, and on one occasion it worked with the
council.

Small update from me: I've now lived with it for {2..6} weeks and to my surprise it's getting better by itself. Still
curious what causes it, though. Will be in {town} at the weekend, where an uncle has the right tools and strong
opinions.

Answer by {person1}: there are two schools here and they don't speak to each other. One says leave it, the other says
take everything apart. Having tried both I belong to a third, which calls somebody on {weekday} and makes coffee for
them.

Last reply by {person1}: closing this for lack of activity since {month}. If you found a cure elsewhere, please send
me a line so that I can pin it to the top; questions without an ending are what makes people stop using forums.
"""

ASIDES = """
Off topic, but since you mention it: is that the same {town} where the big jumble sale used to be? I bought a lathe
there once from a man who cried when I drove off with it. If he's reading this, it's well and in daily use.

+1, following. Same problem here, different make, and only when it's damp. I'd been told it was my imagination, by
{person2} of all people, so it's good to hear that there are at least {2..5} of us who imagine things.

Before anybody suggests it: yes, I've read the manual. It is {40..90} pages long, {8..12} of which are about not
swallowing the thing. There's a phone number on the last page and it belongs to a hairdresser, who was very nice
about it.

{person2} wrote: careful with what was said above. It works, but not on anything made before about {1975..1988},
because they used a different alloy. I found out the expensive way. Measure first, and if the number has a seven in
it, stop.

Here's what I would do, in this order: nothing; clean it; swap the cheap part; ask {person2}; swap the dear part. I
have never got as far as the last step. Most of the time it ends with cleaning, and about {1..3} times in ten with
nothing.

Pictures or it didn't happen, as my son would say. From your description it could be {3..5} things and each has a
different cure. Daylight, no flash, and put a coin beside it. {person2} is good at this and usually looks in on
{weekday}.

I'd like to put in a word for the professionals. Had somebody in from {town} last {month}, took {15..40} minutes,
charged me for ten, and showed me what to do next time. Not everything has to be fixed with a bent spoon at midnight.
"""

THREADS = Genre(
    "forum", ("Ask the Shed", "Kitchen Table Forum"), subjects(THREADS_BANK), (variants(REPLIES), variants(ASIDES))
)

NOTICES_BANK = """
Public notice: diversion of footpath 27 at Nettlecombe
Notice is given under section 14 of the Paths Act that the district authority proposes to divert part of footpath 27,
from the stile beside the sluice to the corner of Parson's Wood, on to the headland of the adjoining field, because
the bank has slipped and cannot be made safe at reasonable expense. The diverted path will be 2 metres wide and 61
metres longer.
===
Application for a licence to abstract water from the Marl
The estate of Fallowfield has applied for a licence to take up to 1,400 cubic metres of water a day from the river
Marl at the old tannery between the first of November and the last day of March, for storage in a reservoir with a
clay lining. No water may be taken when the gauge at Oldwater reads less than 0.74 metres.
===
Loss of a savings book, declared void
The savings book of the Old Mint Bank with the final figures 5531, in the name of a customer resident in Greywick,
has been reported as lost. Whoever holds it is called upon to present it and to prove a claim. Failing this, the book
will be declared without force and a new one issued in its place.
===
Compulsory purchase of a strip of land at Iron Hill
For the building of the battery depot the railway administration has been authorised to acquire a strip of 8 by 215
metres on the south side of parcel 402/7, used as grazing. The compensation offered has been deposited with the
court. Rights of way for cattle will be kept open by an underpass with a clear height of 2.3 metres.
===
Changes to the market regulations of Thistleby
The market regulations are amended as follows. Stalls may be set up from five o'clock, and engines must be switched
off by half past six. Live poultry may be sold on Wednesdays only. Awnings have to be of cotton canvas in the
traditional stripes; existing awnings of other materials may be used until the end of next year.
===
Dissolution of the Lindmouth lamp-lighters' provident society
The general meeting of the provident society of lamp-lighters has resolved to dissolve the society, which has had no
lighting member since 1974. Creditors are invited to submit their claims. What remains after all debts have been met
is to be given to the school of electrical trades for the purchase of books.
===
Notice of planning consent: conversion of a signal box
Consent is granted for the change of use of the former signal box at Ravelston to a dwelling for holiday purposes,
subject to seven conditions. The lever frame must remain in place and be kept in working order without connection.
The outside stair shall be rebuilt in oak. Parking is not permitted on the railway side.
===
Restriction on night flights of agricultural drones
Between half an hour after sunset and half an hour before sunrise, drones for agricultural purposes may be flown in
the districts of Larch Valley and Upper Wray only above closed stands of vines and below a height of 12 metres.
Flights within 200 metres of a known roost of bats are forbidden from May to August.
===
Inheritance: search for relatives of a clock repairer
A clock repairer who lived alone in Copperhythe died last winter leaving a workshop, eighty-three clocks and a sum of
money. Heirs of the first two orders have not been found. According to papers discovered in a clock case there was a
sister who emigrated as a cook before 1960. Persons who can prove descent from her are asked to come forward.
===
Recall of a baby bath seat for lack of stability
The market surveillance office has prohibited the sale of the bath seat Otter, serial numbers 20-4411 to 20-9875. Two
of its four suction cups may come off in water above 36 degrees, so that the seat can tip. Dealers have to take back
seats that were sold and refund the full price even if no receipt can be shown.
"""

PROCEDURE = """
The documents may be inspected for {3..6} weeks at the office on {street} in {town}, room {2..310}, on weekdays from
eight until noon and on {weekday} also from two to six. Objections have to be made in writing or for the record and
must state the name and address of the person who objects.

An appeal against this decision can be lodged with the administrative court in {town} within {28..42} days of the day
on which it takes effect. An appeal has no suspensive effect unless the court orders otherwise. The fee depends on
the value in dispute.

Comments should reach the registry in {town} by {1..28} {month}, quoting reference {2000..9999}/{11..99}. Later
submissions can be considered only if the delay was not the fault of the person who submits them. Those who wish to
be heard in person are invited for {weekday}.

This notice has been posted on the board of the town hall and will be taken down after {14..30} days. For the
authority: {person1}, head of section. A version in large print and a reading over the telephone may be requested
from the citizens' office.

Enquiries are answered by {person1} under the file number {100..999}-{10..99}-{1000..9999}. The legal text in force
can be consulted free of charge in every public library of the county. Only the version published in the gazette is
authoritative.

The complete wording with all annexes hangs in the display case beside the tax office in {town} and can be sent on
demand against payment of postage. {person1}, who deals with the matter, may be reached in the mornings only. Signed,
for the board, on {1..28} {month}.

A hearing has been fixed for {weekday}, {1..28} {month}, at ten in the assembly room of {town} town hall. Parties who
stay away without an excuse cannot rely on facts that they might have put forward there. Interpreters must be asked
for a week ahead.

Whoever contravenes these provisions commits a regulatory offence punishable by a fine of up to {2..9} thousand. The
police of {town} and the wardens named in annex {2..5} are charged with enforcement. Entry into force: the day
following publication.

The costs of the proceedings, assessed at {180..940}, are borne by the applicant. Copies were served on the
neighbouring owners, on the chamber of agriculture and on {person1} as representative of the public interest, all of
whom have raised no concerns within the time allowed.

Those concerned may consult a lawyer or the free advice bureau in {street}, {town}, open on {weekday} evenings. It is
pointed out that silence counts as agreement once {30..60} days have passed. Drawn up in duplicate, read aloud and
approved: {person1}.
"""

NOTICES = Genre("notice", ("County Gazette", "Official Notices"), subjects(NOTICES_BANK), (variants(PROCEDURE),))

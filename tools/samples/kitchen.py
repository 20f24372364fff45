"""Recipes and product pages."""

from samples.grammar import Genre, subjects, variants

RECIPES_BANK = """
Leek and potato pie with a rye crust
Ingredients: 900 g leeks, 400 g waxy potatoes, 60 g butter, 2 tablespoons flour, 300 ml milk, a good grating of
nutmeg, 120 g mountain cheese; for the crust 200 g rye flour, 50 g wheat flour, 125 g cold butter, 1 egg, salt.

Rub the butter into the two flours, bind with the egg and leave the dough in the cold for an hour. Slice the leeks as
wide as a thumb and sweat them slowly without colour. Simmer the potato cubes until almost done. Stir flour and milk
into the leeks, let it thicken, fold in potatoes and cheese. Roll the dough out over the dish, cut a chimney, and
bake for 40 minutes at 190 degrees.
===
Smoked mackerel soup from the harbour canteen
Ingredients: 2 smoked mackerel, 1 fennel bulb, 2 carrots, 1 onion, 500 ml fish stock, 200 ml cream, a splash of
aniseed spirit, dill, lemon, black pepper.

Lift the fillets from the bones and simmer skin and bones in the stock for twenty minutes, then strain. Soften the
chopped vegetables in oil, pour in the stock and cook until the carrots give way. Blend half of it, return to the
pot, add cream and spirit. Flake the fish into hot bowls, ladle the soup over it and finish with dill.
===
Walnut bread that needs no kneading
Ingredients: 500 g strong flour, 100 g wholemeal flour, 430 ml water, 12 g salt, 2 g dried yeast, 150 g walnuts, 1
tablespoon dark honey.

Stir everything to a shaggy dough in the evening and cover the bowl. Fold it four times the next morning, shape a
ball and let it rest in a floured cloth for two hours. Heat an iron pot to 240 degrees, tip in the loaf, bake for
half an hour under the lid and a quarter of an hour without.
===
Braised red cabbage with quince
Ingredients: 1 small red cabbage, 2 quinces, 2 onions, 3 tablespoons goose fat or oil, 150 ml elderberry juice, 3
cloves, 1 stick of cinnamon, vinegar, brown sugar.

Shred the cabbage finely and salt it overnight. Grate the quinces with their skins. Let the sugar melt in the fat,
add the onions, then cabbage, fruit and spices, and pour in the juice. Braise with the lid on for ninety minutes over
a small flame; sharpen with vinegar at the end, never before.
===
Chickpea pancakes with wilted chard
Ingredients: 250 g chickpea flour, 450 ml lukewarm water, 4 tablespoons olive oil, 1 teaspoon cumin, 600 g chard, 3
cloves of garlic, 1 dried chilli, yoghurt.

Whisk flour, water, oil and cumin until smooth and let the batter stand for at least two hours, skimming the foam.
Fry thin pancakes in a very hot pan. Cook the chard stalks first and the leaves after, with garlic and chilli, press
out the liquid, and roll it up in the pancakes with a spoonful of yoghurt.
===
Grandmother's plum dumplings
Ingredients: 1 kg floury potatoes boiled the day before, 200 g flour, 50 g semolina, 1 egg yolk, 16 small plums, 16
cubes of sugar, 100 g breadcrumbs, 80 g butter, poppy seed.

Press the potatoes through a sieve and work in flour, semolina and yolk with as few movements as possible. Replace
each plum stone by a cube of sugar, wrap the fruit in dough and roll it smooth between damp palms. Poach in barely
moving water until the dumplings rise, then turn them in buttered crumbs.
===
Barley risotto with mushrooms and thyme
Ingredients: 300 g pearl barley, 400 g mixed mushrooms, 15 g dried ceps, 1 litre vegetable broth, 1 glass of cider, 2
shallots, thyme, 60 g hard sheep's cheese.

Soak the ceps and keep the water. Brown the fresh mushrooms in batches so that they roast and do not boil. Toast the
barley with the shallots, quench with cider, then add broth and mushroom water ladle by ladle for about 35 minutes.
Stir in ceps, thyme and cheese and let the pot stand, covered, while the table is laid.
===
Pickled cucumbers in the manner of the salt works
Ingredients: 2 kg small cucumbers, 80 g coarse salt, 2 litres water, dill flowers, horseradish root, blackcurrant
leaves, mustard seed, one crust of rye bread.

Scrub the cucumbers and prick them twice. Layer them upright with the leaves and roots in a stoneware crock, dissolve
the salt in the water and pour it over cold. The crust goes on top, then a plate, then a stone. Keep at room
temperature for six days, skim, and move to the cellar.
===
Lamb shanks with apricots and bitter orange
Ingredients: 4 lamb shanks, 12 dried apricots, 1 bitter orange, 2 teaspoons coriander seed, 1 teaspoon turmeric, 3
onions, 500 ml light stock, 1 tin of tomatoes, almonds.

Crush the coriander and rub it into the meat with turmeric and salt. Brown the shanks on all sides, take them out and
melt the onions in the same fat. Everything except fruit and nuts goes into the oven for two and a half hours at 150
degrees; the apricots and strips of peel join for the last thirty minutes.
===
Spelt crackers with caraway
Ingredients: 250 g spelt flour, 60 g sunflower seeds, 40 g linseed, 1 tablespoon caraway, 1 teaspoon baking powder,
80 ml rapeseed oil, 120 ml water, flaky salt.

Mix the dry things, then oil and water, and knead only until the bowl is clean. Divide in two and roll each half
between sheets of paper as thin as card. Score with a wheel, sprinkle with salt, press lightly. Bake 16 minutes at
180 degrees and let them cool on the tray, where they become crisp.
===
Cold beetroot soup for the hottest day
Ingredients: 500 g young beetroot with leaves, 1 litre buttermilk, 1 cucumber, 6 radishes, chives, 3 boiled eggs, 2
tablespoons white wine vinegar, ice.

Boil the roots in salted water, peel and grate them coarsely, and blanch the leaves for one minute. Marinate both in
the vinegar until cold. Stir in buttermilk and finely diced cucumber and radish, chill for three hours, and serve
with halved eggs and two cubes of ice a plate.
===
Pear and ginger upside-down cake
Ingredients: 4 firm pears, 100 g dark sugar, 70 g butter for the tin; for the batter 180 g flour, 2 teaspoons ground
ginger, 3 pieces of stem ginger, 120 g butter, 140 g treacle, 2 eggs, 150 ml buttermilk.

Melt butter and sugar in the tin itself and lay the quartered pears in it, cut side down. Warm treacle and butter
together, beat in eggs and buttermilk, and fold into flour and ginger. Pour over the fruit and bake 45 minutes at 175
degrees. Wait ten minutes, not nine and not fifteen, before turning it out.
"""

TIPS = """
The dish keeps for {2..4} days in a cool place and tastes better on the second. Reheat it slowly with a lid on, and
add a spoonful of water if it looks dry. It also travels well: I have carried it to {town} and back on my knees.

My aunt in {town} makes this with [lard|goose fat|nut oil] and says that anything else is for invalids. I have tried
both ways, blindfolded, with {5..9} guests, and the vote was {3..4} to {1..2} for hers, with one abstention by the
cat.

Serves {4..6}. If children are eating, halve the spice and double everything else. What matters is to taste early:
salt that is added at the table stays on top of the food and never becomes part of it.

You can prepare everything up to the last step the evening before. Cover it well, put it in the coldest corner of the
refrigerator and bring it to room temperature for about {30..60} minutes, or the middle will still be cool when the
edges are done.

A note on shopping: go to the market in the last hour, when the growers would rather sell than load. For this recipe
nothing has to be pretty, but all of it has to be fresh; press with a thumb, smell, and do not be hurried.

I first ate this in a railway canteen near {town}, on a tin plate, and asked for the recipe at the hatch. The cook
wrote it on the back of a time sheet. She had left out one ingredient, as cooks do; it took me {2..6} winters to find
it.

With it goes a [sharp|plain|green] salad and bread, nothing more. To drink, cider or cold tea with mint. If there is
anything left over, which has happened to me only {1..3} times, chop it small and fry it with an egg.
"""

LETTERS = """
A reader, {person1} of {town2}, writes that the quantities are too small for people who have been outdoors all day.
That is true. They were worked out for a family of four in {month}, with a window open and something sweet to follow.

For the oven: heat from above and below is better than a fan here, because moving air dries the surface before the
inside knows what is going on. If yours has only the fan, take off {15..25} degrees and put a cup of water on the
floor of it.

Can it be made without animal products? {person1}, who tested every dish in this column for {3..8} years, says yes,
and recommends oat cream, more salt than you dare, and silence at the table about what is missing until the plates
are empty.

Leftover peel, stalks and trimmings go into a jar in the freezer, and the jar goes into a pot when it is full. After
{2..3} hours you have a broth for which restaurants in {town2} charge more than for the dish itself.

If it goes wrong, and it did for me the first {2..4} times, do not stir in flour. Take the pot off the flame, count
to a hundred, pour off what is too much, and call it rustic. Guests remember the evening and not the texture.

Seasonal note: between {month} and the first frosts you get the main ingredient from {person1}'s stall for about half
of what the supermarket wants. Ask for the crooked ones. They cost still less and nobody sees it afterwards.

How much time does it need? Some {25..45} minutes with your hands, and as much again in which you are not needed at
all. Use it to grate, to lay forks, or to ring your mother, who, as {person1} pointed out last {weekday}, would have
used more butter.

What I have changed over the years: less sugar, a heavier pot and a timer that does not belong to a telephone. The
dish has otherwise stayed as it was when {person1} cooked it for {20..60} harvesters on a stove that had to be fed
with cobs.
"""

RECIPES = Genre(
    "recipe", ("The Long Table", "Pot and Ladle"), subjects(RECIPES_BANK), (variants(TIPS), variants(LETTERS))
)

PRODUCTS_BANK = """
Larkspur 5 folding bicycle trailer
Carries 40 kilograms of shopping, one large dog or two very small children's worth of luggage, and folds flat enough
to hang on a coat hook. The hitch fits every rear axle up to 12 millimetres and can be opened with gloves on.

The frame is welded from aircraft aluminium, the floor is a honeycomb board that can be replaced in five minutes.
Wheels of 16 inches with puncture-proof tyres, parking brake, two reflectors a side. Weight 7.8 kg. Width 68 cm.
===
Borealis quiet kettle, 1.2 litres
A kettle that does not shout. Its double wall and a heating plate with seventy small vanes keep the noise below that
of a conversation, and the lid opens towards the handle, so that no steam meets the hand. Temperature can be set in
steps of five degrees from 40 upwards.

Stainless steel inside and out, no plastic in contact with the water. 1,850 watts. The cable rolls up under the base,
and every part down to the switch can be ordered singly.
===
Fieldmouse headlamp with red light
Designed with bat researchers, who need both hands and must not dazzle anybody. White light from 2 to 340 lumens on a
rotary knob, red light on a separate switch that can be found in the dark. The beam is even, without rings.

Runs 190 hours on the lowest setting, charges by cable in two hours, and takes three ordinary cells in an emergency.
The strap can be washed at sixty degrees. Weighs 88 grams and survives a metre of water.
===
Anchorite noise-absorbing curtain
Heavy wool felt, sewn in folds to a pattern of unequal widths, takes the echo out of a room. In the test hall of a
college of music the reverberation of a forty-square-metre studio dropped from 1.9 to 0.7 seconds.

Available in heights of up to 3.4 metres, in nine undyed shades. Flame-retardant without chemicals, since wool is.
Hung on gliders that fit every common rail; a fitter can be booked in most towns.
===
Tern weatherproof notebook, ruled
Paper made of stone dust and resin on which pencil writes under running water. The lines are 6 millimetres apart, the
grey is light enough to vanish in a scan, and the pages lie flat from the first to the last.

One hundred and forty-four pages, sewn. The cover of waxed linen takes a pencil in the spine. Used by surveyors,
divers and a cook who wishes to remain unnamed.
===
Orchardist's ladder, three legs, 3 metres
Three legs stand where four wobble. The rear pole can be pushed between branches and has a plate that does not sink
into wet ground. Rungs are 9 centimetres deep, so that a morning in the cherry tree does not hurt the feet.

Made of ash from managed woods, oiled, with steel rods beneath every second rung. Bears 150 kilograms and weighs 11.
Also comes in 2 and 4 metres.
===
Marmalade window hinge restrictor
A small brass arm that lets a window open by a hand's width and no further, until an adult presses two points at
once. It is screwed to the inside of the frame in ten minutes and is hardly seen.

Tested for 60,000 openings and a pull of 350 newtons. Suits wooden and plastic frames from 52 millimetres; the set
includes a template, eight screws and a drill bit of the right size.
===
Hush 30 portable dehumidifier
Takes up to 30 litres of water a day from a cellar, a boat or a room with fresh plaster, at 39 decibels. A float
stops the pump when the tank is full, or a hose leads the water away without one.

The humidity is chosen on a dial marked with words as well as numbers: museum, living room, laundry. Castors with
brakes, washable filter, three-year warranty. Uses 410 watts at full power.
===
Petrel sea kayak repair kit
Everything needed to close a hole as large as a fist on a beach with wet hands. The putty hardens under water in
eleven minutes, the glass fibre patches come already soaked and sealed, and the file is of stainless steel.

Packed in a tin that serves as a mixing bowl. Instructions are drawings only, printed on the lid inside. Best before
a date eight years away. Not suitable for inflatable boats; see the Storm Petrel set for those.
===
Cordwainer leather care box
Three brushes, a horn comb for welts, a tin of beeswax balm, neutral cream and a bottle of soap made from olive oil.
The box is beech with a lid on which a shoe can rest at a comfortable angle.

The balm contains no solvents and smells of very little. One tin lasts for about forty pairs. Refills cost less than
half of the first set and come without plastic.
===
Signal 2 doorbell for people who hear badly
Pressing the button sets off a flash, a low tone and a shaking pad for the pillow, in any combination. Up to six
receivers can be placed in the house, and each shows by its colour which door it is.

No cables, no internet, no account. Range 120 metres through two brick walls. The button draws its power from being
pressed; the receivers run on mains with a battery for six hours of power cut.
===
Winterling hand-cranked radio
Two minutes of turning give forty minutes of radio. FM, medium and long wave with a dial as large as a saucer, a
telescopic aerial and a loudspeaker for speech rather than bass. A solar strip on the lid does the rest in summer.

It charges a telephone in an emergency, slowly. The casing is made of recycled fishing net. Headphones plug into a
socket of the old size.
===
Stonecrop green roof tray
Trays of 50 by 50 centimetres, planted with nine kinds of stonecrop and houseleek, click together to make a roof that
needs no gardener. They hold 22 litres of rain a square metre and can be walked upon with care.

Suitable for slopes of up to 20 degrees. Saturated weight 62 kg a square metre: please have the structure checked
first. Delivered grown, in May and September.
===
Magpie lock for shared sheds
A padlock with twelve keys, each of which can be switched off singly with a master key when somebody moves away.
There is no battery and nothing to hack; the secret is a stack of turning discs.

The shackle of hardened steel is 11 millimetres thick and the body of bronze resists salt air. Comes with a card on
which to note who has which number. Additional keys are cut within three working days.
"""

SHOPPING = """
Delivery takes {2..6} working days and costs nothing above an order value of {60..120}. The packaging is made of
cardboard only, and we take it back when our driver calls. Bulky goods are carried to the [kerb|front door]; please
tell us about stairs.

Customers give it {4..4}.{3..9} of 5 stars in {41..690} ratings. "Does what it says and then goes on doing it,"
writes {person1} from {town}. Criticised by {2..9} buyers: the colour, which looks [greener|greyer|paler] on a screen
than it is.

What is in the box: the article itself, a sheet of instructions in {5..9} languages without a single exclamation
mark, the tool you need and a spare of the part that gets lost. Assembly by one person takes about {8..35} minutes.

Repairs are done in our workshop in {town}, usually within {4..12} days. Send it in without an appointment, with a
note of what is wrong; an estimate is free, and below {15..35} we just do it. Spare parts remain available for at
least {10..20} years.

Questions about this article? {person1} in customer service has one at home and answers the telephone between nine
and four. It can be seen and tried in our shops in {town} and {town2}, where it stands on the [ground|first] floor
next to the window.
"""

RATINGS = """
Five stars from {person2}: "Bought it for my father, who sent it back, bought one himself, and now tells everybody
that it was his discovery. It has been through {2..6} winters in an unheated shed. The only thing I would wish for is
a hook to hang it on, and that I have screwed in myself."

Three stars from {person2}: "Good thing, bad timing: it was promised for {weekday} and came {2..5} days later, when
the neighbour had lent me theirs. The two are identical except that theirs is {9..15} years old. Draw your own
conclusion about how long these last."

Our buyer {person2} writes: before we take up an article in the catalogue, four people who do not work here use it
for a summer. This one came back with {1..3} scratches and a list of uses of which the maker had not thought, some of
which we are not allowed to print.

Customers also looked at: the smaller model, which does for one person; the spare set, without which you need not go
on a long journey; and a book by {person2} in which the history of such objects is told on {90..240} pages with
photographs from {town}.

Four stars from {person2}: "There is nothing to say against it, and that makes a review difficult. Instructions could
be read without glasses. Smelt of nothing. My sister's children have tried to break it since {month} and have, for
the first time in their lives, given up."

Environmental information: {60..95} per cent of the weight consists of recycled material and the rest is marked so
that it can be told apart. It is made in {town} by {12..80} people who are paid by the hour. We have seen the
workshop, in {month}, without being announced.

A tip from {person2}, who answers your letters: register the number on the underside. You then get a card when
something has been improved, you may exchange worn parts at cost price, and if it should be stolen we can tell the
police in {town} which one was yours.
"""

PRODUCTS = Genre(
    "product",
    ("Hobbs & Fairley Direct", "The Useful Shop"),
    subjects(PRODUCTS_BANK),
    (variants(SHOPPING), variants(RATINGS)),
)

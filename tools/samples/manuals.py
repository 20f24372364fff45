"""Three manuals in five versions each: every version rewrites two sections, so neighbours match and the ends do not."""

from samples.grammar import variants

PUMP = """
The HP-40 is a hand pump for clean water from wells up to 22 metres deep. It must not be used for fuel, solvents or
water that carries sand. One stroke delivers about 0.6 litres; a person of average strength can fill a bucket in half
a minute.

Unpack the pump on a clean surface and check that the handle, the pin, two leather cups and the foot valve are
present. Parts that are missing or bent can be claimed within thirty days. Keep the wooden plugs: they are needed
when the pump is stored.

Set the base plate on a concrete slab at least 15 centimetres thick and fix it with the four bolts supplied. The slab
has to slope away from the well on all sides, because spilled water that runs back is the most common cause of
contamination.

Lower the rising main in sections of three metres, wrapping each thread with five turns of hemp. Hold the pipe with
the clamp while the next section is screwed on. A pipe that is dropped cannot be recovered without special tools.

Before first use pour two litres of boiled water into the pump head and work the handle slowly until water appears.
The leather cups swell in the course of an hour; leakage along the rod during this time is normal and no reason to
tighten the gland.

Grease the handle bearing once a month with edible fat. Mineral grease attacks the leather. At the same time check
the locking pin, which should be loose enough to turn and tight enough to stay.

If the pump loses its prime overnight the foot valve is leaking. Draw up the main, open the valve with the hook
spanner and look for grit beneath the flap. A flap that is cracked has to be replaced; turning it round will help for
a few days at most.

In frost the pump must be drained. Raise the handle as far as it will go, push the drain lever to the left and wait
until the gurgling stops. An undrained pump may split along the seam, and this is not covered by the warranty.

Every second year take off the pump head and measure the rod at the three marks. A rod worn to less than eleven
millimetres is to be exchanged together with its guide. Write the date on the label inside the cover.

Spare parts are listed on the last page with numbers and drawings. Orders should quote the serial number, which is
stamped on the flange below the spout. Leather cups may also be cut by any saddler from the pattern provided.
"""
PUMP_NEW = """
The HP-40 lifts drinking water from drilled or dug wells to a depth of 25 metres. It is unsuitable for liquids other
than water. Depending on the depth, between 0.5 and 0.7 litres come with each stroke, and children from about ten
years can work it.

Contents of the crate: pump head, handle with safety pin, valve, a bag with cups of synthetic rubber, tools. Compare
them with the packing list and report any damage to the carrier on the day of delivery, with photographs. The plugs
may be thrown away.

A ready-made plinth can be ordered as an accessory. If you cast your own, use the template on page four, let the
concrete cure for a week and seal the joint around the casing with clay, so that nothing can seep down from the
surface.

The pipes are now joined by couplings with a rubber ring; hemp is no longer needed. Moisten the ring with soapy
water, push until the mark disappears and secure with the clip. Two persons are required from a depth of twelve
metres.

Priming has become unnecessary: a small reservoir in the head keeps the seal wet. Simply pump until the stream is
free from bubbles and let the first fifty litres go to waste. Should the handle spring back, the reservoir has run
dry and can be filled through the cap.

Maintenance is limited to a yearly inspection. The bearing is lubricated for life. Listen for a knocking noise at the
upper end of the stroke, which points to a worn bush, and have it changed before the rod begins to rub.

Loss of pressure is nearly always due to a particle in the lower valve. A few fast, short strokes with the spout
closed by the palm usually wash it out. Only if this has failed three times in succession does the main need to be
lifted.

From this version on the pump protects itself against frost by a weep hole 80 centimetres below ground, which empties
the upper part after each use. Check in autumn that the hole is free by watching the level sink.
"""

REGISTER = """
Welcome to Tally, the cash register for small shops. This guide explains what you need on the first day. Everything
in it can also be looked up by typing a question mark on the main screen, followed by a word.

Switch on the register with the round key at the back and wait for the chime. On the first start you are asked for a
language, a currency and the tax rates that apply. They can be altered afterwards, but not between opening and
closing a day.

To sell an article, scan it or type its number and press the green key. A quantity goes before the number with a star
between them. The last line can be taken back with the arrow, earlier lines with the arrow and a line number.

Payment is completed with one of the four keys at the bottom: cash, card, voucher, account. If a customer pays in two
ways, enter the first amount before the key and the register shows what remains. The drawer opens for cash only.

Returned goods are entered with a minus sign and need the number of the original receipt. Without it the register
asks for a supervisor's code. Money is paid back in the way in which it came.

At the end of the day count the drawer, choose Close and type in the total. Differences of more than five units have
to be explained in a sentence of at least four words. The report is printed twice, once for you and once for the
accountant.

Articles are managed under Stock. Each has a name, a price, a tax rate and a minimum quantity below which a reminder
appears. Prices can be changed for a group by marking its articles with the space bar.

The register saves after every line. Should the power fail, it will come back with the open receipt on the screen.
The battery lasts for about forty minutes, during which neither the printer nor the card reader works.

Updates arrive on the first Monday of a month at night. Leave the register plugged in. If an update fails the former
version is restored without your having to do anything, and a note about it is shown in the morning.

For help call the number on the underside. Have the six-digit code ready that appears when the star key is held for
three seconds. Our staff never ask for passwords.
"""
REGISTER_NEW = """
This is the short guide to Tally, the till for shops, cafés and market stalls with up to six work places. Longer
explanations with pictures are found in the handbook, which is built into the device and opens with the key marked i.

There is no key any more: the till wakes when the lid is lifted and goes to sleep when it is shut. Set-up takes place
on your telephone. Photograph the square code on the display and follow the eleven steps, the last of which prints a
trial receipt.

Goods without a label can now be found by the first letters of their names or by a picture. Hold a finger on the line
in order to change the quantity or to give a discount, and swipe it out of the list to cancel it. Cancelled lines
stay on the journal.

Ways of paying are chosen on the second page. New is the split bill, which divides a table among any number of
guests, equally or dish by dish. Tips are booked separately and appear in the evening in a list by name.

A refund starts from the journal. Find the sale, tap the goods that come back and confirm by fingerprint. Since
version four it is no longer possible to repay cash for purchases by card, a rule demanded by the card companies.

Closing can be done by any member of staff who has the right to do so. The drawer is weighed rather than counted, and
the till knows how many coins that makes. Reports go to the accountant as a file; paper is optional.

Stock is kept in common with the web shop, if you have one. A sale in one place lowers the quantity in the other
within a minute. Deliveries may be booked in with the camera by photographing the delivery note.

When the mains are off, work continues for eight hours on the new battery, card payments included, as long as there
is a mobile network. Receipts are sent by message in the meantime and can be printed later.
"""

TRAPS = """
This handbook is meant for volunteers who count moths for the atlas project. No previous knowledge is needed. Please
read chapters one to four before the first night and the rest when you have a cup of tea in your hand.

Choose a site that you can reach in the dark without crossing a road. It should lie at least fifty metres from street
lamps and be out of the wind. Use one site for the whole season, even if the neighbour's garden appears to be better.

The trap consists of a bucket, a funnel, a lamp and egg boxes. Stand it on level ground, put the egg boxes in with
the hollows downwards, and connect the lamp only when everything else is in place. A stone on the lid prevents
accidents with foxes.

Switch on at dusk and off at dawn, once a week, if possible on the same weekday. Do not trap when gusts exceed thirty
kilometres an hour, in thunderstorms or at temperatures under four degrees. Note the weather at the start in any
case.

Count in the morning, in the shade. Lift out the egg boxes one by one and name what you know; everything else is
photographed from above with the ruler in the picture. The animals are set free in dense vegetation two metres from
the trap.

Names come from the list of 412 species that is enclosed. If you hesitate between two, write down both with a stroke
in between. An honest question mark is worth more to the project than a wrong name.

Send the sheet by the tenth of the following month, even when nothing was caught, for a zero is a result. Photographs
can be uploaded in packs of fifty. Label them with your site number, the date and a running number.

The lamp gives off ultraviolet light. Never look into it from close by, and wear the glasses when you empty the trap
before sunrise. Cables must lie where nobody can stumble, and plugs off the ground.

Rare species are checked by two experts. You may be asked for a further picture of the hind wing. Please do not
publish the places of protected species, since collectors read the internet too.

In winter the trap is washed with hot water without soap, dried and stored with the lamp removed. Lamps lose strength
with age; they are replaced by the project every third year, free of charge.
"""
TRAPS_NEW = """
Thank you for taking part in the moth atlas, now in its second decade. These pages replace the handbook of earlier
years. New volunteers will find a film of twelve minutes on the project site which shows a complete night from dusk
to breakfast.

A good place for the trap is a sheltered corner with shrubs of several kinds. Gardens, cemeteries and the edges of
allotments are all suitable, roofs and balconies from this year on as well. Enter the coordinates once, and tell us
if anything changes nearby.

Since spring the project has used a trap that folds. Open the fabric until the rods click, hang the light strip in
the loops and lay in the cardboard ladders. It weighs less than a kilogram and should be tied down on every side with
the pegs.

Trapping nights are announced by message three days before, so that all sites in a region work simultaneously. If you
are unable to attend, skip the night instead of shifting it. A sensor records temperature and wind by itself.

In the morning close the zip, put the entire trap in a cool room for an hour and then take pictures of the calm
animals on the ladders. Counting has been taken over by a program; your task is to check its suggestions and to
release the moths in the evening.

The program knows some nine hundred species and states how sure it is. Below eighty per cent it asks you. Look at the
three comparison plates, decide, or pass the question on to the forum, where somebody is always awake.

Data are sent automatically as soon as the telephone is within reach of a network. Under My Nights you can see what
has arrived, correct mistakes until the end of the year and compare your garden with the average of the region.

The light strip works on five volts and at wavelengths that do no harm to the eyes. Nevertheless it should not be
left shining at a neighbour's bedroom. The battery must be charged under supervision and never on a bed.
"""

# Title, the first version's sections, and the eight sections that versions two to five rewrite, two each.
MANUALS = (
    ("HP-40 hand pump: installation and care", variants(PUMP), variants(PUMP_NEW)),
    ("Tally cash register: quick guide", variants(REGISTER), variants(REGISTER_NEW)),
    ("Moth atlas: handbook for volunteers", variants(TRAPS), variants(TRAPS_NEW)),
)
VERSIONS = 5


def version(manual: int, number: int) -> tuple[str, str]:
    """Give the title and text of version *number*, from 1."""
    title, first, rewritten = MANUALS[manual]
    changed = 2 * (number - 1)
    sections = [*rewritten[:changed], *first[changed:]]
    text = "\n\n".join(f"{place}. {section}" for place, section in enumerate(sections, 1))
    return f"{title} (version {number})", text

"""Pages that are the same but for a number that matters to people and hardly to a resemblance."""

from samples.grammar import variants

LONG = """
Form {form}: guidance notes. Use form {form} if you own or rent a dwelling that was occupied for fewer than ninety
days in the past year. Complete it in black ink and in capital letters. If a question does not apply to you, draw a
line through the box instead of leaving it empty, because empty boxes are returned. Section A asks for the person
responsible for the dwelling. Where several people are responsible, name the one who should receive letters, and list
the others on the continuation sheet. Section B concerns the dwelling itself. The reference number is printed at the
top right of the last assessment; if you have not received an assessment, write "none". Floor areas are measured
between the inside faces of the walls and rounded down to whole square metres. Cellars and lofts count only when they
can be heated. In section C give the nights on which someone slept in the dwelling. A calendar is printed on the
reverse to help you. Estimates are accepted if they are marked as such, but not for the months of July and August.
Section D is the declaration. It must be signed by hand; a signature by a representative requires a power of
attorney, unless one is already held by the office. Enclose copies, never originals, as they cannot be sent back. The
completed form has to arrive by the thirtieth of April. Late forms are subject to a surcharge of two per cent for
each month begun. If your circumstances change after you have sent it, tell us within four weeks by letter. People
who find it difficult to read or write may have the form filled in at any citizens' office; please bring proof of
identity and allow half an hour. Personal data are kept for ten years and then destroyed.

Safety data sheet for cleaning concentrate {code}. Identification: {code} is an alkaline concentrate for floors in
commercial kitchens. It is supplied in canisters of ten litres and must be diluted before use. Hazards: causes severe
burns to skin and eyes. Do not breathe the mist. Keep away from children and from acids, with which it reacts under
development of heat. First aid: rinse splashes off at once under running water for at least fifteen minutes, remove
contaminated clothing, and call a doctor if the eyes have been affected. After swallowing, rinse the mouth and give
small sips of water; do not induce vomiting. Fire: the product does not burn. Extinguish fires in the surroundings
with whatever suits them and cool closed canisters with a spray, standing at a distance. Spillage: bind small amounts
with sand, larger ones with an absorbent, and prevent them from entering drains. Slippery surfaces have to be marked.
Handling: wear gloves of nitrile, goggles and an apron. Pour the concentrate into the water and not the other way
round. Storage: cool, upright, in the original canister, apart from food. Protect from frost, since the product
separates at temperatures below three degrees. Disposal: hand over residues to a collection point for hazardous
waste; empty canisters that have been rinsed may go to recycling. Transport: the regulations on corrosive liquids
apply from a total of sixty litres. Ecological information: the surfactants contained are degradable by more than
ninety per cent within four weeks. This sheet was revised on the basis of current knowledge; it describes the product
with regard to safety and does not guarantee properties.

Tender documents for lot {lot}: cleaning of windows. The district invites offers for the cleaning of windows in its
schools and offices. Lot {lot} covers the buildings listed in annex one. The contract runs for two years and may be
extended twice by one year. Windows are to be cleaned on both sides, with frames and sills, three times a year,
during the school holidays where schools are concerned. Work above a height of four metres requires lifting
platforms, which the contractor has to provide. Offers should state a price for each building and an hourly rate for
additional work. Prices are fixed for the first year and follow the index of wages afterwards. Bidders must prove
that they have carried out at least three comparable contracts during the last five years, that they pay the agreed
wage and that they are insured against damage up to one million. The buildings can be visited on two dates, for which
registration is necessary. Questions are accepted in writing until ten days before the deadline, and the answers will
be sent to everyone who has requested the documents. The price counts for sixty per cent, the concept for sparing use
of water for twenty-five, and the training of staff for fifteen. Offers are opened in the presence of two officials;
bidders are not admitted. The district reserves the right to award no contract if all offers exceed the estimate by
more than a fifth. Unsuccessful bidders are informed of the reasons at least two weeks before the award.
"""

SHORT = """
Form {form}. Please return form {form} signed to counter four.

Flight {form} to Quillport is now boarding. Passengers for flight {form} please go to the gate.

Room {form} is closed. For room {form} use the stairs behind the lift.

Bus line {form} does not run today. Tickets for line {form} remain valid on the tram.
"""

# The numbers of each long and each short page.
LONG_NUMBERS = (("1506", "1507", "1508"), ("K-211", "K-212"), ("3", "4"))
SHORT_NUMBERS = (("1506", "1507"), ("482", "428"), ("12", "21"), ("9", "6"))


def fill(page: str, number: str) -> str:
    for field in ("{form}", "{code}", "{lot}"):
        page = page.replace(field, number)
    return page


LONG_PAGES = variants(LONG)
SHORT_PAGES = variants(SHORT)

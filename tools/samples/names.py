"""Names of people, places and bodies, all invented."""

FIRST_NAMES = """
Agnes Albin Amara Anselm Aurelio Beatrix Benno Branka Calder Celestine Corin Dagny Delphine Edda Eamon Elowen
Farid Fenella Florian Gerda Gideon Halina Hanno Imke Ingram Isolde Jorun Juna Kasimir Keziah Lambert Leocadia
Ludo Maren Matteo Mirela Nadir Noor Odile Orson Paloma Piet Quentin Ragna Rosalind Ruben Sabela Sorrel Tamsin
Thaddeus Ulla Vesna Wendel Ximena Yannick Zora
"""
FIRST = FIRST_NAMES.split()
WOMEN = ("Agnes", "Beatrix", "Celestine", "Delphine", "Edda", "Fenella", "Gerda", "Halina", "Maren", "Rosalind", "Ulla")
MEN = ("Albin", "Anselm", "Benno", "Calder", "Eamon", "Gideon", "Ingram", "Kasimir", "Lambert", "Orson", "Thaddeus")
LAST_NAMES = """
Abernol Ashdown Barrowby Bellweather Birkmose Brandquist Calloway-Finch Castellane Corvane Dalgarth Drummoyne
Eastlake Ellingrud Farrowgate Fenwright Garrick-Shaw Grauman Halloran-West Hexley Holtby Iverdale Jessamine
Kettering Kronholt Lachapelle Larkspur Lindqvale Marchetti-Rowe Merriweather Morrowind Nakagami Nethersole Obuya
Okonjo-Reyes Pemberlow Petrakova Pike Quarrington Ravensholm Rookwood Sandoval-Pryce Silverdahl Stanhope-Li
Tallentire Thornquist Umberleigh Vandermolen Vasquez-Holm Wainfleet Weatherall Wickersham Yarrowby Zielonka
"""
LAST = LAST_NAMES.split()
POOLS: dict[str, tuple[str, ...]] = {
    "town": (
        "Harrowmere",
        "Pellworth",
        "Saint Orin",
        "Kestrel Bay",
        "Oldwater",
        "Brackenford",
        "Lindmouth",
        "Tarn Hollow",
        "Ashgrove Cross",
        "Vellin",
        "Dunmarrow",
        "Quillport",
        "Nettlecombe",
        "Upper Wray",
        "Mossgate",
        "Copperhythe",
        "Fallowfield",
        "Greywick",
        "Sandling",
        "Thistleby",
        "Port Amity",
        "Ravelston",
        "Elmstead Quay",
        "Cold Barton",
        "Wexcombe",
        "Marlow's Reach",
        "Iron Hill",
        "Larch Valley",
        "Eddington Moor",
        "Stowbeck",
    ),
    "street": (
        "Tanner Street",
        "Gallows Lane",
        "Mill Row",
        "Station Parade",
        "Quarry Road",
        "Chapel Rise",
        "Ropewalk",
        "Pilot Street",
        "Saddlers' Yard",
        "Orchard Terrace",
        "Weir Lane",
        "Lower Market Street",
    ),
    "paper": (
        "Harrowmere Courier",
        "Lindmouth Echo",
        "Valley Gazette",
        "Kestrel Bay Tribune",
        "Morning Ledger",
        "Northern Plain Post",
    ),
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "month": ("January", "February", "March", "April", "May", "June", "September", "October", "November"),
    "club": (
        "Harrowmere Rovers",
        "Pellworth Athletic",
        "Kestrel Bay Wanderers",
        "Oldwater Town",
        "Lindmouth Mariners",
        "Brackenford United",
        "Vellin City",
        "Dunmarrow Albion",
        "Quillport Harbour",
        "Greywick Foresters",
        "Sandling Borough",
        "Thistleby Vale",
        "Ravelston Thistle",
        "Stowbeck Rangers",
        "Copperhythe Miners",
        "Port Amity Dockers",
    ),
    "charity": (
        "the lifeboat station",
        "the children's hospice",
        "the night shelter",
        "the mountain rescue team",
        "the village hall roof fund",
        "the guide dog school",
        "the public library's reading van",
        "the music fund for schools",
    ),
    "trade": (
        "engine fitter",
        "schoolteacher",
        "ferry pilot",
        "district nurse",
        "bookbinder",
        "plant breeder",
        "signalman",
        "pharmacist",
        "organ builder",
        "surveyor",
        "dairy farmer",
        "court interpreter",
        "glass cutter",
        "weather observer",
    ),
}


def departed(pen) -> dict[str, str]:
    """Cast the person of an obituary."""
    woman = pen.below(2) == 0
    first = pen.pick(WOMEN if woman else MEN)
    words = ("she", "her", "her", "She", "Her", "wife") if woman else ("he", "his", "him", "He", "His", "husband")
    roles = dict(zip(("he", "his", "him", "He", "His", "husband"), words, strict=True))
    return {"first": first, "family": pen.pick(LAST), **roles}

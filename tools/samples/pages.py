"""What surrounds an article on a page: navigation, footers, and a notice that outweighs what it is attached to."""

from samples.grammar import variants

HEADERS = variants("""
Home | News | Sport | Weather | Tides | Letters | Subscribe | Sign in

Menu: Front page, Our region, Opinion, Puzzles, Births and deaths, Jobs. Search this site

You are here: Start > Archive > Articles. Print this page. Send it to a friend. Larger type

Today's paper. Yesterday's paper. Shop. Reader trips. Advertise with us. Help
""")
FOOTERS = variants("""
Copyright by the publisher. Imprint. Privacy. Terms of use. Follow us on the notice board. Back to top

Most read: Ten ways to keep slugs out; Why the ferry is always late; Quiz: do you know your bridges? Contact the
newsroom.

Did you like this article? Give it a star. Articles by the same author. Related subjects: traffic, council, people

All rights reserved. Reproduction in schools permitted. Delivery problems? Ring us before ten. Site map
""")

COOKIES = """
We and our 214 partners store small files on your device and read them again, in order to remember your basket, to
count visits and to show advertisements that suit you. Some of these files are necessary for the shop to work and
cannot be switched off. For all others we ask for your consent, which you may give or refuse as a whole or purpose by
purpose and which you can withdraw at any time at the foot of every page. If you refuse, you will see the same number
of advertisements, but they will be chosen by chance. Data may be passed to countries where the level of protection
is lower than here. Details, storage periods and the list of partners are found in our privacy statement, which we
last changed in October.
"""
COOKIES = " ".join(COOKIES.split())

"""Short stories in English, German, French and Spanish: translations of each other, and some that stand alone."""

from samples.grammar import Subject, subjects

# Each story four times, in the order of LANGUAGES.
LANGUAGES = ("en", "de", "fr", "es")
TRANSLATED_BANK = """
The island that sells its silence
The island of Little Holm has twenty-six inhabitants and, since last summer, a new export: silence. Visitors hand
over their telephones at the jetty and receive a wooden tag in return. For three days they hear the wind, the sheep
and, at noon, the bell of the chapel. "In the beginning people whisper," says the innkeeper Imke Ravensholm. "On the
second day they stop, and on the third they sing while washing up." The rooms are booked until October. The income
pays for the school, which has four pupils, and for a new roof on the boat shed. A hotel chain has asked whether the
idea may be copied. The islanders answered by postcard, with one word: "Quietly."
===
Die Insel, die ihre Stille verkauft
Die Insel Little Holm hat sechsundzwanzig Einwohner und seit dem vergangenen Sommer eine neue Ware: die Stille. Am
Anleger geben Besucher ihr Telefon ab und bekommen dafür eine Marke aus Holz. Drei Tage lang hören sie Wind, Schafe
und mittags die Glocke der Kapelle. „Am Anfang flüstern die Leute", sagt die Wirtin Imke Ravensholm. „Am zweiten Tag
hören sie damit auf, und am dritten singen sie beim Abwaschen." Die Zimmer sind bis Oktober ausgebucht. Von den
Einnahmen werden die Schule mit ihren vier Kindern und ein neues Dach für den Bootsschuppen bezahlt. Eine Hotelkette
fragte an, ob sie die Idee übernehmen dürfe. Die Insulaner antworteten auf einer Postkarte mit einem einzigen Wort:
„Leise."
===
L'île qui vend son silence
L'île de Little Holm compte vingt-six habitants et, depuis l'été dernier, une nouvelle marchandise : le silence. Au
débarcadère, les visiteurs déposent leur téléphone et reçoivent en échange un jeton de bois. Pendant trois jours, ils
n'entendent que le vent, les moutons et, à midi, la cloche de la chapelle. « Au début, les gens chuchotent, raconte
l'aubergiste Imke Ravensholm. Le deuxième jour, ils arrêtent, et le troisième, ils chantent en faisant la vaisselle.
» Les chambres sont réservées jusqu'en octobre. Les recettes financent l'école, qui a quatre élèves, et un toit neuf
pour le hangar à bateaux. Une chaîne d'hôtels a demandé si elle pouvait reprendre l'idée. Les insulaires ont répondu
par carte postale, d'un seul mot : « Doucement. »
===
La isla que vende su silencio
La isla de Little Holm tiene veintiséis habitantes y, desde el verano pasado, un producto nuevo: el silencio. En el
muelle los visitantes entregan el teléfono y reciben a cambio una ficha de madera. Durante tres días oyen el viento,
las ovejas y, a mediodía, la campana de la capilla. «Al principio la gente susurra», cuenta la posadera Imke
Ravensholm. «Al segundo día lo dejan, y al tercero cantan mientras friegan los platos». Las habitaciones están
reservadas hasta octubre. Los ingresos pagan la escuela, que tiene cuatro alumnos, y un tejado nuevo para el
cobertizo de las barcas. Una cadena de hoteles preguntó si podía copiar la idea. Los isleños contestaron con una
postal de una sola palabra: «Despacito».
===
A piano on the mountain
When the hut on the Tarrow saddle closed for good, one thing remained inside: a piano, carried up by eight men in
1927 and never tuned since. This summer a student of music found it under a tarpaulin. With pliers, felt from an old
hat and eleven evenings of patience she brought seventy of the eighty-eight keys back to life. Now hikers stop there
and play, most of them badly, some of them in tears. The alpine club wanted to take the instrument to a museum in the
valley, but nobody could say how the eight men had got it through the door. So it stays where it is. A tin beside it
collects coins for a new string.
===
Ein Klavier auf dem Berg
Als die Hütte am Tarrowsattel für immer schloss, blieb eines zurück: ein Klavier, 1927 von acht Männern
hinaufgetragen und seither nie gestimmt. In diesem Sommer entdeckte es eine Musikstudentin unter einer Plane. Mit
einer Zange, dem Filz eines alten Hutes und elf geduldigen Abenden weckte sie siebzig der achtundachtzig Tasten
wieder auf. Nun machen Wanderer dort Rast und spielen, die meisten schlecht, einige unter Tränen. Der Alpenverein
wollte das Instrument in ein Museum im Tal bringen, doch niemand wusste, wie die acht Männer es durch die Tür
bekommen hatten. Also bleibt es, wo es ist. In einer Büchse daneben wird für eine neue Saite gesammelt.
===
Un piano sur la montagne
Lorsque le refuge du col de Tarrow a fermé définitivement, une seule chose y est restée : un piano, monté à dos
d'homme par huit porteurs en 1927 et jamais accordé depuis. Cet été, une étudiante en musique l'a découvert sous une
bâche. Avec une pince, le feutre d'un vieux chapeau et onze soirées de patience, elle a ranimé soixante-dix des
quatre-vingt-huit touches. Désormais les randonneurs s'y arrêtent et jouent, la plupart assez mal, certains les
larmes aux yeux. Le club alpin voulait descendre l'instrument dans un musée de la vallée, mais personne n'a su dire
comment les huit hommes lui avaient fait passer la porte. Il reste donc là-haut. À côté, une boîte en fer recueille
des pièces pour une corde neuve.
===
Un piano en la montaña
Cuando el refugio del collado de Tarrow cerró para siempre, dentro quedó una sola cosa: un piano que ocho hombres
habían subido en 1927 y que nadie había vuelto a afinar. Este verano una estudiante de música lo encontró debajo de
una lona. Con unos alicates, el fieltro de un sombrero viejo y once tardes de paciencia devolvió la vida a setenta de
las ochenta y ocho teclas. Ahora los excursionistas se detienen y tocan, casi todos mal, algunos con lágrimas. El
club alpino quería llevarse el instrumento a un museo del valle, pero nadie supo explicar cómo lo habían hecho pasar
por la puerta aquellos ocho hombres. Así que ahí sigue. Una lata recoge monedas para comprar una cuerda nueva.
===
The baker who delivers by boat
Every morning at half past four Ruben Thornquist loads 340 rolls into a rowing boat and sets out across the lake. The
villages on the far shore have had no shop for years, and the road around takes an hour. He rings a ship's bell at
eleven jetties; whoever wants bread lets down a basket. He writes debts in chalk on the inside of the hull, where the
rain cannot reach them. Two years ago a tourist offered him an electric motor. He thanked her and declined, since the
noise would frighten the grebes, and the grebes, he says, were there first. On Sundays he rows without bread, for
pleasure.
===
Der Bäcker mit dem Ruderboot
Jeden Morgen um halb fünf lädt Ruben Thornquist 340 Brötchen in ein Ruderboot und fährt über den See. Die Dörfer am
anderen Ufer haben seit Jahren keinen Laden mehr, und auf der Straße dauert es eine Stunde außen herum. An elf Stegen
läutet er eine Schiffsglocke; wer Brot möchte, lässt einen Korb herab. Die Schulden schreibt er mit Kreide innen an
die Bordwand, wo der Regen nicht hinkommt. Vor zwei Jahren wollte ihm eine Urlauberin einen Elektromotor schenken. Er
bedankte sich und lehnte ab: Das Geräusch würde die Haubentaucher erschrecken, und die waren, sagt er, zuerst da.
Sonntags rudert er ohne Brot, zum Vergnügen.
===
Le boulanger qui livre en barque
Tous les matins à quatre heures et demie, Ruben Thornquist charge 340 petits pains dans une barque et traverse le
lac. Les villages de l'autre rive n'ont plus de magasin depuis des années, et il faut une heure pour faire le tour
par la route. À onze pontons, il sonne une cloche de bateau ; ceux qui veulent du pain descendent un panier. Il note
les dettes à la craie à l'intérieur de la coque, à l'abri de la pluie. Il y a deux ans, une touriste a voulu lui
offrir un moteur électrique. Il l'a remerciée et a refusé : le bruit effraierait les grèbes, et les grèbes, dit-il,
étaient là avant lui. Le dimanche, il rame sans pain, pour le plaisir.
===
El panadero que reparte en barca
Cada mañana, a las cuatro y media, Ruben Thornquist carga 340 panecillos en un bote de remos y cruza el lago. Los
pueblos de la otra orilla llevan años sin tienda y por carretera se tarda una hora en dar la vuelta. En once
embarcaderos hace sonar una campana de barco; quien quiere pan baja una cesta. Apunta las deudas con tiza en la parte
de dentro del casco, donde no llega la lluvia. Hace dos años una turista quiso regalarle un motor eléctrico. Él le
dio las gracias y dijo que no, porque el ruido asustaría a los somormujos, que, según él, estaban antes. Los domingos
rema sin pan, por gusto.
"""
TRANSLATED: list[Subject] = subjects(TRANSLATED_BANK)

ALONE_BANK = """
Wochenmarkt zieht auf den Rathausplatz
Der Wochenmarkt von Mossgate findet ab Mai wieder auf dem Rathausplatz statt. Zwölf Jahre lang mussten die Händler
auf den Parkplatz am Sportheim ausweichen, weil das Pflaster unter der Last der Lieferwagen nachgab. Nun liegt ein
neuer Unterbau aus Schotter darunter, der auch Lastwagen trägt. Achtundvierzig Stände haben sich angemeldet, darunter
eine Käserei, zwei Imker und ein Scherenschleifer, der seine Maschine mit Pedalen antreibt. Parken kann man hinter
der Bücherei; die erste Stunde ist frei. Wer etwas verkaufen möchte, das er im eigenen Garten geerntet hat, braucht
dafür keine Genehmigung und zahlt nur zwei Münzen für den Besen.
===
Großmutters Rezept für Quittenbrot
Die Quitten mit einem groben Tuch abreiben, bis der Flaum verschwunden ist, in Stücke schneiden und mit Schale und
Kernhaus weich kochen. Das Mus durch ein Sieb streichen, wiegen und mit drei Vierteln seines Gewichts an Zucker
langsam einkochen. Dabei rühren und lange Ärmel tragen, denn die Masse spritzt. Wenn der Löffel auf dem Topfboden
eine Straße zieht, die offen bleibt, auf ein Blech gießen, glätten und bei offener Tür an einem warmen Ort trocknen
lassen. Nach einer Woche in Rauten schneiden und zwischen Lorbeerblätter in eine Dose legen.
===
La bibliothèque prête aussi des outils
À la bibliothèque de Sandling, on peut désormais emprunter une perceuse comme on emprunte un roman. Au sous-sol,
derrière les atlas, une ancienne réserve abrite deux cent dix outils, de la scie à onglet au niveau à bulle. Les
premiers mois ont surpris tout le monde : l'objet le plus demandé n'est ni la ponceuse ni l'échelle, mais un appareil
à repriser les chaussettes, légué par une mercière. Chaque prêt dure deux semaines. Les retards se paient en nature :
il faut rapporter l'outil affûté, ou huiler celui d'un autre.
===
Comment tailler un pommier âgé
On ne rajeunit pas un vieux pommier en une saison. La première année, retirez le bois mort et les branches qui se
croisent, rien de plus. La deuxième, ouvrez le centre pour que la lumière descende jusqu'au tronc ; un chapeau lancé
à travers l'arbre devrait ressortir de l'autre côté. La troisième seulement, raccourcissez les charpentières,
toujours au-dessus d'un rameau tourné vers l'extérieur. Coupez par temps sec, entre les grands froids et le
gonflement des bourgeons, avec une lame propre. Les plaies d'un diamètre inférieur à celui d'une tasse se referment
seules et n'ont besoin d'aucun mastic.
===
El tren de los jueves vuelve a pasar
Después de nueve años de vía muerta, el tren de los jueves vuelve a unir Copperhythe con los pueblos de la sierra.
Son dos vagones azules y una locomotora prestada, y nadie espera que den beneficios. Los alcaldes echaron otras
cuentas: cuántos vecinos dejaron de ir al médico, cuántos bares cerraron y cuántas abuelas no conocen a sus nietos.
El viaje dura setenta minutos y cuesta lo mismo que un café con leche. En la primera salida el maquinista tuvo que
frenar cuatro veces por culpa de las cabras, que se habían acostumbrado a dormir entre los raíles.
===
Instrucciones para cuidar un limonero en maceta
El limonero quiere luz, pero no la del mediodía detrás de un cristal. Riégalo cuando los dos primeros centímetros de
tierra estén secos y deja que el agua salga por debajo; lo que quede en el plato a la media hora se tira. De marzo a
septiembre agradece abono cada quince días. Si las hojas amarillean y los nervios siguen verdes, le falta hierro, y
suele bastar con regarlo con agua de lluvia. En invierno prefiere un sitio fresco y claro a una habitación con
calefacción. Cámbialo de maceta cada tres años, a una que sea solo un dedo más ancha.
"""
ALONE: list[Subject] = subjects(ALONE_BANK)

# Near copies of the pieces that stand alone: (number, what is replaced and by what ..., what is added at the end).
COPIED = (
    (
        0,
        (("Achtundvierzig Stände", "Einundfünfzig Stände"), ("zwei Imker", "drei Imker")),
        "Bei Sturm fällt der Markt aus; Auskunft gibt das Ordnungsamt.",
    ),
    (
        2,
        (("deux cent dix outils", "deux cent trente outils"), ("deux semaines", "trois semaines")),
        "La bibliothèque est fermée le lundi.",
    ),
    (
        4,
        (("nueve años", "diez años"), ("setenta minutos", "setenta y cinco minutos")),
        "Los billetes se compran en el propio tren.",
    ),
)

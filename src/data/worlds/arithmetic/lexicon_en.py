"""English fillers: people, places, goods. Goods are `singular/plural`; the slot `{items}` is the plural of `{item}`."""

from __future__ import annotations

from .lists import words

WOMEN = words("""
Ada Agnes Aisha Alba Alice Alma Amara Amelie Anika Anouk Antonia Astrid Aurora Beatriz Bella Bianca Bridget
Camila Carla Carmen Cecilia Celia Chiara Clara Cora Dahlia Daphne Delia Diana Dora Edith Elena Elif Elsa Emilia
Esme Esther Eva Farah Fatima Felicity Fiona Flora Freya Gemma Gerda Greta Gwen Hana Harriet Hazel Hedda Helena
Hilda Ida Imani Ines Ingrid Irene Iris Isla Ivana Jana Jasmine Joanna Josie Judith Juno Kamala Karin Katya Keiko
Kezia Kirsten Lara Latoya Leila Lena Leonie Lidia Lila Linnea Lotte Louisa Lucia Lydia Mabel Magda Maja Malika
Mara Marcela Margit Marisol Martha Matilda Maya Mei Mildred Mina Mira Miriam Monika Nadia Naomi Nell Nerys Nina
Noor Nora Odette Olga Olive Pavla Pearl Petra Phoebe Pia Priya Ramona Renata Rhea Rosa Roxana Ruth Sabine Salma
Saskia Selma Shirin Signe Silvia Simone Sofia Stella Sunita Svetlana Tabitha Tamara Tara Tessa Thea Tilda Tomiko
Ursula Valeria Vera Violet Vivian Wanda Wilma Xenia Yara Yasmin Yolanda Yuki Zara Zelda Zofia
""")

MEN = words("""
Abel Adil Adrian Ahmed Aidan Albert Aldo Alfred Ambrose Anders Andrei Angus Anton Arjun Arne Arthur Aziz Bartek
Basil Ben Bilal Björn Boris Bruno Calvin Carlos Casper Cedric Cesar Clive Conrad Cyril Damian Dario David Denis
Desmond Diego Dieter Dominic Duncan Edgar Edmund Eduardo Eero Elias Emil Enzo Erik Ernest Ethan Fabian Felix
Fergus Filip Finn Franz Gareth Gaspar Georg Gideon Gilbert Giles Gustav Hamid Hans Harold Hassan Hector Henrik
Hiroshi Hugo Igor Imran Isaac Ivan Jakob Jamal Jarek Javier Jens Jerome Joaquin Jonas Jorge Josef Julian Kai
Karim Kenji Kiran Klaus Kofi Kurt Lars Laszlo Leif Leo Leon Lionel Louis Luca Ludwig Luis Magnus Malik Manuel
Marco Marek Mario Martin Mateo Maurice Milan Milos Mohan Morris Nabil Nathan Neville Niels Nikhil Niko Noah Oleg
Oliver Omar Orson Oscar Otto Owen Pablo Patrick Pavel Pedro Percy Piotr Quentin Rafael Rajesh Ralph Ramon Rashid
Raul Reuben Ricardo Roland Rory Rupert Sami Samuel Sanjay Sergio Seth Silas Simon Stefan Sven Tarek Tariq Theo
Thomas Tobias Tomas Tristan Tyrone Ugo Umar Uwe Vasily Victor Vikram Viktor Vincent Walter Wendell Wilfred
Xavier Yannick Yusuf Zane
""")

PLACE_HEADS = words("""
Alder Amber Ash Badger Bell Birch Black Bramble Briar Bright Cedar Chest Cliff Clover Copper Coral Crane Cross
Dove Eagle Elder Elm Falcon Fern Fox Glen Gold Granite Green Grey Hart Hawk Hazel Heather Heron High Holly Iron
Ivy Juniper Kings Lake Lark Laurel Lime Linden Long Maple Marble Marsh Meadow Mill Moor Moss North Oak Otter Owl
Pearl Pebble Pine Plum Quarry Rain Raven Red River Robin Rook Rose Rowan Salt Sand Silver South Spring Star
Stone Sun Swan Thistle Thorn Tide Vale Violet Wal West White Wild Willow Wind Winter Wolf Wren Yarrow
""")
PLACE_TAILS = words("""
bank bay borough bourne bridge brook burn bury castle combe cote crest croft dale den down fell field ford gate
grove hall ham haven heath hill holm hurst island land leigh mead mere minster moor mont mouth park point pool
port ridge shaw shire side stead stoke stone thorpe ton vale view ville ward water way well wick wood worth
""")

# Times, occasions and small colour that any opening can take.
WHEN = """
on Monday; on Tuesday; on Wednesday; on Thursday; on Friday; last Saturday; this Sunday; this spring;
last summer; in autumn; over the winter; before the holidays; after the long weekend;
at the start of the season; towards the end of the month; in the first week of June; during the school break;
just before closing; early one morning; one rainy afternoon; late in October; at midsummer; around New Year;
since the reopening; for the spring fair; for the harvest festival; for a village wedding;
for the anniversary; ahead of the big storm; during the heat wave; right after breakfast; shortly before noon;
every other week; as a favour to an old friend; for the first time; during the town festival;
while the owner is on leave; after the thaw; before the rains; between two holidays;
in the quiet weeks of February; when the days grow short; on market day; for the charity drive;
ahead of inspection; for a regional contest; during stocktaking; after a busy May; in the run-up to Easter;
once the roads reopened
"""

FIELDS: dict[str, str] = {
    "bottled": """
        bottle of lemonade/bottles of lemonade; jar of pickles/jars of pickles; flask of syrup/flasks of syrup;
        bottle of cider/bottles of cider; tin of peaches/tins of peaches; jar of mustard/jars of mustard;
        vase/vases; carton of juice/cartons of juice; bottle of vinegar/bottles of vinegar; mug/mugs;
        teacup/teacups; egg/eggs; jar of plum jam/jars of plum jam; bottle of olive oil/bottles of olive oil;
        light bulb/light bulbs; wine glass/wine glasses; can of soup/cans of soup;
        porcelain bowl/porcelain bowls; perfume vial/perfume vials; flower pot/flower pots;
        honey jar/honey jars; glass lantern/glass lanterns""",
    "ware": """
        scarf/scarves; candle/candles; kite/kites; lantern/lanterns; wooden spoon/wooden spoons; basket/baskets;
        pancake/pancakes; waffle/waffles; bracelet/bracelets; postcard/postcards; cactus/cactuses;
        bouquet/bouquets; straw hat/straw hats; pretzel/pretzels; soap bar/soap bars; paper crane/paper cranes;
        clay whistle/clay whistles; cheese tart/cheese tarts; leather purse/leather purses; badge/badges;
        birdhouse/birdhouses; doormat/doormats; fruit skewer/fruit skewers; tea towel/tea towels;
        knitted cap/knitted caps; wind chime/wind chimes; magnet/magnets""",
    "gear": """
        kayak/kayaks; tent/tents; sewing machine/sewing machines; mountain bike/mountain bikes;
        projector/projectors; pair of skis/pairs of skis; cello/cellos; trailer/trailers; chainsaw/chainsaws;
        floor sander/floor sanders; telescope/telescopes; generator/generators; rowing boat/rowing boats;
        cement mixer/cement mixers; camper/campers; scaffold/scaffolds; drum kit/drum kits; tiller/tillers;
        snow blower/snow blowers; metal detector/metal detectors""",
    "cloth": """
        jacket/jackets; blanket/blankets; office chair/office chairs; rucksack/rucksacks; desk lamp/desk lamps;
        raincoat/raincoats; kettle/kettles; cushion/cushions; pair of boots/pairs of boots;
        cook book/cook books; tablecloth/tablecloths; toolbox/toolboxes; wall clock/wall clocks;
        bath towel/bath towels; sweater/sweaters; curtain/curtains; saucepan/saucepans; headset/headsets;
        yoga mat/yoga mats; suitcase/suitcases; quilt/quilts""",
    "fruit": """
        apple; pear; cherry; plum; apricot; orange; lemon; walnut; olive; fig; almond; peach; quince; mandarin;
        chestnut; hazelnut; mulberry; avocado; persimmon; nectarine""",
    "sheet": """
        leaflet/leaflets; concert poster/concert posters; menu/menus; school booklet/school booklets; map/maps;
        ballot paper/ballot papers; newsletter/newsletters; calendar/calendars; exam sheet/exam sheets;
        flyer/flyers; programme/programmes; coupon/coupons; brochure/brochures; songbook/songbooks;
        timetable/timetables""",
    "part": """
        hinge/hinges; gear wheel/gear wheels; toy car/toy cars; zip/zips; phone case/phone cases; bolt/bolts;
        spring/springs; plastic lid/plastic lids; chair leg/chair legs; pencil/pencils; key ring/key rings;
        comb/combs; door handle/door handles; tent peg/tent pegs; toothbrush/toothbrushes;
        belt buckle/belt buckles; valve/valves; circuit board/circuit boards; spoon/spoons;
        brass bell/brass bells; ceramic knob/ceramic knobs; brush/brushes""",
    "task": """
        envelope/envelopes; parcel label/parcel labels; chair/chairs; window/windows; gift box/gift boxes;
        invitation/invitations; crate/crates; lamp shade/lamp shades; garland/garlands;
        paving stone/paving stones; bookshelf/bookshelves; sandwich/sandwiches; costume/costumes;
        mailbox/mailboxes; toy train/toy trains; picture frame/picture frames; dumpling/dumplings;
        hanging basket/hanging baskets; tray/trays; stool/stools""",
    "sticker": """
        stamp/stamps; football card/football cards; photo/photos; pressed flower/pressed flowers; coin/coins;
        sticker/stickers; postcard/postcards; concert ticket/concert tickets; comic card/comic cards;
        badge/badges; butterfly print/butterfly prints; matchbox label/matchbox labels;
        recipe clipping/recipe clippings""",
    "garment": """
        shirt/shirts; choir robe/choir robes; apron/aprons; cushion cover/cushion covers; skirt/skirts;
        vest/vests; stage costume/stage costumes; flag/flags; tote bag/tote bags; sleeping bag/sleeping bags;
        uniform/uniforms""",
    "flower": """
        sunflower/sunflowers; lettuce/lettuces; tomato plant/tomato plants; marigold/marigolds;
        cabbage/cabbages; pepper plant/pepper plants; tulip/tulips; basil plant/basil plants; pumpkin/pumpkins;
        leek/leeks; poppy/poppies; aster/asters; cornflower/cornflowers; courgette/courgettes;
        bean plant/bean plants; kohlrabi/kohlrabis""",
    "dough": """
        rye bread; almond cake; pizza dough; ginger biscuits; flatbread; poppy-seed rolls; noodles; scones;
        brioche; oat crackers; cinnamon buns; pie crust; pancake mix; steamed buns; corn muffins; pretzels;
        sponge cake; dumplings""",
    "stuff": """
        flour; sugar; butter; semolina; oats; cocoa; ground almonds; rye meal; honey; potato starch;
        milk powder""",
    "vehicle": """
        van; delivery truck; minibus; old pickup; postal car; taxi; camper; ambulance; mobile library;
        coach""",
    "creature": """
        cat; terrier; parrot; goat; pony; tortoise; magpie; sheepdog; rabbit; canary; donkey; goose;
        hedgehog""",
    "colour": """
        blue; green; ochre; crimson; turquoise; cream; violet; grey; scarlet; mustard yellow; white; silver;
        teal""",
    "kin": """
        cousin; neighbour; uncle; aunt; old teacher; flatmate; colleague; grandmother; brother-in-law;
        pen friend; classmate; landlady; godfather; stepsister; nephew; former boss; best friend; choir leader;
        dentist; hairdresser""",
    "place_nearby": """
        railway bridge; town hall; old mill; lighthouse; post office; swimming baths; chapel; bus depot;
        canal lock; market square; fire station; football ground; botanical garden; quarry; water tower; museum""",
    "music": """
        folk songs; jazz; an opera; a podcast; the news; brass music; old waltzes; birdsong; a radio play;
        rock""",
    "weather": """
        fog; drizzle; bright sunshine; sleet; a gentle breeze; hail; heavy clouds; frost; a warm wind;
        thunder""",
    "snack": """
        a cheese sandwich; lentil soup; rice with beans; a bowl of noodles; baked potatoes; an omelette;
        dumplings; fish cakes; cold pasta; apple pie; a plate of salad; mushroom stew; toast with jam;
        roasted chickpeas""",
    "job": """
        carpenter; nurse; baker; librarian; plumber; gardener; tailor; clerk; welder; cook; violin maker;
        surveyor; electrician; florist; vet; translator; potter; beekeeper; roofer; bookbinder; watchmaker;
        locksmith; miller""",
}

MONTHS = words("""
January February March April May June July August September October November December
""")
NUMBER_WORDS = words("""
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty
""")
CURRENCIES = ("${}", "€{}", "£{}", "{} dollars", "{} euros", "{} pounds", "{} crowns", "{} francs", "{} rand")
"""How money is written; a problem keeps to one."""

DOCUMENTS: dict[str, tuple[str, ...]] = {
    "shop": ("Price list", "Shop notes", "Customer leaflet", "Counter sheet"),
    "work": ("Work sheet", "Spec sheet", "Workshop manual", "Shop-floor notes"),
    "farm": ("Season sheet", "Field notes", "Farm ledger", "Grower's guide"),
    "road": ("Route sheet", "Timetable", "Driver's handbook", "Travel notes"),
    "pay": ("Staff handbook", "Agreement", "Terms sheet", "Pay notes"),
    "kitchen": ("Recipe card", "Kitchen notes", "Cook's folder", "House recipes"),
    "house": ("House rules", "Data sheet", "Caretaker's notes", "Notice board"),
    "school": ("House rules", "Term handbook", "Notice board", "Information sheet"),
    "home": ("Family notes", "Fact sheet", "Household book", "Notice board"),
    "show": ("Price list", "Visitor guide", "House rules", "Programme notes"),
    "sport": ("Club handbook", "Fact sheet", "Notice board", "Season guide"),
}

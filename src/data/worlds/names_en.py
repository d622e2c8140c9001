"""English-looking names for the generated encyclopedia. All invented; a clash with a real name is chance."""

from __future__ import annotations

from .names import FreshNames

WOMEN = (
    "Ada Agnes Alma Amara Anneli Astrid Beatrix Berit Bridget Carmen Celia Clara Cora Daphne Delia Dorothea Edith "
    "Eleni Elsbeth Emmeline Esther Fatima Flora Frieda Gerda Greta Hanna Harriet Hedwig Ida Ilse Ines Ingrid Irma "
    "Isolde Johanna Judith Karin Leonora Linnea Lotte Lucia Magda Mairead Maren Marisol Matilda Mina Nadia Nora Odile "
    "Olga Oriel Paloma Petra Philippa Ragna Rhea Rosalind Saskia Selma Sigrid Solveig Tamsin Thea Ursula Vera Wanda "
    "Wilhelmina Yara Ysolde Zelda Zora"
).split()
MEN = (
    "Adrian Alasdair Albin Ambrose Anders Anselm Arvid August Barnaby Bastian Bertil Bruno Caspar Cedric Conrad Cyril "
    "Darius Desmond Edgar Edmund Eirik Emil Enoch Ernst Fabian Felix Ferdinand Florian Gideon Gilbert Gregor Gustav "
    "Hamish Harald Hector Hugo Ivo Jasper Joachim Jonas Julian Kaspar Konrad Lambert Leander Leif Lionel Lorenz Lucian "
    "Magnus Marius Mateo Milo Moritz Nestor Nils Olaf Orson Oskar Otto Pascal Quentin Rafe Ragnar Roland Rufus Rupert "
    "Silas Soren Stellan Tobias Torsten Ulrich Valentin Viggo Walter Wendel Yorick"
).split()
SURNAME_HEAD = (
    "Ash Barn Beck Birk Black Bran Brock Calder Carn Clay Corr Crane Dahl Darr Dorn Ebb Eld Fair Fen Ferr Finn Frost "
    "Gold Gray Grim Hale Hall Harr Hart Haw Heath Holm Hurst Ing Jern Kell Kirk Lang Lark Lind Loch Lund Marr Mead Mor "
    "Nord Oak Orr Pell Quill Rain Rav Rook Ros Rud Sal Sand Shaw Sund Tarn Thorn Tor Vant Vesk Wald Ward West Wick Wren"
).split()
SURNAME_TAIL = (
    "ley ton sen berg gren man well ford by quist wood mark stad field low more strom lund ner vik dal land son wick er"
).split()
TOWN_HEAD = (
    "Aber Alder Amber Arn Bal Barrow Bel Berg Bram Brenn Cal Carr Chal Cor Cray Dal Del Dun East Eck El Fal Fern Gal "
    "Glen Grim Hal Hollow Hol Il Kal Kes Kil Lan Lauer Lin Lor Mal Mar Mel Mill Mor Nar Nether New Nor Ober Or Osk Pel "
    "Pol Quar Ravens Ril Ros Sal Scar Sel Sil Sker Stav Sul Tal Tam Ter Thal Tor Ulm Under Val Ver Vis Wal Wen Wil Yar"
).split()
TOWN_TAIL = (
    "brook burn by cliff combe dale den fell ford gate grove ham haven heim hold holt hurst ing mere mouth ness port "
    "reach rick rode shaw stead stow strand thorpe ton vale ville water wick worth"
).split()
RIVER = (
    "Aldra Arve Bellen Brisk Caldon Corva Dunne Eldra Esk Farrow Gilda Harn Iver Jorl Kessa Lyre Marn Nadder Orve Pell "
    "Quenn Rilla Sarn Tavel Ulla Vern Wend Yarra Ziller Ambra Torne Wissel"
).split()
ADJECTIVE = (
    "Amber Bitter Borrowed Broken Burning Copper Crooked Distant Drowned Empty Fading Fallen Forgotten Frozen Gilded "
    "Glass Golden Hollow Hungry Idle Iron Ivory Last Leaden Lonely Long Lost Northern Pale Paper Quiet Restless Salt "
    "Scarlet Second Secret Seventh Silent Silver Sleeping Southern Stolen Stone Tall Unfinished Velvet Wandering White "
    "Wild Winter Wooden Yellow"
).split()
NOUN = (
    "Anchor Apple Archive Ash Balcony Bell Bird Boat Bridge Candle Carousel Chapel Clock Coast Compass Crown Door "
    "Dragonfly Ember Ferry Field Fire Flute Forest Fountain Fox Garden Gate Guest Harbour Harvest Heron Hill Horse "
    "House Island Key Kingdom Ladder Lake Lamp Lantern Ledger Letter Lighthouse Lock Machine Map Mask Meadow Mill "
    "Mirror Moth Mountain Night Oak Orchard Oracle Owl Passenger Pearl Pilgrim Quarry Rain Raven River Road Room Rose "
    "Sail Season Shadow Ship Shore Snow Song Sparrow Staircase Station Storm Street Summer Swan Thread Tide Tower "
    "Train Valley Violin Voyage Wall Watchman Well Wheel Window Wind Witness Wolf"
).split()
FIRM_TAIL = (
    "Works|Brothers|Mills|Yards|Trading|Partners|Foundry|& Sons|Company|Supply|Holdings|Manufactory|House|Line|Stores|"
    "Combine|Exchange|Group|Union|Industries"
).split("|")
EVENT_TAIL = (
    "Days|Cup|Week|Prize|Gathering|Meeting|Medal|Assembly|Trophy|Nights|Round|Crown|Challenge|Jubilee|Shield|Ribbon|"
    "Parade|Muster|Convention|Open"
).split("|")

TAGS = {
    "person": (
        "architect botanist cellist chemist clockmaker composer diplomat engineer engraver explorer gardener geologist "
        "historian inventor journalist linguist mapmaker mathematician navigator novelist painter photographer "
        "physician playwright poet potter sculptor surgeon surveyor weaver"
    ).split(),
    "town": (
        "Almark Brennia Carrow Dunmark Eastmere Fennland Galmoor Hartshire Isel Kessland Lowmark Marrin Northvale "
        "Ostria Pellmoor Quarland Rothmark Selwick Tarrow Umberland Vesmark Westfold"
    ).split(),
    "work": "novel film play opera mural ballad ballet memoir".split(),
    "company": (
        "brewing printing shipping glassmaking bookbinding clockmaking dyeing papermaking quarrying ropemaking "
        "shipbuilding spinning tanning tea toymaking milling"
    ).split(),
    "event": (
        "regatta|book fair|flower show|song contest|chess tournament|kite festival|sheepdog trial|film festival|"
        "baking contest|ski race|debating contest|cycling race"
    ).split("|"),
}


class EnglishNames(FreshNames):
    def _surname(self) -> str:
        return self.rng.choice(SURNAME_HEAD) + self.rng.choice(SURNAME_TAIL)

    def person(self) -> tuple[str, bool]:
        woman = self.rng.random() < 0.5
        first = WOMEN if woman else MEN
        return self.fresh(lambda: f"{self.rng.choice(first)} {self._surname()}"), woman

    def town(self) -> str:
        return self.fresh(lambda: self.rng.choice(TOWN_HEAD) + self.rng.choice(TOWN_TAIL))

    def work(self) -> str:
        rng = self.rng

        def title() -> str:
            form = rng.randrange(4)
            if form == 0:
                return f"The {rng.choice(ADJECTIVE)} {rng.choice(NOUN)}"
            if form == 1:
                return f"{rng.choice(NOUN)} of the {rng.choice(NOUN)}"
            if form == 2:
                noun = rng.choice(NOUN)
                return f"{'An' if noun[0] in 'AEIOU' else 'A'} {noun} for {rng.choice(WOMEN + MEN)}"
            return f"{rng.choice(ADJECTIVE)} {rng.choice(NOUN)}, {rng.choice(ADJECTIVE)} {rng.choice(NOUN)}"

        return self.fresh(title)

    def company(self) -> str:
        rng = self.rng
        return self.fresh(
            lambda: (
                f"{self._surname()} {rng.choice(FIRM_TAIL)}"
                if rng.random() < 0.6
                else f"{rng.choice(ADJECTIVE)} {rng.choice(NOUN)} {rng.choice(FIRM_TAIL)}"
            )
        )

    def event(self) -> str:
        rng = self.rng
        return self.fresh(lambda: f"{rng.choice(ADJECTIVE)} {rng.choice(NOUN)} {rng.choice(EVENT_TAIL)}")

    def tags(self, kind: str) -> list[str]:
        return TAGS[kind]

    def rivers(self) -> list[str]:
        return RIVER

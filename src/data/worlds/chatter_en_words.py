"""Fillers of the English small talk about things, food and what is out of doors.

Those of a slot fit wherever the slot is used, beside any filler of the slots around it.
"""

from __future__ import annotations

THINGS = {
    "items": """teaspoons corks buttons padlocks marbles thimbles ribbons whistles feathers seashells matchboxes crayons
        doorknobs postcards lanterns goggles chopsticks magnets bottlecaps walnuts pinecones lemons candles dominoes
        keyrings saucers mittens bookmarks tassels hairpins batteries zips sponges coasters puppets kites pegs stickers
        stencils stamps harmonicas tambourines kazoos figurines snowglobes thermometers compasses binoculars sunglasses
        monocles wristwatches cufflinks brooches bracelets earrings necklaces badges medals trophies tokens dice beads
        sequins bobbins spools needles scissors tweezers corkscrews ladles whisks spatulas sieves graters funnels
        colanders teapots mugs tumblers goblets jars tins flasks pitchers eggcups pepperpots napkins doilies tablecloths
        aprons mitts potholders trays baskets hampers bowls platters chessmen jigsaws puzzles balloons streamers
        lampshades lightbulbs fuses plugs cables remotes radios cassettes headphones chargers keyboards pencils erasers
        notebooks folders envelopes staplers rulers inkpots brushes palettes easels canvases sketches trowels flowerpots
        seedlings bulbs gourds pumpkins radishes turnips onions apples pears quinces oranges figs chestnuts hazelnuts
        acorns pebbles fossils crystals gemstones shells sandbags ropes hooks carabiners tents hammocks blankets
        cushions pillows quilts scarves bonnets berets fedoras gloves socks slippers sandals bootlaces belts braces
        bowties pyjamas wigs masks costumes fans parasols umbrellas canes clocks hourglasses sundials barometers bells
        gongs chimes flutes ocarinas bongos maracas castanets banjos ukuleles skittles frisbees racquets shuttlecocks
        skates helmets paddles oars buoys""",
    "stray": """stray sticky tiny spare dusty colourful mysterious cheap precious shiny plain borrowed grubby surplus
        scented imported oily useless rattling lucky ordinary purple fancy familiar wooden plastic ceramic bronze copper
        silver golden crimson turquoise beige striped spotted chequered glossy chipped cracked dented bent broken
        antique vintage modern foreign homemade handmade novelty souvenir miniature giant oversized lopsided crooked
        fragile sturdy rusty tarnished polished lacquered painted gilded speckled faded bleached stained muddy soggy
        damp frozen warm cold sooty greasy waxy velvety fluffy knitted woven carved engraved decorative ugly pretty
        charming hideous garish elegant quaint quirky peculiar nameless unwanted discounted secondhand thrifted donated
        inherited treasured beloved neglected forlorn misshapen wobbly squeaky luminous transparent iridescent pastel
        neon tartan floral geometric rustic festive ceremonial magnetic inflatable collapsible portable waterproof
        recycled smelly""",
    "sort": """sort|polish|label|wrap|sketch|dust|trade|admire|stack|photograph|inspect|rinse|glue|mend|hide|auction|
        unpack|display|repair|compare|test|gather|arrange|juggle|wash|paint|scrub|borrow|hoard|examine|catalogue|
        decorate|buff|disinfect|restore|sell|swap|assemble|sniff|measure|sterilise|draw|embellish|rearrange|box up|
        shine|weigh|dry|fetch|study""",
    "sorts": """sorts polishes labels wraps sketches dusts trades admires stacks photographs inspects rinses glues mends
        hides auctions collects displays repairs compares tests gathers arranges juggles washes paints scrubs borrows
        hoards examines catalogues decorates buffs salutes restores sells swaps assembles sniffs measures sterilises
        draws names rearranges praises shines weighs dries fetches kisses""",
    "juggling": """juggling|polishing|comparing|wrapping|sketching|stacking|selling|carrying|balancing|dropping|
        admiring|swapping|unpacking|inspecting|photographing|sorting|guarding|tossing|washing|painting|sniffing|
        haggling over|giggling at|fussing over|pointing at|queueing for|arguing about|returning|repairing|testing|
        wiping|hiding|demanding|assembling|praising|rummaging through|cradling|delivering|spilling|gluing|measuring|
        decorating|clutching|trading|twirling|drawing|fetching""",
    "object": """footstool|birdhouse|lampshade|wheelbarrow|toolbox|bookend|trellis|sledge|lantern|candlestick|mirror|
        suitcase|trunk|saddle|scooter|skateboard|pram|cot|dollhouse|accordion|banjo|ukulele|drum|easel|globe|telescope|
        barometer|satchel|hamper|teapot|samovar|stepladder|workbench|sawhorse|rake|spade|beehive|dovecote|kennel|
        washstand|headboard|wardrobe|sundial|birdbath|trolley|rickshaw|kayak|canoe|surfboard|tricycle|unicycle|tandem|
        sideboard|cupboard|dresser|bookcase|bench|stool|rocker|cradle|playpen|screen|clock|gong|harp|zither|mandolin|
        tambourine|mannequin|chandelier|loom|birdcage|aquarium|terrarium|tray|barrel|crate|cartwheel|paddle|oar|anchor|
        figurehead|kite|rocking horse|coat rack|window box|flower pot|letter box|garden gnome|weather vane|deck chair|
        picture frame|umbrella stand|music stand|spice rack|cake stand|shoe rack|piano stool|chess table|puppet theatre|
        cuckoo clock|jewellery box|fishing rod|bread bin""",
    "a_state": """a rickety|a dented|a borrowed|a mossy|a crooked|a creaky|a battered|a dusty|a wobbly|a scuffed|
        a faded|a speckled|a turquoise|a crimson|a beige|a lilac|a mustard|a chequered|a striped|a lacquered|a gilded|
        a tarnished|a rusty|a squeaky|a chipped|a scorched|a bulky|a dainty|a quirky|a rustic|a vintage|a clunky|
        a lopsided|a weathered|a patched|a painted|a bamboo|a walnut|a maple|a pewter|a tin|a brass|a cedar|a miniature|
        a wicker|a plywood|a homemade|a secondhand|a thrifted|a varnished|a muddy|a grubby|a heavy|a slender|a stubborn|
        a damp|a warped|a foldable|a flimsy|a sturdy|a majestic|a humble|a plain|a garish|a floral|an antique|an ornate|
        an oval|an awkward|an ivory|an ebony|an heirloom|an orange|an ancient|an oaken|an inherited|an enamelled|an odd|
        an elegant|an ugly|an amber|an expensive|an intricate|an odorous|an upcycled""",
    "handling": """varnishing sanding polishing repainting mending dusting unwrapping sketching photographing gluing
        scrubbing measuring oiling carving waxing restoring hauling disinfecting decorating wrapping moving patching
        admiring inspecting assembling dismantling lacquering rinsing stencilling customising hoisting lugging labelling
        drawing auctioning rebuilding shipping storing sawing borrowing covering cleaning bleaching chiselling
        delivering donating engraving exhibiting fixing gilding guarding heaving hiding lending lifting ordering
        plastering renting returning scraping selling soaping straightening upcycling""",
    "fixtures": """bookshelves|curtains|suitcases|saucepans|houseplants|cushions|radiators|wardrobes|cupboards|drawers|
        dressers|mirrors|tapestries|carpets|doormats|footstools|armchairs|sofas|beanbags|hammocks|mattresses|bunkbeds|
        headboards|blinds|shutters|windowsills|fireplaces|mantelpieces|chandeliers|lampstands|candelabras|vases|
        aquariums|terrariums|birdcages|pianos|harps|drumkits|guitars|gramophones|televisions|projectors|laptops|
        printers|filing cabinets|bookcases|noticeboards|calendars|clocks|hatstands|coatracks|umbrellas|mops|brooms|
        buckets|vacuums|ironing boards|clotheshorses|laundry bags|hampers|baskets|crates|cartons|toolboxes|workbenches|
        stepladders|paintpots|ladders|tarpaulins|sinks|bathtubs|towels|toothbrushes|bathmats|teapots|kettles|toasters|
        ovens|freezers|casseroles|breadbins|jampots|spice racks|fruitbowls|tablecloths|stools|highchairs|cots|prams|
        rocking horses|dollhouses|teddy bears|jigsaws|globes|telescopes|easels|mannequins|looms|quilts|tablelamps|
        sideboards|washbasins|staircases|banisters|partitions|screens|trolleys|lockers|pigeonholes|whiteboards|desks|
        swivel chairs|magazines|newspapers|parcels|envelopes|typewriters|shredders""",
    "worn": """worn dusty velvet faded creaky wobbly leather tartan walnut mahogany bamboo wicker padded upholstered
        lacquered varnished crooked tarnished brass copper chrome pewter marble porcelain enamel secondhand antique
        gaudy shabby elegant bulky cluttered lumpy mismatched paisley quilted ragged scratched scuffed stained sagging
        threadbare tilted toppling unloved patched pristine polished rented borrowed inherited discarded donated
        oversized squat slender towering folding revolving rattling squeaky leaning hideous magnificent modest ornate
        outdated peculiar plastic plywood retro rustic sleek sparkling spotless steel striped sturdy tasteful teetering
        tidy ugly unsteady waxed wooden yellowing chipped cracked crimson lavender maroon olive peach teal indigo
        ivory""",
    "soft": """crumpled woollen folded damp warm tartan fluffy sandy knitted velvet corduroy lumpy silken mismatched
        borrowed striped embroidered scented faded muddy frayed quilted cotton linen patchwork padded mohair cashmere
        pink mustard lilac feathery plush flannel ragged baggy heirloom scarlet checked crocheted denim expensive
        favourite tasselled tweed""",
    "cushions": """cushions slippers towels blankets rugs pillows duvets scarves jumpers curtains quilts mattresses
        doormats beanbags hammocks bathrobes tablecloths cardigans ponchos shawls socks mittens hats mats carpets
        bedspreads armchairs sofas throws footstools coats dishcloths napkins pyjamas teddies eiderdowns raincoats
        overcoats waistcoats bolsters tapestries aprons trousers bonnets sweaters leggings rucksacks handbags satchels
        sheets""",
    "bag_state": """canvas leather muddy tartan sagging orange checked frayed roomy waxed velvet patched purple nylon
        worn bottomless trusty embroidered squashed rainproof scruffy olive ancient cheap spotted heavy quilted navy
        battered shapeless sequinned crocheted military designer denim""",
    "bag": """rucksack|handbag|suitcase|toolbox|briefcase|satchel|glovebox|pannier|lunchbox|locker|saddlebag|knapsack|
        wheelbarrow|holdall|backpack|purse|pocket|drawer|cupboard|trunk|hamper|bucket|basket|carrier bag|gym bag|
        tote bag|picnic basket|coat pocket|desk drawer|pencil case|laundry bag""",
    "bulges": """holds|contains|hides|carries|gathers|accumulates|swallows|shelters|stores|conceals|harbours|collects|
        bulges with|rattles with|overflows with|clinks with|jingles with|bursts with|devours|smuggles|hoards|guards|
        protects|transports""",
    "whirring": """elderly wheezy trusty secondhand temperamental dented noisy faithful rusty beige bargain clumsy hardy
        ancient modest quirky shiny compact moody rented tired cranky reliable gleaming squat ailing cheap portable
        inherited grimy retro mottled delicate cantankerous boxy chrome miniature fussy humble battered budget colossal
        cordless crusty decrepit dusty ergonomic flashy futuristic lopsided neglected obsolete overworked pampered pink
        rickety scratched sluggish steadfast turquoise unruly""",
    "machine": """kettle|dehumidifier|radiator|fan|dryer|dishwasher|toaster|microwave|boiler|blender|printer|scanner|
        shredder|projector|thermostat|metronome|radio|turntable|amplifier|vacuum|juicer|freezer|fridge|minibar|purifier|
        humidifier|heater|modem|router|laptop|loom|lathe|sander|laminator|photocopier|shaver|treadmill|monitor|stove|
        oven|mixer|doorbell|typewriter|kiln|generator|grinder|gramophone|jukebox|pianola|synthesizer|keyboard|telephone|
        intercom|clock|alarm|timer|incubator|aquarium|pump|drill|compressor|cooker|grill|fryer|steamer|espresso machine|
        bread maker|sewing machine|massage chair|cuckoo clock|music box|egg timer|exercise bike|air conditioner|
        baby monitor|waffle iron|tea maker|coffee pot|ice maker|popcorn maker|spinning wheel|cassette deck|
        slide projector|pencil sharpener|mini fridge|towel warmer""",
    "whirs": """hums whirs rattles clicks buzzes squeaks creaks wheezes hisses ticks groans chirps beeps rumbles purrs
        crackles clatters mutters sputters grumbles whines clanks thrums murmurs shudders splutters sighs drones
        trembles whistles chatters blinks hiccups wobbles clunks vibrates moans pings judders gurgles clinks fizzes
        flickers pulses quivers rasps screeches shivers sulks throbs tinkles twitches warbles whimpers wails""",
    "fails": """overheats stalls sulks jams smokes sparks shudders misbehaves rattles malfunctions whines screeches
        reeks beeps shrieks dawdles splutters vibrates hesitates collapses groans smoulders struggles falters buzzes
        clanks flickers hisses rebels wobbles quits howls crashes creaks""",
    "lamp_state": """flickering green dim crooked dusty amber buzzing bare cheap mottled paper feeble orange swaying
        harsh pinkish cosy fading yellow smoky brass violet glaring stained milky antique tiny frosted copper silent
        rickety stuttering golden tasselled crimson clumsy solar spherical dangling lonely""",
    "lamp": """lamp|candle|lantern|torch|streetlamp|chandelier|bulb|headlamp|spotlight|projector|nightlight|lampstand|
        floodlight|sconce|screen|aquarium|candelabra|beacon|tealight|flashlight|desk lamp|neon sign|lava lamp|
        night light|porch light|salt lamp|strip light|reading lamp""",
    "throws": """illuminates|warms|tints|brightens|bleaches|dazzles|gilds|outlines|spotlights|reddens|highlights|
        burnishes|reveals|washes|bathes|touches|yellows|flatters|colours|shines on|glints off|lights up|plays across|
        sparkles on|glows above|swings above|glares at|reflects off|dapples|catches|transforms""",
}

OUTDOORS = {
    "outthings": """beehives greenhouses wheelbarrows trellises gazebos hedges sheds benches bicycles caravans rowboats
        canoes kayaks jetties haystacks barrels troughs gates fences railings lampposts kiosks awnings marquees parasols
        deckchairs hammocks swings slides seesaws trampolines sandpits birdbaths fountains statues sundials gravestones
        archways pergolas balconies terraces stairways footbridges tunnels pavements kerbs puddles ponds ditches
        orchards vineyards meadows paddocks stables barns kennels hutches coops dovecotes silos tractors trailers
        ploughs lawnmowers sprinklers hosepipes cobblestones flagstones chimneys rooftops gutters skylights drainpipes
        billboards mailboxes dustbins skips scaffolds cranes lorries vans scooters mopeds trams buses taxis carriages
        wagons sledges tents campfires barbecues logpiles boulders dunes breakwaters windmills watermills lighthouses
        boathouses buoys anchors crates pallets bollards cones signposts bandstands tollbooths flowerbeds rosebushes
        allotments cabbages pumpkins sunflowers scarecrows molehills anthills treehouses stumps oaks birches willows
        poplars chestnuts laurels brambles nettles ferns rockeries driveways courtyards alleys cottages bungalows
        chalets""",
    "mossy": """mossy rickety weathered rusty striped muddy derelict peeling crooked abandoned sunlit shady frosty
        rustic sprawling lopsided whitewashed cobwebbed graffitied concrete timber sandstone quaint crumbling ornate
        neighbouring seaside suburban communal narrow sloping slippery picturesque ramshackle tidy overgrown windswept
        leafy dripping snowy sooty stony sturdy ancient modern municipal provincial private rented roadside distant
        nearby local crowded tranquil noisy colourful whimsical decorative temporary unpainted gloomy handsome wonky
        tumbledown elegant enormous sagging creaking gleaming bleak inviting drab shabby stately dilapidated soggy
        parched dewy moonlit fenced forlorn festive pastel scarlet emerald ochre grey sandy salty secluded""",
    "hauling": """hauling scrubbing painting sketching photographing inspecting mending restoring cleaning admiring
        guarding measuring sweeping sanding touring filming repairing decorating plastering visiting exploring circling
        studying whitewashing renovating building surveying tidying waterproofing disinfecting designing hosing
        landscaping varnishing mapping""",
    "paint": """paint|scrub|sketch|photograph|inspect|mend|restore|clean|admire|guard|measure|sweep|tour|film|repair|
        decorate|visit|explore|circle|study|whitewash|renovate|survey|tidy|waterproof|design|hose|landscape|varnish|map|
        revisit|rebuild|draw|patch|spruce up|beautify|protect|insulate""",
    "now": """Today|Now|Here|Just now|As usual|As forecast|Over here|At present|By now|Out here|Out back|As predicted|
        As ever|As always|Of course|In town|Still|Yet again|On cue|By turns|As feared|For hours|At home|At night""",
    "wet": """drizzle|sleet|hail|rain|cold rain|freezing rain|pelting rain|warm rain|icy rain|thundery rain|
        monsoon rain|a cloudburst|a downpour|a shower|a squall|a thunderstorm|a rainstorm|a hailstorm|a snowstorm|
        a blizzard|a gale|slush|a summer shower|a passing shower|a spring storm|autumn rain|coastal rain|mountain rain|
        horizontal rain|a sea wind|a tempest|wind|a gusty storm|a northerly wind|a desert wind|a whirlwind|spray|
        a rain squall""",
    "wets": """batters|lashes|pelts|hammers|spatters|whips|scours|slaps|pummels|rakes|thrashes|tests|pounds|sweeps|
        scrubs|buffets|assaults|blasts|drenches|shakes|punishes|rattles|rinses|splashes|swamps|attacks|bombards|chills|
        besieges|engulfs|hits|strikes|thumps|beats against""",
    "some": """Some|A little|A trace of|A band of|The|A layer of|A swirl of|My favourite|The usual|A veil of|Our|
        A ribbon of|A curtain of|A puff of|The same|A hint of|A wisp of|A scarf of|A stripe of|A belt of|A plume of|
        A smear of|More""",
    "airy": """lazy thin milky chilly bluish ghostly pearly patchy sweet soft drowsy faint cool sallow greenish tired
        ashen wispy dreamy bitter delicate murky strange gentle velvety idle lonely yellowish silent slow peppery
        wandering damp pretty unhurried sluggish acrid feathery opal restless shimmering tangled clammy eerie fragrant
        sulky weightless woolly pungent pinkish""",
    "vapour": """fog mist woodsmoke haze steam pollen dust cloud thistledown blossom soot smoke vapour smog drizzle ash
        spray gossamer frost dew snow sleet sand foam exhaust""",
    "drifts": """veils blurs wraps shrouds tints reaches surrounds softens encircles hides crosses follows cloaks dims
        coats conceals covers envelops haunts fringes muffles powders smothers swathes touches caresses circles dulls
        obscures blankets skirts""",
    "freak": """freak sudden brutal seasonal heavy early late lasting coastal northern unexpected severe mild
        spectacular dreadful tropical prolonged patchy stubborn nightly fierce icy dismal scattered intermittent rare
        violent repeated threatening dazzling swirling persistent blustery biting muggy glorious relentless alarming
        drenching localised predicted regional spiteful tedious wicked""",
    "weathers": """hailstorms droughts frosts gales thaws fogs heatwaves showers downpours blizzards breezes
        thunderclaps snowfalls squalls storms floods rainbows sunsets sunbeams clouds mists drizzles winds gusts
        sandstorms tempests monsoons cloudbursts whirlwinds tides icicles snowdrifts moonbeams auroras""",
    "despite": """despite after before during through amid following in between""",
    "tone": """pale scruffy lanky golden purple thirsty fragrant dusty scarlet potted trailing frilly spiky wild tender
        pampered glossy frosted sunburnt leggy cheerful yellow straggly neglected bushy dwarf velvety windblown pruned
        variegated coral fuzzy drooping mauve sturdy rambling silvery peach crimson twisted shaggy unruly towering timid
        swollen ruffled prickly ornamental magenta luminous heirloom gnarled""",
    "plants": """tulips ferns geraniums sunflowers begonias nasturtiums lilies hydrangeas orchids cacti marigolds
        peonies foxgloves hollyhocks daffodils dahlias irises snowdrops violets roses thistles nettles poppies
        buttercups pansies petunias azaleas magnolias zinnias courgettes succulents palms bluebells cornflowers
        gooseberries leeks cabbages pumpkins radishes crocuses lupins asters camellias carnations chrysanthemums
        cyclamens fuchsias gladioli heathers hyacinths lilacs mulberries oleanders pears primroses rhododendrons salvias
        snapdragons tomatoes wisterias artichokes brambles""",
    "plants_do": """brush shade flank brighten hug tickle surround frame climb hide conceal soften crowd encircle
        decorate invade edge overrun border swallow engulf adorn smother perfume entwine dwarf outgrow cover line
        besiege enliven screen colonise drape fringe embrace garland overshadow""",
    "traffic": """tram|lorry|scooter|tractor|moped|bus|van|truck|ferry|helicopter|motorbike|train|freight train|
        steamroller|taxi|biplane|fire engine|dustcart|tricycle|skateboard|milk float|minibus|bulldozer|carriage|
        limousine|jeep|drone|glider|speedboat|snowplough|forklift|coach""",
    "distant": """distant rusty speeding battered heavy yellow vintage lonely noisy smoky ancient stray rented chrome
        muddy ghostly red diesel crowded dented rackety driverless overloaded shiny turquoise silver belated
        clanking""",
    "rumbled": """rumbled rattled roared screeched sped clattered thundered whined trundled wheezed chugged lurched
        rolled droned skidded hurtled zoomed crept wobbled spluttered hummed whirred limped glided jolted backfired
        groaned""",
    "by": """past by onwards off away nearby outside downhill uphill homewards alongside""",
    "birds": """gulls geese crows pigeons magpies sparrows starlings swallows ducks hens roosters owls dogs terriers
        cats hounds foxes sheep goats cows donkeys horses peacocks parrots seagulls swans herons jackdaws robins
        blackbirds woodpeckers cuckoos bullfrogs crickets squirrels toddlers schoolboys turkeys ravens finches larks""",
    "startled": """startled hungry drowsy outraged jealous soggy plump ragged elderly anxious indignant noisy greedy
        sleepless speckled bold nesting shivering curious furious young wild sulking restless frightened bedraggled
        cheeky ruffled pompous""",
    "shrieked": """shrieked squawked honked screamed chattered scattered fled answered cackled protested howled grumbled
        bickered scurried panicked wailed squabbled yelled fluttered trembled quarrelled whimpered sulked complained
        hissed rejoiced stampeded laughed""",
    "vehicle": """shuttle|plumber|ferry|minibus|locksmith|hovercraft|tow truck|cable car|tram|chimney sweep|milk float|
        coach|vet|lorry|electrician|funicular|taxi|glazier|upholsterer|midwife|trolleybus|night bus|water taxi|
        rental car|bin lorry|snow plough|camper van|steam train|horse cart|moving van|carpet fitter|piano mover|
        tyre fitter|gas inspector|sleeper train|school bus|parcel van|pizza courier|courier|catamaran|speedboat|
        rickshaw|limousine|breakdown van|gritter|gondola|carpenter|roofer|joiner|decorator|gardener|caterer|
        repairman""",
    "waiting": """I am awaiting the|I await the|We await the|I stand awaiting the|I anticipate the|I still await the|
        I sit expecting the|We expect the|I watch for the|I listen for the|I wait for the|We are expecting the|
        I ordered the|I reserved the|We called the|I summoned the|I phoned the|I look for the""",
}

FOOD = {
    "dish": """lentil stew|barley broth|pumpkin soup|leek chowder|bean chilli|goulash|onion gravy|plum jam|porridge|
        risotto|tomato sauce|ragout|coconut curry|rhubarb compote|apple butter|fish stock|polenta|custard|rice pudding|
        hot chocolate|caramel|marmalade|chutney|mulled cider|borscht|paella|ratatouille|gumbo|squash bisque|miso broth|
        chickpea tagine|cabbage soup|fondue|cheese sauce|quince jelly|semolina|bouillon|minestrone|spiced milk|
        casserole|pea soup|cassoulet|nettle soup|fig jam|cranberry relish|beef stew|celery soup|buckwheat|oatmeal|
        couscous|dal|ramen|laksa|bolognese|stroganoff|jambalaya|turnip mash|fudge|toffee|lemon curd|noodle soup|
        spinach dal|mushroom soup""",
    "simmers": """simmers bubbles thickens steams cools stews warms burbles reduces softens mellows boils foams
        splutters sizzles heats blips hisses cooks gurgles settles brews congeals""",
    "flavour": """weak strong chilled lukewarm organic homemade iced frothy bitter sugary watery creamy fizzy spiced
        cheap expensive unsweetened foamy tepid murky fragrant instant fresh smoky sour cloudy delicious vile velvety
        steaming peppery diluted exotic local bottled pungent mellow floral""",
    "drink": """cocoa|lemonade|oolong|buttermilk|chai|kombucha|espresso|decaf|rooibos|camomile|horchata|lassi|matcha|
        kvass|cider|tea|coffee|milk|juice|cordial|broth|squash|soda|mint tea|ginger ale|barley water|tomato juice|
        chicory coffee|malted milk|nettle tea|oat milk|root beer|hibiscus tea|carrot juice|melon juice|jasmine tea|
        birch sap|almond milk|pear nectar|tonic water|sage tea|fennel tea|coconut water|rosehip tea|cappuccino|latte|
        punch|lager|smoothie|milkshake|limeade|eggnog|mead|sherbet|yoghurt|grog|bouillon""",
    "sip": """I am sipping|I drink|I am slurping|I sip|We share|I am nursing|I gulp|I savour|I swig|I enjoy|
        We are sipping|I pour|I keep spilling|I slurp|I am cradling|I inhale|I ordered|I sniff|I decant|I crave|
        We drink|I taste|I am tasting|We slurp""",
    "a_cup": """a chipped|a dented|a tin|a brass|a clay|a wooden|a plastic|a steel|a silver|a striped|a turquoise|
        a crimson|a beige|a lilac|a speckled|a glazed|a borrowed|a scratched|a souvenir|a crystal|a cracked|a giant|
        a tiny|a leaky|a stained|a monogrammed|a floral|an enamel|an insulated|an ugly|an antique|an orange|a pewter|
        a frosted|a tartan|a sticky|a porcelain|a paper|a ridged|a bamboo|a lopsided|a gilded|a squat|a tall|an ornate|
        a dainty|a rubber|a glittery|a cobalt|a faded""",
    "vessel": """thermos|mug|beaker|tumbler|teacup|flask|canteen|goblet|bottle|tankard|cup|carafe|pitcher|jug|glass|jar|
        stein|bowl|chalice|decanter|jam jar|egg cup|wine glass|milk bottle|tin can""",
    "stale": """stale warm soggy crunchy greasy burnt salty crumbly leathery sticky spongy toasted frozen oily bland
        buttery garlicky dry lumpy charred chewy cold crisp homemade peppery reheated rubbery shrivelled smoky
        supermarket sweet syrupy tasteless undercooked vegan overpriced""",
    "snack": """scones crumpets dumplings muffins pretzels waffles pancakes biscuits macaroons croissants sandwiches
        crackers almonds olives pickles chips sausages meatballs fritters samosas pasties tarts pies buns rolls bagels
        omelettes noodles onions peaches raisins apricots radishes prunes sardines anchovies oysters mussels croutons
        nachos tacos pierogi tortillas falafels kebabs flapjacks brownies doughnuts eclairs meringues oatcakes toffees
        truffles mushrooms peppers turnips beetroots sprouts chickpeas gherkins""",
    "likes": """I enjoy|I love|I adore|I tolerate|I welcome|I praise|I treasure|I crave|I cherish|I recommend|I prefer|
        I like|We enjoy|I appreciate|We love|I drink|I order|We serve|I brew|I sell|We like|I prescribe|I want|I buy|
        We buy|I sip|We brew|I share""",
    "dislikes": """detest avoid dread fear loathe mistrust flee resent mock refuse reject dislike hate distrust abhor
        decline despise ban scorn shun ignore spurn""",
    "reward": """crave deserve enjoy order want fancy recommend need like share request prepare devour consume buy serve
        expect gulp welcome savour mix choose brew""",
    "kind_acts": """brought baked sold fried shared offered sent delivered ordered donated served promised recommended
        grilled devoured dropped stole burnt mailed reviewed""",
    "room": """stairwell|canteen|cloakroom|attic|laundrette|corridor|tram|minibus|workshop|pantry|lobby|cellar|tent|
        caravan|garage|conservatory|stockroom|kitchen|study|carriage|boathouse|basement|sunroom|hallway|bathroom|cabin|
        taxi|barn|greenhouse|nursery|studio|waiting room|sports hall|changing room|ferry lounge|night bus|ticket hall|
        guest room|reading nook|staff room|hostel dorm|tool shed|bunkhouse|gymnasium|sauna|library|cafeteria|chapel|
        foyer|vestibule|office|clinic|salon|dormitory|warehouse|loft|stable""",
    "smells": """smells of|reeks of|smelled of|stinks of|whiffs of|suggests|is rich with|recalls|exudes|radiates|
        stank of|carries|retains|releases|breathes|hints at|emits|hoards|traps|spreads|holds""",
    "scent": """burnt damp fresh stale warm old sweet cheap fried roasted melted smoky sour spilled crushed rotten wet
        hot sharp faint pungent musty overpowering boiled heated ground ancient exotic toasted lingering familiar
        nostalgic rancid tropical spicy""",
    "smell": """toast|polish|onions|resin|leather|cinnamon|wax|diesel|wool|paint|cabbage|chestnuts|chlorine|sawdust|
        nutmeg|garlic|grass|turpentine|vanilla|mothballs|popcorn|oil|seaweed|tar|cough drops|hairspray|vinegar|mackerel|
        eucalyptus|cardamom|newsprint|bleach|bread|rubber|incense|aftershave|bananas|gingerbread|mustard|soap|peat|
        sunscreen|cedar|glue|mould|coffee|liquorice|smoke|rosewater|cheese|herring|dust|lemons|linen|aniseed|thyme|
        lavender|cloves|bacon|mushrooms|varnish|compost|manure|perfume|shampoo""",
    "stuff": """flour clay grease wax ink glue sugar pollen chalk crumbs suds polish soil yolk cream sawdust puree
        charcoal glitter jam plaster mustard fur sunscreen butter varnish cocoa dough sand lipstick juice honey cheese
        moss graphite paste shampoo toothpaste wool paint icing ketchup syrup mud resin lotion oil soot marmalade
        foam""",
    "sticky": """sticky dried wet fine smelly pink green white warm cold fresh cheap stale gritty black brown yellow
        lumpy thick runny crusty greasy scented damp powdery glossy bluish frothy stubborn slimy homemade grey purple
        expensive orange clotted""",
}

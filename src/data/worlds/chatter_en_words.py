"""Fillers of the English small talk about things, food and what is out of doors.

Those of a slot fit wherever the slot is used, beside any filler of the slots around it.
"""

from __future__ import annotations

THINGS = {
    "items": """teaspoons|corks|buttons|padlocks|marbles|thimbles|whistles|seashells|matchboxes|doorknobs|postcards|
        lanterns|goggles|chopsticks|magnets|coasters|puppets|kites|stencils|stamps|harmonicas|tambourines|kazoos|
        figurines|thermometers|compasses|binoculars|sunglasses|monocles|wristwatches|cufflinks|brooches|bracelets|
        earrings|necklaces|badges|medals|trophies|tokens|beads|bobbins|spools|tweezers|corkscrews|ladles|whisks|
        spatulas|sieves|graters|funnels|colanders|teapots|mugs|tumblers|goblets|jars|tins|flasks|pitchers|eggcups|trays|
        baskets|hampers|bowls|platters|chessmen|jigsaws|lampshades|lightbulbs|radios|cassettes|headphones|keyboards|
        notebooks|staplers|rulers|inkpots|brushes|palettes|sketches|trowels|flowerpots|pebbles|fossils|crystals|
        gemstones|hooks|masks|fans|parasols|umbrellas|canes|clocks|hourglasses|sundials|barometers|bells|gongs|chimes|
        flutes|ocarinas|bongos|maracas|castanets|banjos|ukuleles|skittles|frisbees|racquets|skates|helmets|paddles|keys|
        locks|hinges|buckles|zips|ribbons|feathers|ornaments|vases|candlesticks|saucers|cups|plates|dishes|kettles|pans|
        spoons|forks|knives|tongs|bottles|boxes|caskets|trinkets|coins|envelopes|bookends|cameras|lenses|globes|maps|
        calendars|diaries|albums|dolls|robots|dominoes|cards|puzzles|kaleidoscopes|music boxes|door handles|
        picture frames|hat pins|tea strainers|paper lanterns|wine glasses|oven dishes|tool kits""",
    "stray": """sticky tiny spare dusty colourful mysterious cheap precious shiny plain borrowed grubby surplus scented
        imported lucky ordinary purple fancy familiar wooden plastic ceramic bronze copper silver golden crimson
        turquoise beige striped spotted chequered glossy chipped cracked dented bent broken antique vintage modern
        foreign homemade handmade novelty souvenir miniature giant oversized lopsided crooked fragile sturdy rusty
        tarnished polished lacquered painted gilded speckled faded bleached stained muddy damp sooty greasy woven carved
        engraved decorative ugly pretty charming hideous garish elegant quaint quirky peculiar discounted secondhand
        thrifted donated inherited treasured beloved wobbly squeaky iridescent pastel neon tartan floral geometric
        rustic festive ceremonial portable rare odd unusual exquisite weathered pink orange yellow blue green black
        white grey amber scarlet indigo ivory jade brass pewter glass porcelain enamel bamboo""",
    "sort": """sort polish label wrap sketch dust admire photograph inspect mend sell unpack display repair compare
        gather arrange paint examine catalogue decorate clean restore swap rearrange buy borrow wipe collect draw
        varnish study research assemble wash rinse stack auction""",
    "sorts": """sorts|polishes|labels|wraps|sketches|dusts|admires|photographs|inspects|mends|sells|brings in|displays|
        repairs|compares|collects|arranges|paints|examines|catalogues|decorates|cleans|restores|swaps|rearranges|buys|
        borrows|wipes|draws|varnishes|shows off|hands out|raves about|jokes about|hides|orders|auctions|talks about|
        studies|gives away""",
    "juggling": """polishing|comparing|wrapping|sketching|selling|carrying|dropping|admiring|swapping|unpacking|
        inspecting|photographing|sorting|haggling over|giggling at|fussing over|pointing at|queueing for|arguing about|
        repairing|testing|wiping|hiding|praising|rummaging through|delivering|decorating|trading|drawing|choosing|
        returning|laughing over|collecting|auctioning|buying|cleaning|juggling|displaying|browsing""",
    "keep": """I keep|I store|I stack|We keep|I hid|I found|I left|We store|I lined up|I am saving|We stack|I hide|
        I piled up|We saved|I display|I am hoarding|We put|I arranged|I am stashing|We display""",
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
        scrubbing measuring oiling waxing restoring hauling disinfecting decorating wrapping moving patching admiring
        inspecting assembling dismantling lacquering rinsing stencilling customising lugging labelling drawing
        auctioning rebuilding shipping storing borrowing covering cleaning delivering donating engraving exhibiting
        fixing gilding guarding hiding lending lifting ordering renting returning selling straightening upcycling""",
    "fixture": """bookshelf|curtain|suitcase|houseplant|cushion|radiator|wardrobe|cupboard|dresser|mirror|tapestry|
        carpet|doormat|footstool|armchair|sofa|beanbag|mattress|windowsill|fireplace|mantelpiece|chandelier|lampstand|
        vase|aquarium|terrarium|birdcage|piano|harp|guitar|gramophone|television|projector|printer|bookcase|noticeboard|
        calendar|clock|hatstand|coatrack|hamper|crate|toolbox|workbench|stepladder|sink|bathtub|bathmat|teapot|toaster|
        oven|freezer|breadbin|fruitbowl|tablecloth|stool|cot|dollhouse|globe|telescope|easel|mannequin|loom|quilt|
        sideboard|washbasin|staircase|banister|screen|trolley|locker|whiteboard|desk|typewriter|filing cabinet|
        ironing board|rocking horse|spice rack|bunk bed|coffee table|shoe rack|laundry basket|towel rail|wine rack|
        umbrella stand|kitchen table|bedside lamp|standard lamp|rocking chair|pinball machine|sewing table|
        model railway|camp bed|tea trolley|bar stool|folding screen|rubber plant|jukebox|stove|kettle|hearth|shelf|
        bureau|chest|trunk|bed|bench|cabinet""",
    "worn": """worn dusty faded creaky wobbly tartan walnut lacquered varnished crooked tarnished secondhand antique
        gaudy shabby elegant bulky scratched scuffed stained sagging tilted patched pristine polished rented borrowed
        inherited oversized squat slender squeaky leaning hideous magnificent modest ornate outdated peculiar plastic
        retro rustic sleek spotless striped sturdy tasteful ugly waxed wooden chipped cracked crimson lavender maroon
        olive peach teal indigo ivory old favourite tiny giant spare handmade blue green purple grey brown red white
        yellow black pink broken heavy beloved curious expensive cheap vintage homemade painted""",
    "my": """my the our""",
    "soft": """crumpled woollen folded damp warm tartan fluffy sandy knitted velvet corduroy lumpy silken mismatched
        borrowed striped embroidered scented faded muddy frayed quilted cotton linen patchwork padded mohair cashmere
        pink mustard lilac feathery plush flannel ragged baggy heirloom scarlet checked crocheted denim expensive
        favourite tasselled tweed""",
    "cushion": """cushion|slipper|towel|blanket|rug|pillow|duvet|scarf|jumper|curtain|quilt|mattress|doormat|beanbag|
        hammock|bathrobe|tablecloth|cardigan|poncho|shawl|sock|mitten|hat|mat|carpet|bedspread|armchair|sofa|footstool|
        coat|dishcloth|napkin|eiderdown|raincoat|overcoat|waistcoat|bolster|tapestry|apron|bonnet|sweater|rucksack|
        handbag|satchel|sheet|tea towel|sleeping bag|dressing gown|yoga mat|laundry bag""",
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
    "fails": """keeps overheating|refuses to start|sulks again|tripped the fuse|smells scorched|needs a mechanic|
        went on strike|keeps jamming|hates the cold|makes a racket|flashes red|gave up overnight|caught fire|
        blew a gasket|screeches horribly|acts up|runs too hot|broke down|is under repair|threw sparks|startled the cat|
        shakes the floor|died yesterday|stalls constantly|got unplugged|upset the neighbours|drowns out speech|
        keeps me awake|rattles too much|lights up the room|gives off fumes|annoys everyone|hums off key|exploded|melted|
        smokes slightly|makes me nervous|was recalled|wakes the baby|needs cooling|interrupts my thoughts|
        started hissing|trembles dangerously|buzzes like hornets|confuses the dog|is being cleaned""",
    "lamp_state": """flickering green dim crooked dusty amber cheap mottled paper feeble orange harsh pinkish cosy
        yellow smoky brass violet stained antique tiny frosted copper rickety golden tasselled crimson clumsy lonely
        turquoise little bright blue faithful ugly bulky vintage plastic""",
    "lamp": """lamp|candle|lantern|torch|chandelier|bulb|headlamp|spotlight|nightlight|lampstand|candelabra|flashlight|
        desk lamp|neon sign|lava lamp|night light|salt lamp|strip light|reading lamp|floor lamp|oil lamp|table lamp|
        ceiling light|hall light|bedside lamp""",
    "throws": """lights|warms|tints|brightens|gilds|outlines|reddens|highlights|reveals|bathes|flatters|colours|
        shines on|glints off|lights up|plays on|sparkles on|reflects off|illuminates|flickers beside|glows near|
        flickers near|shines over|glows beside|spotlights""",
    "clutter": """curtains|cushions|suitcases|books|boxes|houseplants|coats|boots|shelves|saucepans|crates|baskets|
        newspapers|magazines|candles|mirrors|umbrellas|jars|towels|blankets|ladders|buckets|lamps|chairs|stools|cables|
        parcels|letters|toys|pillows|flowerpots|bottles|drawers|tools|plates|teacups|quilts|rugs|carpets|radiators|
        wardrobes|cupboards|bookshelves|footstools|armchairs|beanbags|vases|birdcages|guitars|clocks|hampers|cartons|
        stepladders|paintpots|teapots|kettles|tablecloths|jigsaws|easels|mannequins|banisters|trolleys|lockers|desks|
        typewriters|mops|brooms|hatstands|toolboxes|printers|screens|fans|trays|bowls|barrels|sacks|rucksacks|hats|
        shoes|slippers|scarves|puppets|dolls|rocking chairs|paint tins|tea chests|spice jars|wine bottles|egg boxes|
        picture frames|seed packets|coat hangers|board games|record sleeves|moving boxes|yoga mats|cake tins|
        laundry baskets|filing trays|camping chairs|table lamps|bicycle parts|soup bowls|pot plants""",
}

OUTDOORS = {
    "outthing": """beehive|greenhouse|wheelbarrow|trellis|gazebo|shed|bench|caravan|rowboat|canoe|jetty|barrel|trough|
        gate|fence|railing|lamppost|kiosk|awning|marquee|deckchair|swing|slide|seesaw|trampoline|sandpit|birdbath|
        fountain|statue|sundial|archway|pergola|balcony|terrace|stairway|footbridge|stable|barn|kennel|hutch|coop|
        dovecote|silo|tractor|trailer|chimney|skylight|mailbox|carriage|wagon|tent|windmill|watermill|lighthouse|
        boathouse|signpost|bandstand|tollbooth|treehouse|cottage|bungalow|chalet|workshop|garage|porch|veranda|arbour|
        well|bridge|pavilion|cabin|hut|warehouse|bakery|chapel|tower|wall|patio|stage|stall|campsite|playground|
        courtyard|driveway|pigsty|henhouse|haybarn|smokehouse|icehouse|sawmill|forge|pump|watchtower|scaffold|carport|
        summerhouse|woodshed|toolshed|orangery|rotunda|turnstile|bicycle rack|bus shelter|picnic table|garden gate|
        rose arbour|tennis court|duck pond|clock tower|boat ramp|ticket booth|fishing hut|potting shed|water tank|
        telephone box|fire escape|fruit stall|stone wall|ice rink|swimming pool|compost bin|garden path|log cabin|
        sports field""",
    "mossy": """mossy rickety weathered rusty striped muddy derelict peeling crooked abandoned rustic lopsided
        whitewashed graffitied quaint crumbling ornate picturesque ramshackle tidy sooty sturdy modern municipal
        colourful whimsical decorative gloomy handsome wonky tumbledown elegant enormous sagging creaking gleaming bleak
        drab shabby stately dilapidated forlorn pastel scarlet emerald ochre grey old little grand plain blue red white
        green yellow lonely tall low tiny charming curious makeshift rambling squat silvery turquoise lilac mustard
        brick wooden ugly pretty majestic neglected spotless bulky familiar sombre cheerful pink orange bronze ivory
        ornamental""",
    "the": """the our""",
    "hauling": """scrubbing sketching photographing inspecting mending restoring cleaning admiring measuring sweeping
        repairing decorating visiting exploring whitewashing renovating surveying tidying hosing varnishing rebuilding
        guarding drawing rewaterproofing patching redesigning dusting washing""",
    "paint": """scrub|sketch|photograph|inspect|mend|restore|clean|admire|measure|sweep|repair|decorate|visit|explore|
        whitewash|renovate|survey|tidy|hose down|varnish|rebuild|guard|draw|repaint|waterproof|patch up|redesign|wash|
        spruce up|check on|fix up|tidy up|walk to|stroll to|cycle to""",
    "now": """Today|Now|Here|Just now|As usual|As forecast|Over here|At present|By now|Out here|Out back|As predicted|
        As ever|As always|Yet again|On cue|As feared""",
    "wet": """drizzle|sleet|hail|rain|cold rain|freezing rain|pelting rain|warm rain|icy rain|thundery rain|
        monsoon rain|a cloudburst|a downpour|a shower|a squall|a thunderstorm|a rainstorm|a hailstorm|a snowstorm|
        a blizzard|a gale|a summer shower|a passing shower|a spring storm|autumn rain|coastal rain|mountain rain|
        horizontal rain|a tempest|a gusty storm|a rain squall""",
    "wets": """batters|lashes|pelts|hammers|spatters|whips|scours|slaps|pummels|rakes|thrashes|pounds|buffets|blasts|
        drenches|shakes|rattles|splashes|attacks|bombards|hits|strikes|beats against|crashes over|drums on|taps on|
        rushes over|sweeps across|beats on|bounces off""",
    "like": """like dried peas|like spilled rice|like tap shoes|like loose gravel|like clapping hands|like snare drums|
        like frying bacon|like dropped marbles|like tossed coins|like radio static|like shaken maracas|
        like thrown pebbles|like tiny hooves|like impatient fingers|like popping corn|like typing clerks|
        like rattled dice|like crumpled foil|like falling beads|like galloping ponies|like jangling keys|
        like knitting needles|like stampeding sheep|like crackling vinyl|like cheap fireworks|in noisy bursts|
        with real gusto|in slanting sheets|with dull thuds|in silver streaks|with theatrical flair|
        like spiteful needles|like angry hornets|like runaway horses|with merry abandon|like wet drumsticks|
        in sudden fits|with icy fury|like rolling barrels|like hurried footsteps|with growing force|in rhythmic waves|
        like clumsy dancers|in playful gusts|with seasonal cheer|like scattered nails|with stubborn patience|
        like hungry gulls|like torn paper|with wintry spite|like bad percussion""",
    "some": """Some|A little|A trace of|A band of|The|A layer of|A swirl of|The usual|A veil of|A ribbon of|
        A curtain of|A puff of|The same|A hint of|A wisp of|A scarf of|A stripe of|A belt of|A plume of|A smear of""",
    "airy": """lazy thin milky chilly bluish ghostly pearly patchy soft faint cool sallow greenish ashen wispy dreamy
        delicate murky strange gentle velvety lonely yellowish silent damp pretty sluggish feathery restless shimmering
        clammy eerie pale pinkish thick dense heavy silvery grey white morning evening autumn coastal low""",
    "vapour": """fog mist woodsmoke haze steam pollen dust cloud thistledown soot smoke vapour smog snow drizzle sleet
        sand frost sunlight moonlight""",
    "drifts": """veils blurs wraps shrouds tints reaches surrounds softens encircles hides crosses follows cloaks dims
        coats conceals covers envelops haunts fringes muffles powders smothers swathes touches caresses circles dulls
        obscures blankets skirts""",
    "tone": """pale scruffy lanky golden purple thirsty fragrant dusty scarlet potted trailing frilly spiky wild tender
        pampered glossy frosted sunburnt leggy cheerful yellow straggly neglected bushy dwarf velvety windblown pruned
        variegated coral fuzzy drooping mauve sturdy rambling silvery peach crimson twisted shaggy unruly towering timid
        swollen ruffled prickly ornamental magenta luminous heirloom gnarled""",
    "plants": """tulips geraniums sunflowers begonias nasturtiums lilies hydrangeas orchids marigolds peonies foxgloves
        hollyhocks daffodils dahlias irises snowdrops violets roses poppies buttercups pansies petunias azaleas
        magnolias zinnias bluebells cornflowers crocuses lupins asters camellias carnations chrysanthemums cyclamens
        fuchsias gladioli heathers hyacinths lilacs oleanders primroses rhododendrons salvias snapdragons wisterias""",
    "bloom": """need watering|are blooming|look splendid|are drooping|have opened|smell wonderful|sway gently|
        attract bees|have wilted|brighten my walk|make me sneeze|cheer me up|grow like weeds|need pruning|
        survived the frost|impress every visitor|are thriving|hide a hedgehog|remind me of home|lean sideways|
        are turning brown|have gone wild|bend in the wind|came up early|catch the light|nod at passers by|
        are buzzing with bees|drip with dew|please my aunt|got trampled|have greenfly|outlived the drought|glow at dusk|
        were a gift|stand knee high|delight the neighbours|need a stake|smell of honey|puzzle the gardener|
        will soon fade|attracted snails|deserve a prize|shed petals everywhere|are getting leggy|tangle with ivy|
        hum with insects""",
    "traffic": """tram|lorry|scooter|tractor|moped|bus|van|truck|motorbike|train|steamroller|taxi|dustcart|tricycle|
        skateboard|minibus|bulldozer|carriage|limousine|jeep|snowplough|forklift|coach|milk float|fire engine|
        freight train|delivery van|street sweeper|cement mixer|tow truck|rickshaw|tandem|unicycle|pushcart""",
    "distant": """distant rusty speeding battered heavy yellow vintage lonely noisy smoky stray rented chrome muddy
        ghostly red diesel crowded dented rackety driverless shiny turquoise silver belated clanking""",
    "rumbled": """rumbled rattled roared screeched sped clattered thundered trundled wheezed chugged rolled skidded
        hurtled zoomed crept wobbled spluttered hummed whirred glided bumped swept raced groaned swerved""",
    "by": """past by onwards away downhill uphill homewards along off northwards inland""",
    "birds": """gulls geese crows pigeons magpies sparrows starlings swallows ducks hens roosters owls seagulls swans
        herons jackdaws robins blackbirds woodpeckers cuckoos turkeys ravens finches larks doves peacocks parrots
        thrushes terns wagtails rooks cormorants pheasants buzzards kestrels sandpipers puffins pelicans storks quails
        nightingales canaries budgies partridges goslings ducklings chickens warblers""",
    "startled": """startled hungry drowsy outraged jealous soggy plump ragged elderly anxious indignant noisy greedy
        sleepless speckled bold nesting shivering curious furious young wild sulking restless frightened bedraggled
        cheeky ruffled pompous busy proud patient lonely clumsy grumpy muddy playful sleepy nosy chirpy timid fearless
        lazy dizzy handsome tame thirsty solemn moody graceful tired lively""",
    "shrieked": """shrieked squawked screamed chattered scattered fled landed circled gathered panicked squabbled
        fluttered reappeared settled bickered complained swooped called quarrelled hopped paraded perched strutted
        nested hovered assembled flapped danced""",
    "vehicle": """shuttle|plumber|ferry|minibus|locksmith|hovercraft|tow truck|cable car|tram|chimney sweep|milk float|
        coach|vet|lorry|electrician|funicular|taxi|glazier|upholsterer|midwife|trolleybus|night bus|water taxi|
        rental car|bin lorry|snow plough|camper van|steam train|horse cart|moving van|carpet fitter|piano mover|
        tyre fitter|gas inspector|sleeper train|school bus|parcel van|pizza courier|courier|catamaran|speedboat|
        rickshaw|limousine|breakdown van|gritter|gondola|carpenter|roofer|joiner|decorator|gardener|caterer|
        repairman""",
    "waiting": """I am awaiting the|I await the|We await the|I stand awaiting the|I anticipate the|I still await the|
        I sit expecting the|We expect the|I watch for the|I listen for the|I wait for the|We are expecting the|
        I ordered the|I reserved the|We called the|I summoned the|I phoned the|I look for the""",
    "outplural": """benches|deckchairs|bicycles|beehives|hedges|sheds|rowboats|tents|caravans|lampposts|wheelbarrows|
        parasols|fountains|barns|railings|statues|crates|barrels|chimneys|tractors|gazebos|trellises|canoes|kayaks|
        jetties|gates|fences|kiosks|awnings|hammocks|swings|slides|birdbaths|sundials|archways|pergolas|balconies|
        terraces|footbridges|stables|kennels|hutches|dovecotes|trailers|rooftops|gutters|billboards|mailboxes|dustbins|
        cranes|carriages|wagons|barbecues|windmills|boathouses|buoys|anchors|pallets|bollards|signposts|allotments|
        scarecrows|treehouses|driveways|courtyards|alleys|cottages|bungalows|chalets|huts|warehouses|greenhouses|
        market stalls|picnic tables|garden gnomes|log piles|beach huts|fishing boats|stone walls|bus shelters|
        street cafes|flower pots|souvenir stands|towers|porches|verandas|arbours|wells|bridges|pavilions|cabins|garages|
        workshops|henhouses|pigsties|pumps|stalls|booths|smokehouses|summerhouses|toolsheds|turnstiles|lighthouses|
        watchtowers|staircases|lanterns|flagpoles|gateposts|doorways|shopfronts|arcades|sandpits|ladders|troughs""",
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
    "gently": """gently|slowly|quietly|nicely|happily|steadily|patiently|lazily|merrily|noisily|softly|calmly|
        peacefully|away|nearby|unattended|downstairs|properly|beautifully|busily|cosily|tantalisingly|fragrantly|
        temptingly|sleepily|as usual|in peace|in earnest|overnight""",
    "flavour": """weak strong chilled lukewarm organic homemade iced frothy bitter sugary watery creamy fizzy spiced
        cheap expensive unsweetened foamy tepid fragrant instant fresh smoky sour cloudy delicious velvety steaming
        peppery diluted exotic local bottled mellow floral""",
    "drink": """cocoa|lemonade|oolong|buttermilk|chai|kombucha|espresso|decaf|rooibos|camomile|horchata|lassi|matcha|
        kvass|cider|tea|coffee|milk|juice|cordial|broth|squash|soda|mint tea|ginger ale|barley water|tomato juice|
        chicory coffee|malted milk|nettle tea|oat milk|root beer|hibiscus tea|carrot juice|melon juice|jasmine tea|
        birch sap|almond milk|pear nectar|tonic water|sage tea|fennel tea|coconut water|rosehip tea|cappuccino|latte|
        punch|lager|smoothie|milkshake|limeade|eggnog|mead|sherbet|yoghurt|grog|bouillon""",
    "sip": """I am sipping|I drink|I am slurping|I sip|We share|I am nursing|I gulp|I savour|I swig|I enjoy|
        We are sipping|I pour|I keep spilling|I slurp|I am cradling|I inhale|I ordered|I sniff|I decant|I crave|
        We drink|I taste|I am tasting|We slurp""",
    "chipped": """chipped dented tin brass clay wooden plastic steel silver striped turquoise crimson beige lilac
        speckled glazed borrowed scratched souvenir crystal cracked giant tiny leaky stained monogrammed floral enamel
        insulated ugly antique orange pewter frosted tartan sticky porcelain paper bamboo lopsided gilded squat tall
        ornate dainty glittery cobalt faded handmade matching""",
    "mugs": """mugs beakers tumblers teacups flasks goblets bottles tankards cups glasses jars bowls thermoses pitchers
        jugs steins eggcups canteens jamjars""",
    "stale": """stale warm soggy crunchy greasy burnt salty crumbly leathery sticky spongy toasted frozen oily bland
        buttery garlicky dry lumpy charred chewy cold crisp homemade peppery reheated smoky supermarket sweet syrupy
        vegan overpriced""",
    "snack": """scones crumpets dumplings muffins pretzels waffles pancakes biscuits macaroons croissants sandwiches
        crackers almonds olives pickles chips sausages meatballs fritters samosas pasties tarts pies buns rolls bagels
        omelettes noodles peaches raisins apricots prunes sardines anchovies oysters mussels croutons nachos tacos
        pierogi tortillas falafels kebabs flapjacks brownies doughnuts eclairs meringues oatcakes toffees truffles
        mushrooms chickpeas gherkins""",
    "likes": """I enjoy|I love|I adore|I tolerate|I welcome|I praise|I treasure|I crave|I cherish|I recommend|I prefer|
        I like|We enjoy|I appreciate|We love|I drink|I order|We serve|I brew|I sell|We like|I prescribe|I want|I buy|
        We buy|I sip|We brew|I share""",
    "dislikes": """detest avoid dread fear loathe mistrust flee resent mock refuse reject dislike hate distrust abhor
        decline despise ban scorn shun ignore spurn""",
    "reward": """crave deserve enjoy order want fancy recommend need like share request welcome savour choose""",
    "kind_acts": """brought baked sold fried shared offered sent delivered donated served promised recommended
        grilled""",
    "musty": """musty draughty chilly crowded narrow gloomy sunny deserted tidy cramped dim tiled panelled carpeted
        spacious cluttered windowless noisy ancient modern marble beige overheated quiet dusty cold warm humid stuffy
        damp echoing upstairs rented shabby communal grand modest cheerful""",
    "room": """stairwell|canteen|cloakroom|attic|laundrette|corridor|tram|minibus|workshop|pantry|lobby|cellar|tent|
        caravan|garage|conservatory|stockroom|kitchen|study|carriage|boathouse|basement|sunroom|hallway|bathroom|cabin|
        taxi|barn|greenhouse|nursery|studio|waiting room|sports hall|changing room|ferry lounge|night bus|ticket hall|
        guest room|reading nook|staff room|hostel dorm|tool shed|bunkhouse|gymnasium|sauna|library|cafeteria|chapel|
        foyer|vestibule|office|clinic|salon|dormitory|warehouse|loft|stable""",
    "smells": """smells of|reeks of|smelled of|stinks of|still smells of|always smells of|often smells of|
        smells faintly of|whiffs of|stank of|usually smells of|sometimes smells of|oddly smells of|began smelling of|
        will smell of|smells strongly of""",
    "smell": """wet umbrellas|burnt toast|floor polish|fried onions|pine resin|old leather|cinnamon buns|candle wax|
        spilled diesel|damp wool|fresh paint|shoe polish|boiled cabbage|roasted chestnuts|pool chlorine|fresh sawdust|
        ground nutmeg|raw garlic|cut grass|turpentine|vanilla pods|mothballs|stale popcorn|engine oil|dried seaweed|
        hot tar|orange peel|cough drops|cheap hairspray|vinegar|smoked mackerel|eucalyptus|horse feed|crushed cardamom|
        damp newsprint|lemon bleach|warm bread|rubber boots|church incense|aftershave|overripe bananas|gingerbread|
        carbolic soap|burning peat|sunscreen|cedar shavings|wood glue|coffee grounds|liquorice|campfire smoke|rosewater|
        blue cheese|pickled herring|wet dog|hot dust|lemon zest|clean linen|aniseed|fresh thyme|lavender sachets|
        dried cloves|crisp bacon|fried mushrooms|boat varnish|garden compost|spilled perfume|baby shampoo|melted butter|
        caramel|barbecue smoke|nail varnish|peppermint oil|burnt sugar|cold ashes|damp plaster|printer ink|
        geranium leaves|beeswax|celery soup|fish glue|parmesan|sandalwood|swimming trunks|fresh concrete|toffee apples|
        jasmine tea|old carpets|hay bales""",
    "stuff": """flour clay grease wax ink glue sugar pollen chalk crumbs suds polish soil yolk cream sawdust puree
        charcoal glitter jam plaster mustard fur sunscreen butter varnish cocoa dough sand lipstick juice honey cheese
        moss graphite paste shampoo toothpaste wool paint icing ketchup syrup mud resin lotion oil soot marmalade
        foam""",
    "sticky": """sticky dried wet fine smelly pink green white warm cold fresh gritty black brown yellow lumpy thick
        runny crusty greasy scented damp powdery glossy bluish frothy stubborn slimy grey purple orange""",
}

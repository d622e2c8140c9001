"""Small talk that a person may put before a question: where they sit, what they do, the weather, the kettle.

It has to say nothing about the question. So it names nobody, counts nothing, points at nothing with a pronoun and
opens with a word that cannot be taken for a name. A slot's fillers fit every plan that uses the slot.
"""

from __future__ import annotations

from random import Random

from .slots import compile_plan, fill


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in text.split("|"))


_THINGS = {
    "machine": """kettle|dehumidifier|radiator|ceiling fan|tumble dryer|dishwasher|toaster|microwave|boiler|blender|
        printer|scanner|shredder|projector|thermostat|alarm clock|metronome|radio|turntable|cassette deck|amplifier|
        vacuum cleaner|coffee grinder|espresso machine|juicer|rice cooker|slow cooker|bread maker|ice maker|freezer|
        fridge|minibar|water cooler|extractor hood|heat pump|air purifier|humidifier|floor heater|fuse box|modem|router|
        laptop|hard drive|games console|aquarium pump|egg incubator|sewing machine|loom|spinning wheel|desk drill|lathe|
        belt sander|label maker|laminator|photocopier|hair dryer|shaver|treadmill|exercise bike|massage chair|
        baby monitor|cuckoo clock|grandfather clock|egg timer|music box|sandwich press|waffle iron|popcorn maker|
        steam iron|towel rail|shower pump|gas stove|wall oven|tea urn|yoghurt maker|stand mixer|doorbell|smoke alarm|
        answering machine|fax machine|typewriter|paper trimmer|kiln|glue gun|soldering iron|fog machine""",
    "object": """footstool|birdhouse|picture frame|bread bin|lampshade|wheelbarrow|kitchen drawer|toolbox|rocking horse|
        bookend|coat rack|window box|flowerpot|watering can|letterbox|garden gnome|weather vane|trellis|deck chair|
        hammock stand|sledge|canoe paddle|tent pole|fishing rod|lantern|candlestick|mantel clock|mirror|jewellery box|
        umbrella stand|suitcase|trunk|saddle|bicycle basket|scooter|skateboard|pram|cot|toy castle|dollhouse|
        puppet theatre|chess board|accordion|banjo|ukulele|drum|cello case|music stand|easel|globe|telescope|barometer|
        typewriter case|ink stand|pencil box|satchel|picnic hamper|teapot|samovar|copper pan|salad bowl|pepper mill|
        cheese board|cake stand|cookie jar|butter dish|spice rack|wine rack|stepladder|workbench|sawhorse|rake|spade|
        hand plough|beehive|rabbit hutch|dovecote|feed trough|kennel|aquarium lid|curtain rod|door knob|hat stand|
        shoe rack|laundry basket|ironing board|bathtub|washstand|headboard|bunk bed|wardrobe|writing desk|piano stool|
        bar stool|park bench|garden gate|picket fence|sundial|birdbath|clay oven|kite frame|model yacht|carousel horse""",
    "a_state": """a rickety|a dented|a borrowed|a mossy|a crooked|a creaky|a battered|a dusty|a wobbly|a scuffed|
        a faded|a speckled|a turquoise|a crimson|a beige|a lilac|a mustard|a chequered|a striped|a lacquered|a gilded|
        a tarnished|a rusty|a squeaky|a chipped|a scorched|a bulky|a dainty|a quirky|a rustic|a vintage|a clunky|
        a lopsided|a weathered|a patched|a painted|a bamboo|a walnut|a maple|a pewter|a tin|a brass|a cedar|a cork|
        a wicker|a plywood|a homemade|a secondhand|a thrifted|a varnished|a muddy|a grubby|a heavy|a slender|
        a stubborn|a damp|a warped|a foldable|a flimsy|a sturdy|a majestic|a humble|a plain|a garish|a floral|
        an antique|an ornate|an oval|an awkward|an ivory|an ebony|an heirloom|an orange|an ancient|an oaken|
        an inherited|an enamelled|an odd|an elegant|an ugly|an amber""",
    "handling": """varnishing|sanding|polishing|repainting|mending|dusting|unwrapping|sketching|photographing|gluing|
        scrubbing|measuring|oiling|carving|waxing|restoring|hauling|disinfecting|decorating|wrapping|moving|patching|
        admiring|inspecting|assembling|dismantling|lacquering|rinsing|stencilling|tinkering with|fussing over|
        wrestling with|experimenting on|bargaining for|auctioning off|customising|hoisting|lugging|labelling|drawing""",
    "i_am": """I am|I was just|I keep|I have been|I started|I enjoy|We are|I love|I spent ages|We were|I am still|
        I dread|I adore|I usually end up|I find myself|I tried|I will soon be|I am busy|We began|I am forever|
        I prefer|We have been|I got roped into|I am bored of|I am proud of|I like|We like|I fancy|I resumed|I am tired of""",
    "dish": """lentil stew|barley broth|pumpkin soup|leek chowder|bean chilli|the goulash|onion gravy|plum jam|porridge|
        the risotto|tomato sauce|mushroom ragout|coconut curry|oxtail soup|rhubarb compote|apple butter|fish stock|
        the polenta|custard|rice pudding|hot chocolate|caramel|marmalade|chutney|mulled cider|dumpling soup|borscht|
        the paella|ratatouille|the gumbo|squash bisque|miso broth|chickpea tagine|cabbage soup|the fondue|cheese sauce|
        quince jelly|semolina|the bouillon|minestrone|spiced milk|lamb hotpot|beef casserole|pea soup|the cassoulet|
        nettle soup|grits|fig jam|cranberry relish|barbecue sauce""",
    "cooks": """simmers|bubbles|thickens|steams gently|cools|stews|warms up|burbles|reduces|softens|mellows|boils down|
        blips softly|turns glossy|turns fragrant|gets going|hisses at me|starts to set|cooks slowly|reheats|foams|
        splutters|sits on the hob|perfumes the flat|stays on low heat|clings to the spoon|comes to temperature""",
    "drink": """mint tea|iced coffee|buttermilk|ginger ale|lemonade|oolong|cocoa|chai|kombucha|elderflower cordial|
        barley water|espresso|decaf|hot cider|tomato juice|sparkling water|rooibos|chicory coffee|malted milk|nettle tea|
        camomile|lukewarm broth|oat milk|cherry soda|root beer|horchata|lassi|matcha|hibiscus tea|blackcurrant squash|
        green smoothie|carrot juice|melon juice|peppermint tea|jasmine tea|orange squash|birch sap|almond milk|
        pear nectar|tonic water|sage tea|fennel tea|coconut water|rosehip tea|ginger tea|apple spritzer|kvass""",
    "vessel": """thermos|jam jar|mug|beaker|tumbler|teacup|flask|canteen|goblet|bottle|tankard|cup|carafe|milk jug|
        pitcher""",
    "clothes": """slippers|mittens|dungarees|pyjamas|wellingtons|corduroys|flip flops|overalls|clogs|earmuffs|
        hiking boots|leg warmers|tights|sandals|swimming trunks|moccasins|braces|gloves|jogging shorts|snow boots|
        trousers|knee socks|ski pants|plimsolls|loafers|galoshes|bedsocks|cycling shorts|long johns|trainers|jeans|
        waders|gumboots|breeches|stockings|boxer shorts|culottes|gaiters|sneakers|house shoes""",
    "cloth_state": """woollen|striped|soggy|tartan|mismatched|faded|quilted|itchy|velvet|neon|threadbare|oversized|
        spotted|flannel|muddy|crumpled|lavender|knitted|squeaky|borrowed|scarlet|checked|fluffy|sensible|ridiculous|
        stiff|linen|khaki|maroon|dotted|floppy|cosy|tight|loose|brown|teal|creased""",
    "animal": """cat|parrot|hamster|greyhound|tortoise|dachshund|ferret|rabbit|terrier|budgie|poodle|iguana|kitten|gecko|
        spaniel|cockatoo|whippet|goose|hen|collie|beagle|tabby|canary|guinea pig|corgi|puppy|hedgehog|mynah|bulldog|
        sheepdog|labrador|goat|duckling|lamb|piglet|pug|pigeon|gerbil|chinchilla|rooster""",
    "animal_state": """sleepy|nosy|plump|grumpy|shaggy|timid|elderly|greedy|fluffy|wet|pampered|bossy|curious|skittish|
        ginger|snoring|jealous|aloof|muddy|clumsy|regal|playful|shy|sulky|freckled|stout|spoilt|nervous|bashful|proud|
        scruffy|mellow|hyperactive|devoted|yawning|limping|drowsy|sneaky|vocal|patient""",
    "animal_does": """naps on|guards|sniffs|circles|sprawls across|has claimed|scratches|stares at|hides behind|nibbles|
        drools on|perches on|ambushes|snores under|licks|tiptoes around|yelps at|shuns|leans against|pounces on|
        rolls over|rubs against|tugs at|jumps onto|burrows into|growls at|sheds fur on|trots past|paws at|sneezes on|
        sits on|slides off|chews|prefers|sleeps beside|patrols|knocked over|lounges on|keeps eyeing|worships""",
    "furniture": """the ottoman|my yoga mat|the piano|a beanbag|the doormat|my knitting|the bookcase|a heap of towels|
        the sofa|my slippers|the hearth rug|a cardboard box|the windowsill|my backpack|the coffee table|a wicker basket|
        the armchair|my pillow|the laundry|a paper bag|the wardrobe|my jigsaw|the cushions|a rolled carpet|the ironing|
        my notebook|the staircase|a potted fern|the footstool|my gym bag|the curtains|a tennis ball|the bathmat|
        my duvet|the keyboard|a stack of magazines|the dresser|my scarf|the toolbox|a crate of lemons|the hammock|
        my raincoat|the mattress|an umbrella|the recycling|my crossword|the tablecloth|a garden hose|the vacuum cleaner|
        my sandwich|the radiator|an old blanket|the suitcase|my shoelaces|the broom|a woollen hat|the sheepskin""",
    "plants": """tulips|ferns|geraniums|sunflowers|begonias|nasturtiums|tomato vines|runner beans|lilies|hydrangeas|
        orchids|cacti|marigolds|peonies|foxgloves|hollyhocks|bamboo shoots|lavender bushes|daffodils|dahlias|irises|
        snowdrops|violets|wild roses|thistles|nettles|poppies|buttercups|pansies|petunias|azaleas|magnolias|zinnias|
        sweet peas|chilli plants|courgettes|rosemary sprigs|basil pots|ivy tendrils|aloe leaves|succulents|palms|
        bluebells|cornflowers|gooseberries|raspberry canes|leeks|cabbages|pumpkins|radishes|clematis buds|crocuses""",
    "plants_do": """lean toward|brush against|droop beside|have overrun|crowd around|peek over|shade|sway near|flank|
        brighten|creep along|tumble down|poke through|thrive beneath|sprawl by|soften|hug|tickle|twine around|
        surround|glow beside|nod at|frame|spill over|climb|grow wild behind|tower above|hide|conceal|wilt under""",
    "tone": """pale|scruffy|lanky|golden|purple|thirsty|fragrant|dusty|scarlet|late|potted|trailing|frilly|spiky|wild|
        tender|pampered|glossy|frosted|sunburnt|leggy|cheerful|yellow|straggly|neglected|shy|bushy|dwarf|velvety|
        windblown|pruned|variegated|coral|fuzzy|drooping|mauve|sturdy|rambling|silvery|peach""",
    "outdoors": """the greenhouse|our tin awning|the porch swing|my allotment shed|the cobbled lane|a parked caravan|
        the bandstand|our drying sheets|the chicken coop|the canal boats|a row of beehives|the tennis court|the skylight|
        our gravel drive|the bus shelter|a stack of firewood|the hay bales|the clothesline|our compost heap|the pier|
        a striped marquee|the playground slide|the duck pond|our balcony rail|the stable roof|a derelict kiosk|
        the orchard wall|the picnic tables|our bicycle rack|the fire escape|a wooden jetty|the pavement chairs|
        the vegetable beds|our satellite dish|the rowing boats|a blue tarpaulin|the car park|the rose arbour|
        our garden steps|the bonfire pile|a fishing hut|the stone well|the bowling green|our rain barrel|the loading bay|
        a pile of bricks|the paddock|the sandpit|our hammock|the lamp posts|a wrought iron gate|the outdoor pool|
        the boathouse|our trampoline|the potting bench|a parasol|the hedge maze|the milk crates|our chimney|the alley""",
    "wet": """drizzle|sleet|hail|rain|a cloudburst|a downpour|a light shower|a squall|freezing rain|a thunderstorm|
        a passing shower|pelting rain|warm rain|a spring storm|a rainstorm|thundery rain|icy rain|horizontal rain|
        monsoon rain|an icy shower|a summer shower|a cold drizzle|mountain rain|a hailstorm|coastal rain|autumn rain|
        tropical rain|a noisy shower""",
    "wets": """drums on|batters|lashes|soaks|pelts|hammers|rinses|spatters|keeps hitting|drenches|whips across|
        rattles on|is sweeping|scours|slaps|pummels|rakes|crashes onto|pours over|taps on|thrashes|bounces off|
        gushes over|tests|is pounding|is washing|patters on|scrubs|douses|showers""",
    "like": """like dried peas|like spilled rice|like tap shoes|like loose gravel|like clapping hands|like snare drums|
        like frying bacon|like dropped marbles|like tossed coins|like radio static|like wet gravel|like an angry goose|
        like shaken maracas|like thrown pebbles|like tiny hooves|like impatient fingers|like popping corn|
        like an untuned banjo|like typing clerks|like rattled dice|like a drum solo|like crumpled foil|
        like falling beads|like galloping ponies|like a carwash|like jangling keys|like knitting needles|
        like stampeding sheep|like crackling vinyl|like cheap fireworks|in noisy bursts|with real gusto|
        in slanting sheets|with dull thuds|in fits|with icy patience|in silver streaks|with theatrical flair""",
    "vapour": """fog|mist|woodsmoke|haze|steam|pollen|dandelion fluff|fine dust|bonfire smoke|sea fret|chimney smoke|
        grill smoke|freezing fog|powdery snow|airborne pollen|ground fog|blossom|thistledown|exhaust|soot|
        barbecue smoke|sea mist|spring haze|desert dust|low cloud|birch pollen|garden smoke""",
    "drifts": """drifts over|hangs above|settles on|spreads across|creeps around|lingers by|veils|floats past|blurs|
        wraps|pools around|hovers near|trails along|slips between|shrouds|curls over|lies over|wanders past|dulls|
        softens|bathes|reaches|tints|glides over|gathers round""",
    "airy": """lazy|thin|milky|chilly|bluish|ghostly|pearly|patchy|sweet|soft|drowsy|faint|cool|sallow|greenish|tired|
        ashen|wispy|dreamy|bitter|delicate|murky|strange|gentle|velvety|idle|lonely|yellowish|silent|slow|peppery|
        wandering|stray|damp|pretty|unhurried""",
    "smell": """wet umbrellas|burnt toast|floor polish|fried onions|pine resin|old leather|cinnamon|candle wax|diesel|
        damp wool|fresh paint|shoe polish|boiled cabbage|roasted chestnuts|chlorine|sawdust|nutmeg|garlic|cut grass|
        turpentine|vanilla|mothballs|popcorn|engine oil|seaweed|hot tar|orange peel|cough drops|hairspray|vinegar|
        smoked mackerel|eucalyptus|horse feed|cardamom|newsprint|bleach|warm bread|rubber boots|incense|aftershave|
        overripe bananas|gingerbread|mustard|soap|peat|sunscreen|cedar shavings|glue|mould|coffee grounds|liquorice|
        campfire smoke|rosewater|blue cheese|pickled herring|wet dog|hot dust|lemon zest|clean linen|aniseed|thyme""",
    "room": """stairwell|waiting room|canteen|cloakroom|attic|laundrette|corridor|tram|minibus|workshop|pantry|lobby|cellar|
        sports hall|changing room|bakery queue|lift|ferry lounge|tent|caravan|garage|conservatory|stockroom|kitchen|
        night bus|ticket hall|study|guest room|carriage|boathouse|basement|sunroom|hallway|bathroom|cabin|taxi|
        reading nook|staff room|barn|greenhouse|hostel dorm|tool shed|mud room|landing|rehearsal space|bunkhouse|nursery""",
    "smells": """smells of|reeks of|smelled faintly of|always smells of|is thick with the scent of|carries a whiff of|
        still smells of|has begun to smell of|gave off an aroma of|hits me with|welcomes me with|stinks of|
        tends to smell of|is perfumed by|gives me memories of|holds traces of""",
    "stuff": """flour|wet clay|engine grease|candle wax|blue ink|wood glue|icing sugar|pollen|chalk|biscuit crumbs|soap suds|
        shoe polish|garden soil|egg yolk|face cream|sawdust|tomato puree|charcoal|glitter|jam|plaster|mustard|cat hair|
        sunscreen|peanut butter|varnish|cocoa powder|bread dough|sand|lipstick|beetroot juice|honey|melted cheese|
        moss|pencil lead|wallpaper paste|shampoo|toothpaste|sheep wool|green paint""",
    "body": """elbows|knees|knuckles|wrists|fingertips|shoulders|thumbs|ankles|calves|shins|heels|palms|toes|hips|
        eyebrows|eyelids|cheeks|forearms|ears|temples|soles|lips|sleeves|cuffs""",
    "limb": """elbows|knees|knuckles|wrists|fingers|shoulders|thumbs|ankles|calves|shins|heels|palms|toes|hips|arms|legs|
        thighs|hands|feet|joints""",
    "aches": """ache|sting|tingle|throb|feel stiff|are sore|protest|creak|are numb|grumble|feel heavy|are trembling|
        burn|complain|smart|feel wobbly|are swollen|twinge|seized up|went limp|are chapped|feel tender|stiffened""",
}

_PEOPLE = {
    "role": """flatmate|cousin|neighbour|aunt|uncle|landlord|roommate|nephew|niece|grandfather|godmother|lodger|barber|
        plumber|dentist|florist|stepbrother|sister|brother|postman|caretaker|babysitter|tailor|mechanic|
        physiotherapist|hairdresser|grocer|stepmother|piano tuner|vet|window cleaner|gardener|chess partner|goddaughter|
        father|twin|optician|driving instructor|yoga coach|tennis partner|butcher|fishmonger|librarian|grandmother""",
    "office": """receptionist|intern|desk neighbour|supervisor|office cleaner|night porter|accountant|team leader|trainee|
        security guard|archivist|secretary|copy editor|technician|lab assistant|storekeeper|bookkeeper|night nurse|
        canteen cook|deputy|project manager|dispatcher|courier|electrician|designer|translator|auditor|clerk|foreman|
        shift partner|new hire|consultant|paralegal|office mate|warehouse manager|proofreader|payroll officer""",
    "noisy": """whistles sea shanties|practises the bagpipes|slurps noodles|hums advertising jingles|yodels in the bath|
        taps biros|cracks walnuts|snores through lunch|narrates every chore|slams cupboards|drums on saucepans|
        crunches celery|sneezes like thunder|argues with parking meters|shouts at referees|clips hedges at dawn|
        rehearses tap routines|blares talk radio|stomps upstairs|cackles at puns|recites tongue twisters|
        gargles salt water|jingles spare change|chews ice cubes|sharpens knives nightly|mimics owls|strums minor chords|
        beatboxes over breakfast|vacuums before sunrise|bounces a basketball indoors|clicks ballpoints|scrapes chairs|
        grinds coffee endlessly|lectures the houseplants|sings to tomatoes|plays kazoo duets|bangs rugs|munches crackers|
        juggles oranges badly|polishes trumpets|belts out ballads|murmurs proverbs|pops bubble wrap|rustles crisp packets|
        coughs theatrically|hammers picture hooks|yawns like a walrus|swears at wasps|giggles at emails|clacks castanets""",
    "react": """so I borrow earplugs|but I stay cheerful|and I hum along|so I moved to the balcony|
        but the biscuits are good|and my coffee shakes|so I retreat under headphones|but we get along|
        and nobody blinks|so concentration is hard|but silence feels worse|and the dog joins in|
        so I work by the window|but I hardly mind|and I nod politely|so I stuff cotton wool in|so I took a stroll|
        but I find comfort in noise|and I pretend to read|so naps are impossible|but habit makes me deaf|
        and the windows rattle|but I would never complain|and I laugh every time|so I hide in the pantry|
        but afternoons are calm|and the parrot copies|so my tea went cold|but patience suits me|and I keep scribbling|
        so I chew peppermints|but I grew fond of noise|and I roll my eyes|so I escape to the roof|
        but charm excuses much|and I tap my foot""",
    "quirk": """waters plastic ferns|alphabetises tea bags|collects bottle caps|irons shoelaces|feeds sparrows|
        writes in green ink|folds paper cranes|wears odd socks|peels grapes|hoards rubber bands|polishes doorknobs|
        carries a kazoo|eats sardines cold|photographs clouds|sketches pigeons|dusts the lightbulbs|names the staplers|
        waxes a moustache|brings sourdough rolls|knits under the desk|brews fennel tea|naps upright|stacks sugar cubes|
        repots cacti|wears cufflinks|dunks crackers in cocoa|rearranges the cushions|sorts paperclips by colour|
        takes the stairs backwards|salutes the coffee machine|keeps snails|trims bonsai|draws moustaches on fruit|
        whittles spoons|tidies the cable drawer|doodles dragons|orders extra pickles|meditates by the copier|
        stretches like a cat|practises card tricks|quotes horoscopes|changes fonts|crochets mug warmers|burns incense|
        hides chocolate coins|cleans spectacles|balances pencils|sniffs markers|braids cables|labels yoghurt""",
    "moment": """during every coffee break|before staff meetings|after lunch|at closing time|on rainy mornings|near deadlines|
        between phone calls|whenever the boss leaves|around teatime|when the lights flicker|at the crack of dawn|
        on the late shift|during fire drills|under stress|with great ceremony|for good luck|behind the filing cabinet|
        in the stationery cupboard|to calm down|out of boredom|with a straight face|every dull afternoon|on pay day|
        in slow motion|by the water cooler|as a warm up|before breakfast|after the school run|at weekends|in winter|
        during conference calls|near the fax machine|when deliveries arrive|against doctors orders|for mental balance|
        on the fire stairs|with monkish devotion|over elevenses|in the lunch queue|beside the shredder""",
    "stranger": """a courier|a busker|a tired nurse|a bearded cyclist|a toddler|a student|a gardener|an old sailor|
        a tall waiter|a commuter|a schoolboy|a nun|a jogger|a plasterer|a traffic warden|a trainee chef|a skater|
        a farmer|a soldier|a tourist|a violinist|a window cleaner|a grandmother|a street sweeper|a bride|a lifeguard|
        a welder|a magician|a surfer|a fishmonger|an usher|a monk|a pilot|a beekeeper|a cheerful priest|a vet|a porter|
        an acrobat|a roofer|a milkman""",
    "doing": """juggling damp umbrellas|balancing a cake box|humming a waltz|untangling headphones|haggling over radishes|
        rehearsing excuses|adjusting a monocle|tying shoelaces|unfolding a map|peeling a mango|rocking a pram|
        soothing a beagle|chewing liquorice|flirting with the cashier|shaking out a poncho|unwrapping toffee|
        whistling off key|dragging a cello|comparing melons|hunting for matches|licking a stamp|fanning a receipt|
        stacking saucers|nursing a cold|blowing on soup|cuddling a cactus|wrestling with a pushchair|admiring the pastries|
        polishing sunglasses|reading horoscopes aloud|dropping blueberries|demanding a refund|tasting olives|
        swatting a wasp|lacing roller skates|bandaging a thumb|sniffing candles|buttoning a raincoat|rolling cigars|
        spilling oat milk|guarding a birdcage|practising sign language|tuning a mandolin|sewing on a badge|
        zipping a sleeping bag|nibbling a pretzel|photographing shoes|wiping foggy glasses|stirring instant noodles""",
    "counter": """cobbler|bakery|butcher|post office|chemist|ticket|cheese|barber|key cutter|fishmonger|florist|juice|
        pawnshop|hardware|haberdashery|library|delicatessen|ice cream|coffee|sandwich|pharmacy|souvenir|check in|
        locksmith|candy|tobacco|toy shop|bicycle rental|noodle|doughnut|stationery|pet shop|tailor|popcorn""",
    "chat": """A chat|A stroll|A long lunch|A phone call|An argument|A bus ride|A slow breakfast|A picnic|A card game|
        A queue|A carpool|A quick coffee|A joke|A letter|A daft wager|A dinner|A row|A video call|A boat trip|
        A barbecue|A text exchange|A heated debate|A sauna session|A gossip|A tea break""",
    "chat_topic": """orchids|tide tables|beekeeping|sourdough|origami|sleeping pills|wallpaper|meteor showers|crocheting|
        garden slugs|knots|moustaches|pickles|thermal socks|ghost stories|compost|fonts|kayaks|dog shampoo|cheese rinds|
        magic tricks|snoring|lawn stripes|bird calls|vintage buttons|parking|hiccups|volcanoes|trampolines|goldfish|
        rhubarb|bunk beds|yodelling|moss|lighthouses|wedding hats|barnacles|rain gauges|toenails|sundials|mosquito nets|
        peppercorns|ventriloquism|rubber ducks|odd gloves|cloud shapes|car seats|teabags|haircuts|sandcastles|saunas|
        typewriters|porridge|bagpipes|cold showers|houseboats|glaciers|aprons|bunions|kites|tea cosies|caravans""",
    "left": """left me curious|sparked my interest|got me wondering|keeps nagging at me|stirred an old itch|
        sent me here|woke my inner nerd|gave me an idea|set me thinking|kept me awake|fired me up|
        brought me to the keyboard|prompted my message|nudged me to write|has me intrigued|tickled my brain|
        got under my skin|rekindled my curiosity|ended in a friendly bet|became a small obsession|
        distracted me nicely""",
}

_DOINGS = {
    "idle": """browse seed catalogues|sort old buttons|sharpen pencils|darn socks|fold napkins|shell peas|water the cress|
        wind wool|oil the hinges|solve crosswords|peel chestnuts|shuffle cards|polish spoons|doodle whales|knit a scarf|
        repot basil|lace my boots|trim candle wicks|stretch my hamstrings|tidy receipts|sew on patches|mend a puppet|
        tune my ukulele|fix the zip|hull strawberries|stack logs|whisk eggs|grate ginger|press flowers|dust ornaments|
        practise handstands|file my nails|sketch teapots|clean paintbrushes|roll dough|rinse lentils|chop parsley|
        colour a mandala|gut mackerel|pit cherries|untangle fairy lights|write postcards|scrub potatoes|bottle vinegar|
        fill bird feeders|learn morse code|rehearse card tricks|bleach tea towels|sweep crumbs|rub balm on my feet|
        pair up socks|soak beans|test fountain pens|plait garlic|build matchstick bridges|thread beads|brush the dog|
        scrape carrots|rotate the cushions|label jam jars|juggle lemons|wax my skis|glue a vase|cut coupons""",
    "activity": """kneading dough|folding laundry|sorting buttons|pruning roses|chopping firewood|weeding borders|
        stacking crates|scrubbing tiles|painting fences|hauling compost|rowing|ironing shirts|digging ditches|bowling|
        shovelling snow|picking gooseberries|plastering walls|juggling clubs|hanging curtains|climbing ladders|
        shearing sheep|carving pumpkins|beating carpets|trampolining|moving wardrobes|cleaning gutters|raking leaves|
        fencing practice|kayaking|sanding floorboards|mucking out stables|pushing prams|washing windows|skipping rope|
        planting bulbs|milking goats|laying bricks|grating horseradish|baling hay|salsa lessons|pitching tents|
        waxing surfboards|carrying groceries|wringing towels|typing minutes|roller skating|assembling shelves|
        tossing pancakes|bell ringing|mowing verges|gutting herring|whittling|polishing silver|mopping corridors|
        winding yarn|harvesting potatoes|archery|unloading vans|archiving folders|trimming hedges|mixing cement|
        hand washing jumpers|breadmaking|ice skating|tap dancing|gardening|scraping wallpaper|walking greyhounds""",
    "indoors": """behind the laundry basket|beside the bread bin|under the stairs|next to the fish tank|on the pantry shelf|
        by the coat hooks|near the back door|in the spare bedroom|above the sink|opposite the bookcase|on the landing|
        below the skylight|in the hallway|beneath a crooked clock|beside my filing tray|against the larder wall|
        between the houseplants|in the utility room|by the umbrella stand|on the workbench|in the corner|across the hall|
        under a dust sheet|atop the wardrobe|near my left elbow|in the cupboard|behind the curtains|on the kitchen island|
        beside a dripping tap|next to the recycling|among the paint tins|at the foot of the bed|near the radiator|
        on a wobbly trolley|behind the ironing board|by the cat flap|in the old nursery|within arm reach|upstairs|
        in the basement|beneath the calendar|beside the shoe rack|on the dresser|in the next room|over by the piano|
        behind the sofa|under my desk|near the draughty window|beside the mop bucket|in the alcove""",
    "seat": """on the fire escape|by the canal|in a window seat|on an upturned crate|under the pergola|at the kitchen counter|
        on the back porch|in a deck chair|beside the bonfire|on the ferry deck|in a parked van|at the bus depot|
        under an awning|on a mossy wall|in the hammock|at the airport gate|on the garden steps|in the laundrette|
        beside the tennis courts|on a picnic rug|in the hotel lobby|under a plane tree|at the allotment|on the pier|
        in the dentist waiting room|by the duck pond|on a camp bed|at a wobbly table|in the breakfast nook|on the roof|
        beside the stove|in the back row|on the night train|at the riding stables|in my sleeping bag|by the ice rink|
        on the stairs|in a rocking chair|near the vending machines|at the ski lodge|on a bar stool|in the orchard|
        under my umbrella|beside the paddling pool|on the balcony|in the staff kitchen|at the laundry counter|
        near the campsite tap|on a hay bale|in a crowded carriage|by the baggage belt|at the youth hostel""",
    "adverb": """softly|stubbornly|faintly|merrily|oddly|wearily|steadily|ominously|happily|feebly|loudly|nervously|
        politely|rhythmically|lazily|endlessly|angrily|hoarsely|sweetly|wildly|gloomily|smugly|hopelessly|tirelessly|
        sadly|gently|fitfully|mysteriously|gamely|sourly|proudly|jauntily|peevishly|dutifully|musically|alarmingly|
        bravely|placidly|erratically|pleasantly""",
    "whirs": """hums|whirs|rattles|clicks|buzzes|squeaks|creaks|wheezes|hisses|ticks|groans|chirps|beeps|rumbles|purrs|
        crackles|clatters|mutters|sputters|grumbles|whines|clanks|thrums|murmurs|shudders|splutters|sighs|drones|
        trembles|whistles|chatters|blinks|hiccups|wobbles|clunks|vibrates|moans|pings|judders|gurgles""",
    "whirring": """elderly|wheezy|trusty|secondhand|temperamental|dented|noisy|faithful|rusty|beige|bargain|clumsy|hardy|
        ancient|modest|quirky|shiny|compact|moody|rented|tired|lime green|cranky|patched up|reliable|gleaming|squat|
        ailing|cheap|portable|inherited|grimy|retro|mottled|delicate|cantankerous|boxy|chrome|miniature|fussy""",
    "fails": """sulks again|tripped the fuse|smells scorched|needs a mechanic|went on strike|overheats|keeps jamming|
        hates the cold|makes a racket|refuses to start|flashes red|gave up overnight|is being serviced|caught a chill|
        blew a gasket|screeches horribly|acts up|runs too hot|was unplugged|is under repair|threw sparks|
        startled the cat|shakes the shelves|broke down|died yesterday|stalls constantly""",
    "typing": """am typing|scribble notes|am dictating|sit hunched|huddle|am working|write|pace about|am camped|jot things down|
        am perched|type slowly|sit cross legged|am nestled|keep shivering|read|am curled up|tap away|linger|sprawl|
        am stationed|compose messages|hide|potter about|work standing|am parked|study|sit|loiter|settle""",
    "wrapped": """under quilted blankets|in fingerless mittens|beside the oven|in my neighbour garage|by torchlight|
        at a cafe table|with cold tea|in thermal underwear|near an open window|at the ironing board|
        with chattering teeth|under a parasol|among moving boxes|in the public library|with wet hair|on the doorstep|
        beside a paraffin lamp|with the curtains drawn|in a sunny corner|on the bathroom floor|with numb toes|
        at the garden table|in my ski jacket|beneath the hand dryer|with a grumbling stomach|in the car|on cushions|
        beside a snoring spaniel|with headphones on|under the eaves|in a patch of sun|at my cousin place|on the steps|
        with a woolly hat|by an electric fire|on an airbed|near the lifts|behind a folding screen|in bed""",
    "mood": """I feel chirpy|I am in high spirits|my mood is sunny|I feel oddly calm|I am wide awake|I cannot stop grinning|
        I feel rather noble|curiosity keeps me going|I am itching to learn|my appetite is splendid|I slept like a log|
        I feel quite spry|I would gladly repeat today|my head is clear|I am humming tunes|I refuse to lie down|
        coffee works wonders|I remain an optimist|I still want to dance|pride outweighs pain|
        I could sing|I am fond of exercise|fresh air agrees with me|I am up for a puzzle|laughter helps|
        the bath is running|I feel virtuous|my spirits are high|I am glad of company|I am perfectly content|
        I keep smiling|the view was lovely|a nap can wait|I earned my cake|my brain wants a workout""",
    "if": """the drizzle stops|my sourdough rises|the babysitter comes|the ferry runs|my cold clears up|the wind drops|
        traffic is light|the glue dries|my boots hold out|the dog behaves|the sun returns|my cousin agrees|
        the car starts|my headache fades|the tide is low|the plumber leaves early|the paint dries|my knee holds|
        the ice melts|the baby naps|the pool opens|my sister drives|the shops are quiet|the fog thins|my bread browns|
        the parcel comes|the fire lights|my shift ends early|the boss is away|the stove behaves|my socks dry|
        the snow sticks|the wasps go away|my laundry dries|the moon is out|the heating works|my back allows|
        the fish bite|the market is open|my train is on time|the gate is unlocked|the kids calm down|the clouds part""",
    "plan": """rake leaves|fly kites|bake scones|visit the aquarium|paddle a canoe|prune the quince|roast marshmallows|
        wash the car|go mushroom picking|ride my moped|sunbathe|pick blackberries|sketch boats|barbecue sausages|
        build a snowman|walk the terrier|catch crabs|play badminton|stargaze|swim lengths|plant garlic|air the duvets|
        buy fresh oysters|polish my boots|dig up turnips|test my drone|throw pots|ride a pony|hang bunting|cycle|
        play croquet|grill aubergines|feed swans|photograph herons|skim stones|jog|stroll about|clean the grill|
        gather pinecones|varnish the bench|practise golf swings|hike|repair a puncture|sell lemonade|brew cider|
        shake the rugs|go sledging|forage for nettles|juggle torches|paint the shutters|dance barefoot|camp""",
    "plan_where": """by the reservoir|with my godson|along the towpath|behind the barn|until dusk|at the lido|near the dunes|
        in the meadow|on the common|before supper|with old schoolmates|at my uncle farm|around the lake|up the hill|
        under the viaduct|beside the marsh|in the walled garden|on the beach|with the neighbours|near the lighthouse|
        after work|in the courtyard|at the campsite|past the windmill|in the clearing|with my choir friends|at sunset|
        on the south slope|by the weir|in my wellingtons|at the quarry|outside the cottage|near the vineyard""",
    "vehicle": """airport shuttle|plumber|night ferry|parcel van|locksmith|school bus|tow truck|cable car|tram|
        pizza delivery|ice cream van|chimney sweep|milk float|rental car|water taxi|express coach|vet|furniture lorry|
        window fitter|electrician|funicular|moving van|taxi|bin lorry|florist van|mobile library|hotel minibus|
        snow plough|midwife|tyre fitter|gas inspector|fishing boat|sleeper train|river cruiser|upholsterer|camper van|
        glazier|piano mover|carpet fitter|steam train|horse cart|ski lift|cement mixer""",
    "waiting": """I am waiting for the|I await the|We are waiting for the|I stand awaiting the|
        I keep listening for the|I am watching for the|I still await the|I am up early for the|I sit expecting the|
        I am here for the|We expect the|I listen for the|I look out for the|We are ready for the|
        I keep checking for the|We dressed up for the|I am hoping for the|I woke up for the|We are lined up for the""",
    "carry": """thermos|cello case|sleeping toddler|birdcage|potted fern|rolled carpet|hatbox|melon|tuba|wet spaniel|
        fishing net|garment bag|ironing board|birthday cake|snowboard|pushchair|stack of forms|paper lantern|bunch of leeks|
        surfboard|toolbox|folding chair|tripod|sack of onions|goldfish bowl|butterfly net|jar of honey|unicycle|
        bag of limes|sewing kit|walking stick|sore tooth|head cold|puzzle magazine|giant pretzel|hockey stick|ukulele|
        bundle of laundry|flat tyre|wicker basket|leaky pen|sprained wrist|bouquet|squeaky trolley|pillow|rucksack|
        cheese sandwich|broken zip|pocket radio|packet of crisps|hot pie|tennis racket|dripping umbrella|kite""",
    "view": """geese crossing a meadow|barges unloading gravel|boys chasing a hoop|joggers dodging puddles|
        washing on a line|a heron on a post|cranes swinging girders|sheep on a hillside|gulls fighting over chips|
        a cat on a chimney|skaters tracing loops|a tractor turning|divers pulling on fins|cows under an oak|
        lanterns along a jetty|a scarecrow losing straw|cyclists sharing a flask|monks raking sand|a balloon rising|
        waves hitting rocks|foxes near the bins|roofers eating sandwiches|a mural drying|pigeons on a gutter|
        golfers hunting for a ball|snow on the peaks|a crow dropping nuts|bees in the clover|a train snaking uphill|
        ducks in formation|windmills turning|a dog herding leaves|swallows on the wires|a frozen pond|
        vines climbing a tower|a goat on a shed|sailors coiling rope|smoke above the birches|boats at anchor|
        laundry freezing stiff|a lamplighter at work|a kite stuck in branches|teenagers playing frisbee""",
    "from": """bunk|window seat|hammock|balcony|desk|bathtub|hotel bed|kitchen stool|tent flap|hospital bed|attic perch|
        dentist chair|ladder|rooftop|cabin|porch|saddle|train seat|lookout|armchair|treehouse|office cubicle|cafe table|
        deck chair|sleeping berth|garden swing|stairwell|lunch spot|rowing boat|caravan step|ward|studio|ski lift""",
    "i_see": """I can see|I watch|I am admiring|I spot|I keep noticing|I have a fine view of|I could sketch|I glimpse|
        I am looking down on|I gaze at|I was observing|I overlook|I can make out|I get to enjoy|I have been filming|
        I am painting|I stare at|I am describing""",
    "sound": """tuba scales|a crying baby|furniture being dragged|clinking bottles|a hoover|church bells|
        canned laughter|marital bickering|a squash game|hammering|tap water|pan pipes|a parrot swearing|bedsprings|
        barking|giggles|an opera warm up|karaoke|mice scratching|a printer jamming|typing|sleigh bells|
        a kettle shrieking|hiccups|ping pong|drilling|lullabies|bathtub singing|castanets|roller skates|a harmonica|
        chess clocks|snoring|a lathe|slamming drawers|clog dancing|a brass band|yodelling|a foghorn|rain on canvas|
        popping corks|gargling|cartoons|a treadmill|whispered prayers|violin exercises|dripping|a sewing machine|
        cheering|bongos""",
    "through": """thin wall|letterbox|ceiling|open hatch|air vent|party wall|keyhole|floorboards|hedge|bathroom tiles|
        canvas|garden fence|lift shaft|paper screen|open window|skylight|stairwell|drainpipe|chimney|curtain|fog|
        serving hatch|thatch|cabin wall|office partition|hotel door|hotel wall|shutters|plasterboard|beaded curtain""",
    "i_hear": """I hear|I can make out|comes the noise of|I am treated to|I overhear|I keep hearing|I catch|
        drifts the sound of|I have been hearing|I detect|leaks the racket of|I listen to|filters the din of|I enjoy|
        we hear""",
    "event": """tram rumbled past|shutter banged|lorry backfired|saucepan lid fell|siren wailed|firework fizzled|
        courier knocked|branch snapped|vase toppled|skateboard clattered|moth hit the lampshade|drone buzzed over|
        light bulb burst|ladder slid sideways|bin lid rolled away|spoon bent|car alarm went off|bus splashed by|
        zip broke|jogger tripped|delivery drone landed|snowball hit the pane|hatstand tipped over|clock chimed|
        bell tolled""",
    "doc": """allotment|parish|knitting club|safety|pottery|bird watching|cookery|fitness|chess club|customer|travel|sailing|
        gardening|staff|tenants|judo|choir|recycling|canteen|hiking|wine|dog show|scout|museum|night class|robotics|
        cycling|archery|school|drama|dance|astronomy|carpentry|fishing|bakery|insurance|swimming|jazz|camping""",
    "doc_kind": """newsletter|leaflet|report|application|speech|column|handout|poster|worksheet|presentation|bulletin|essay|
        pamphlet|logbook|proposal|article|script|summary|rota|guide|brochure|blog|programme|memo|portfolio|quiz sheet""",
    "due": """is due|must be printed|goes out|has to be ready|should be posted|gets collected|needs proofreading|
        will be read aloud|is wanted|must reach the editor|is to be laminated|goes to press|has to be translated|
        gets judged|should be pinned up|is being checked|must be signed off|is expected|needs stapling|will be graded""",
    "deadline": """before dark falls|by early evening|at the crack of dawn|before the bake sale|within the hour|
        after the weekend|before bath time|before the rehearsal|ahead of the inspection|at the stroke of noon|
        before the holidays|when the bell rings|before the boss returns|by tomorrow morning|before the kettle boils|
        during the next meeting|around closing time|straight after lunch|before my train leaves|ahead of the picnic|
        at the start of term|before moonrise tonight|before the printers close|before the raffle|in time for supper|
        on short notice|before frost sets in|soon after breakfast|by the weekend|before my dental appointment|
        under strict supervision|prior to my holiday|by order of management|before the cleaners come|
        at very awkward hours|ahead of the barbecue|in a mad rush""",
    "hobby": """falconry|calligraphy|juggling|taxidermy|basket weaving|unicycling|pickling|wood turning|knife throwing|
        ballroom dancing|cheesemaking|bell ringing|metal detecting|birdwatching|candle making|lute playing|bonsai|fencing|
        bookbinding|yoga|quilting|ice carving|mime|sudoku|kite building|tightrope walking|glassblowing|beekeeping|curling|
        snorkelling|clog dancing|croquet|baking pretzels|whittling|tarot reading|macrame|skydiving|embroidery|karate|
        stone skipping|ham radio|model trains|soap carving|bagpiping|felting|darts|fire eating|orienteering|topiary""",
    "took_up": """took up|has discovered|is mad about|swears by|gave up|wants to teach me|has been boasting about|dreams of|
        became hooked on|spends weekends on|preaches about|is writing to me about|returned to|dabbles in|is obsessed with|
        talks nonstop about|dropped work for|blames the weather for|relaxes with|enrolled in|earned a badge in""",
    "good": """fog|brass bands|long queues|early trains|cold baths|crowded buses|stormy nights|slow lifts|
        pebble beaches|board games|loud markets|old radios|bitter coffee|quiet offices|tight collars|garden parties|
        sour cherries|owls|handwritten letters|cheap perfume|roller coasters|flannel sheets|thick soup|ceiling fans|
        strong cheese|bagpipes|plastic chairs|window seats|folk dancing|open fires|salted liquorice|spiral staircases|
        fresh snow|cobbled lanes""",
    "likes": """I enjoy|I love|I adore|I tolerate|I welcome|I seek out|I praise|I treasure|I crave|I cherish|I go for|
        I recommend|I prefer|I collect memories of|I am fond of|I have a weakness for|We enjoy|I dream about""",
    "dislikes": """detest|avoid|dread|fear|cannot stand|loathe|grumble about|run from|am allergic to|shrink from|mistrust|
        flee|get cross about|resent|steer clear of|never cared for|complain about|mock|roll my eyes at|shiver at""",
    "bag": """rucksack|handbag|suitcase|tote bag|toolbox|briefcase|satchel|picnic basket|gym bag|glovebox|coat pocket|
        desk drawer|duffel bag|shopping trolley|pannier|lunchbox|beach bag|kit bag|pencil case|locker|saddlebag|
        knapsack|laundry hamper|bicycle basket|wheelbarrow|storage trunk|apron pocket|sewing box|holdall|cool box""",
    "bulges": """bulges with|is stuffed with|holds|rattles with|overflows with|is weighed down by|smells of|contains|
        jingles with|is crammed with|hides|spills|is lined with|has swallowed|carries|clinks with|is loaded with|
        accumulates|is cluttered by|gathers""",
    "items": """walnuts|seed packets|bus tickets|tent pegs|paintbrushes|guitar picks|dog biscuits|teaspoons|
        swimming goggles|playing cards|fish hooks|peppermints|padlocks|shower caps|matchboxes|postage stamps|whistles|
        sandpaper|hairpins|dried figs|thumbtacks|earplugs|juice boxes|ribbons|keys|crayons|safety pins|biscuits|
        oatcakes|foreign coins""",
    "lamp": """desk lamp|candle|lantern|torch|streetlamp|chandelier|bedside lamp|neon sign|paraffin lamp|lava lamp|
        bulb|night light|headlamp|reading light|spotlight|projector|porch light|aquarium light|screen|salt lamp|
        garden torch|strip light""",
    "lamp_state": """flickering|green|dim|crooked|dusty|amber|buzzing|bare|cheap|mottled|paper|feeble|orange|swaying|harsh|
        pinkish|cosy|fading|yellow|smoky|brass|violet|glaring|stained|milky|antique|tiny|frosted|copper|silent""",
    "throws": """throws long shadows over|lights up|warms|barely reaches|paints stripes on|casts a glow on|shines on|
        tints|glints off|sheds gold on|swings above|hardly brightens|reflects off|sparkles on|bleaches|
        deepens the colours of|glares at|plays across""",
    "outing": """go sailing|visit my aunt|join the picnic|mow the lawn|play tennis|go skiing|wash the windows|fly my kite|
        see the dentist|walk the beagle|go dancing|pick plums|take a nap|cycle to work|bake a pie|paint the fence|
        swim outdoors|go bowling|iron my shirts|fetch firewood|sit outside|catch the ferry|climb the dunes|go fishing|
        plant the bulbs|practise the oboe|shop for shoes|fix the gutter|hang the washing|clear the attic|go riding|
        tidy the garage|light the grill|stretch my legs|collect the parcel|meet my cousins|mend the roof|go camping|
        polish the car|chop kindling|visit the barber|roller skate|paddle upstream|feed the ducks|trim the hedge""",
    "obstacle": """my ankle is bandaged|hail is forecast|the bridge is closed|my boots are soaked|the baby is asleep|
        fog has rolled in|my tyres are flat|the buses are on strike|I have a sore throat|the cat is on my lap|
        sleet keeps falling|my trousers are drying|the oven is on|relatives are visiting|my hair is wet|the paint is wet|
        the lift is stuck|I have hiccups|the lane is flooded|my glasses are broken|the plumber is here|wasps are about|
        my landlord objects|the tide is high|the dog is muddy|I have been stung|my back hurts|thunder scares me|
        the mower is broken|my gloves have holes|the heat is brutal|I promised to stay in|the soup needs stirring|
        the roads are icy|my eyes are watering|the wind is savage|I am on call|my bicycle squeaks|the pollen is awful|
        guests are due|the shed is locked|my sunburn itches|the ferry is delayed|I am baking tarts|the laundry is wet""",
    "since": """breakfast|dawn|the power cut|the thunderclap|lunchtime|sunrise|my alarm rang|the doorbell chimed|midnight|
        the storm passed|the guests left|my coffee break|the frost came|the bus broke down|the cock crowed|the roof leaked|
        the fire drill|moving house|the holidays|the wedding|my haircut|the heatwave began|the tap burst|the bells rang|
        the clocks changed|my knee operation|the neighbours moved in|the boiler died|spring|the harvest|the dog woke me""",
    "been": """I have been|I have enjoyed|we have been|my sister has been|I have kept busy|the kids have been|
        I have avoided|my flatmate has been|I have tried|my refuge has been|we have put off|my days have meant|
        I have felt like|I have proposed|we have discussed|my neighbours have been|I have dreaded|my uncle has been|
        we have practised|I have dreamt about|my passion has been|I have supervised|my cousins have been|I have loved|
        we have forsworn""",
    "now": """Today|Now|Here|Just now|As usual|As forecast|Over here|At present|By now|Out here|Out back|On my street|
        In my corner|As predicted|At last|As ever|In the yard|Before my eyes|Under grey skies|From the west|
        In short bursts|By the look of things|As always|Of course""",
    "some": """Some|A little|A trace of|A band of|The|A layer of|A swirl of|My favourite|The usual|A veil of|Our|
        A ribbon of|A curtain of|A puff of|The same|A hint of|A wisp of|A scarf of|A stripe of""",
    "when": """before breakfast|after supper|at dawn|around noon|over lunch|near bedtime|at teatime|at dusk|
        before the school run|after the gym|every morning|in the evenings|at weekends|in winter|around midnight|
        before sunrise|after closing time|during the commute|at lunchtime|on wet afternoons|in early spring|after dark|
        before work|at high tide|toward evening|by mid morning|on chilly nights|in the small hours|
        after choir practice|during dinner|at harvest time|before bath time|in late autumn|every afternoon|at bedtime|
        on market days|during thunderstorms|on holiday mornings|in muggy weather|after a cold night|
        before the postman comes|at coffee time|during the weather forecast|on laundry day|when frost bites|
        as evening falls|as the bells ring|when the heating clicks on""",
    "manner": """out of habit|to pass the time|for relaxation|with mixed success|against medical advice|
        in borrowed gloves|with squinting eyes|under protest|in stolen minutes|with cold fingers|for pure fun|
        at a leisurely pace|between naps|in dreadful light|on a whim|with surprising zeal|with tired eyes|
        over mugs of tea|in comfortable silence|by candlelight|under a bare bulb|in good company|to calm my nerves|
        with great care|for the exercise|in a foul temper|with sticky hands|to keep warm|at a gallop|in the draught|
        with childish glee|by lamplight|to steady jazz|in dim rooms|with aching wrists|to brass music|for pocket money|
        like a grumpy monk|with gritted teeth|like my grandparents did|to dodge housework|with a blunt tool|
        in a silly hat|with the radio on|under a leaking roof|with utter devotion|as a favour|in fading daylight|
        to stay awake|with steamed up glasses""",
    "office_state": """cheerful|lanky|bearded|freckled|stern|bubbly|dapper|sleepy|tidy|eccentric|chatty|bashful|
        moustached|polite|gruff|youthful|sunny|jittery|dreamy|stylish|patient|punctual|bald|athletic|suntanned|
        bespectacled|sociable|thrifty|sarcastic|wiry|gentle|talkative|melancholy|superstitious|fidgety|vegan""",
    "humanly": """quietly|proudly|solemnly|secretly|lovingly|always|often|happily|calmly|briskly|openly|sometimes|
        gladly|usually|shyly|devoutly|patiently|carefully|regularly|cheekily|expertly|boldly|discreetly|earnestly|
        grimly|blithely|loyally|promptly|habitually|still""",
    "season": """after the thaw|in spite of slugs|despite the drought|in the breeze|every spring|in autumn light|
        after heavy rain|under a pale sky|like green soldiers|in cheerful clumps|at my grandparents cottage|
        despite my neglect|in tidy rows|in the afternoon glare|with quiet determination|through every frost|
        in wild profusion|in bursts of colour|like a ragged curtain|against regulations|after weeks of sun|
        to the delight of bees|for another season|in thin soil|like old friends|in untidy tangles|to my great surprise|
        at ankle height|despite the rabbits|in lush abundance|with little encouragement|under netting|
        beneath drifting clouds|in harsh sunlight|in pleasant disorder""",
    "sip": """I am sipping|I drink|I am slurping|I sip|We share|I am nursing|I gulp|I am drinking|I savour|I swig|
        I enjoy|We are sipping|I pour|I am having|I keep spilling|I was offered|I take|I am cradling|I crave|I inhale|
        I got|I ordered|I sniff""",
    "a_cup": """a chipped|a dented|a tin|a brass|a clay|a wooden|a plastic|a steel|a silver|a striped|a turquoise|
        a crimson|a beige|a lilac|a speckled|a glazed|a borrowed|a scratched|a souvenir|a crystal|a cracked|a giant|
        a tiny|a leaky|a stained|a monogrammed|a floral|an enamel|an insulated|an ugly|an antique|an orange|a pewter|
        a frosted|a tartan|a mossy green|a sticky""",
    "which": """which makes me sneeze|which reminds me of camping|which I rather like|which suits my mood|
        which is oddly soothing|which spoils my appetite|which baffles the dog|which I blame on neighbours|
        which takes me back years|which nobody will explain|which gives me headaches|which feels like childhood|
        which keeps visitors away|which I cannot place|which the cat adores|which clings to my coat|
        which makes me hungry|which delights my niece|which masks the paint fumes|which always cheers me|
        which annoys the caretaker|which wakes me right up|which helps me focus|which turns my stomach|
        which I find romantic|which no fan can cure|which lures in wasps|which makes breakfast awkward|
        which my aunt detests|which seems fitting|which amuses every visitor|which my barber mentioned|
        which calls for open windows|which evokes old holidays""",
    "reason": """after a bad haircut|to impress the neighbours|out of sheer boredom|on doctors orders|
        for the fresh air|to the horror of relatives|after a holiday romance|with alarming enthusiasm|in a rented shed|
        despite weak wrists|to meet new friends|during a long winter|in the family garage|with surprising grace|
        after watching a clip|between dental appointments|as a retirement project|under a famous coach|
        instead of sleeping|in matching leotards|for stress relief|against sensible advice|with borrowed equipment|
        to escape the telly|over a cold winter|after much persuasion|in front of tourists|
        with plasters on every finger|after a strange dream|on windy hilltops""",
    "event2": """gull shrieked overhead|bicycle bell rang|kettle whistled|scooter zipped by|squirrel raided the feeder|
        drawer jammed|balloon popped|magpie stole a peg|trumpet blared|streetlamp flickered|horse neighed|
        truck splashed me|fuse blew|dog dug up the lawn|wasp joined my lunch|shelf collapsed|helicopter hovered|
        frog croaked|button came off|pipe burst|chair leg cracked|parade went by|pigeon walked in|milk carton leaked|
        choir started up""",
    "near": """near my desk|outside my window|across the yard|by the bus stop|behind my chair|down the lane|
        beside the bakery|below our balcony|at the crossroads|near the fountain|by the front door|next to me|
        along the promenade|outside the bank|near the kiosk|in broad daylight|to general applause|to my dismay|
        as tea was poured|during my nap|around the corner|by the launderette|past the chapel|amid much laughter|
        near the bike shed|at the worst moment|under the archway|beyond the hedge|on my doorstep|
        close to the stage door|before sunrise|in the drizzle|outside the pharmacy|in the courtyard|
        opposite the barracks|by the taxi rank|within seconds|near the nursery""",
    "especially": """on a cold day|in rainy weather|after a bad night|for no good reason|like my grandfather|
        on long journeys|before my coffee|in the holidays|with a hangover|in any season|to my own surprise|
        like any sailor|when travelling alone|on lazy mornings|in the mountains|as a night owl|during long winters|
        in polite company|with equal passion|on my birthday|as my friends know|under the stars|after heavy meals|
        when nerves fray|at family gatherings|by the sea|like a proper hermit|for sentimental reasons|to my shame|
        at my age|in small doses|on foggy evenings|like most gardeners|with a packed lunch""",
    "items2": """clothes pegs|damp towels|cough sweets|lemons|wool|batteries|corks|rubber stamps|chopsticks|
        candle stubs|marbles|knitting needles|feathers|pinecones|hazelnuts|bandages|bottle tops|football socks|beeswax|
        radishes|wooden spoons|fridge magnets|tangerines|sugar sachets|garden twine|seashells|spare fuses|shoelaces|
        measuring tapes""",
    "good2": """wet leaves|pickled onions|steep stairs|woollen hats|dark chocolate|candlelight|rye bread|
        patterned carpets|silk ties|muddy boots|ripe figs|hard mattresses|sea swimming|paper maps|marching drums|
        velvet sofas|hot sand|polished floors|card tricks|frosty windows|black olives|rope bridges|morning jogs|
        puppet shows|camp fires|small talk|scented soap|goat milk|fried eggs|heavy curtains|ferry rides|itchy jumpers|
        horror tales|ticking clocks""",
    "bag_state": """canvas|leather|muddy|tartan|sagging|orange|checked|frayed|roomy|waxed|velvet|patched|purple|nylon|
        worn|bottomless|trusty|embroidered|squashed|rainproof|scruffy|olive|ancient|cheap|spotted|heavy|quilted|navy|
        battered|shapeless""",
    "item_state": """stray|assorted|sticky|loose|tiny|spare|dusty|colourful|mysterious|random|cheap|old|precious|damp|
        shiny|scattered|plain|borrowed|grubby|surplus|scented|stolen|imported|handy|oily|wet|useless|unwanted|rattling|
        lucky|ordinary|gritty|purple|smuggled|fancy|familiar""",
    "desk": """counter|till|queue|window|entrance|door|stall|hatch|terrace|shelf""",
    "is": """is|stands|was just|keeps|has been|started|sits|looks happy|is busy|lingers|is calmly|was|got caught""",
    "break": """my tea break|the adverts|long phone calls|dull meetings|the lull before supper|car journeys|
        the night shift|a slow afternoon|nap time|my lunch hour|a power cut|the weather report|every train delay|
        the interval|quiet spells|a bout of insomnia|the rush hour|a rainy spell|tedious webinars|the school holidays|
        a coffee pause|the siesta|my convalescence|penalty shootouts|spin cycles|the drizzle|a computer update|
        office hours|the heatwave|boring speeches|my shift|the ferry crossing|bouts of worry|hay fever season|
        the dog walk|the evening news|choir rehearsal""",
    "would": """I would|I meant to|I hoped to|I longed to|I wanted to|I was going to|I planned to|I ought to|I should|
        I might|We hoped to|I promised to|I was about to|We meant to|I was asked to|I had better|I am supposed to""",
    "errand": """the launderette|swimming practice|the dentist|choir rehearsal|the allotment|my locksmith|
        the recycling centre|yoga class|the garden centre|judo training|the petrol station|the pet shop|night school|
        the blood bank|my allotment shed|the ironmonger|a job interview|the bus stop|physiotherapy|the fish market|
        driving lessons|the cheese shop|the car wash|the gym|a barbecue|the ice rink|my hairdresser|the tailor|
        the climbing wall|a christening|the sauna|the flea market|the bottle bank|the bicycle shop|the ferry terminal|
        morning prayers""",
    "passed": """passed|met|overtook|greeted|nearly hit|saw|noticed|bumped into|avoided|spotted|photographed|followed|
        tripped over|waved at|walked past|surprised|helped|startled|came across|encountered""",
    "want": """I want to|I hope to|I would like to|I plan to|I am trying to|I need to|I intend to|I have to|We want to|
        I love to|I am hoping to|I aim to|I mean to|I am determined to|We plan to|I offered to|I promised to|
        I am keen to""",
    "impress": """impress|surprise|outwit|console|amuse|distract|help|entertain|tease|beat|convince|cheer up|stump|
        astonish|charm|educate|please|challenge|reassure|humour|dazzle|comfort|silence|delight""",
    "occasion": """at the next pub quiz|over roast dinner|at the bus stop|during our chess game|with a bit of trivia|
        before dessert|on the drive home|in the sauna|at bingo night|over the garden fence|by showing off|
        at the family barbecue|in our group chat|over a pint|on video call|with dinner conversation|
        at the bowling alley|between courses|at the allotment|in a postcard|during the interval|with a clever remark|
        on our camping trip|around the campfire|at the tea stall|in the ski lift|over cards|by text message|
        at the christening|on the golf course|at knitting circle|in front of colleagues|during the long flight|
        over coffee cake|at the poker table""",
    "reward": """crave|deserve|enjoy|order|want|fancy|look forward to|recommend|need|like|treat myself to|live on|
        share|request|prepare|dream of|make do with|cannot resist|reach for|celebrate with|ask for|consume|
        collapse over|settle down with""",
    "snack": """ginger biscuits|cheese scones|salted almonds|rye toast|pickled eggs|cherry tart|walnut bread|
        fried plantain|sesame crackers|plum cake|smoked trout|carrot sticks|oat bars|buttered crumpets|olive bread|
        rhubarb crumble|cold dumplings|apricot strudel|toasted seeds|lemon drizzle cake|honeyed figs|potato pancakes|
        peanut brittle|spring rolls|banana bread|cinnamon buns|marzipan fruits|cucumber sandwiches|garlic bread|
        dried mango|waffle crumbs|sausage rolls|stuffed peppers|almond croissants|corn fritters|blueberry muffins|
        leek pie|coconut macaroons|bean salad|melted brie|soft pretzels|rice cakes|fruit jelly|poppy seed rolls|
        roast chestnuts|onion rings|custard creams|radish slices|grilled peaches""",
}

_PLANS = (
    "My {whirring} {machine} {whirs} {adverb} {indoors} {when}.",
    "While {dish} {cooks}, I {idle} in {cloth_state} {clothes}.",
    "{i_am} {handling} {a_state} {object} {manner}.",
    "{now} {wet} {wets} {outdoors} {like}.",
    "{some} {airy} {vapour} {drifts} {outdoors} {when}.",
    "My {role} {noisy}, {react}.",
    "Our {office_state} {office} {humanly} {quirk} {moment}.",
    "{waiting} {vehicle} {seat} with my {carry}.",
    "Because our {machine} {fails}, I {typing} {wrapped}.",
    "My {animal_state} {animal} {animal_does} {furniture} {when}.",
    "The {tone} {plants} {plants_do} {outdoors} {season}.",
    "Although my {limb} {aches} after {activity}, {mood}.",
    "{sip} {drink} from {a_cup} {vessel} {seat}.",
    "The {room} {smells} {smell}, {which}.",
    "If {if}, I will {plan} {plan_where}.",
    "{chat} with my {role} about {chat_topic} {left}.",
    "My {doc} {doc_kind} {due} {deadline}.",
    "My {role} {took_up} {hobby} {reason}.",
    "With {stuff} on my {body}, I {typing} {seat}.",
    "A {event}, then a {event2} {near}.",
    "From my {from} {i_see} {view}.",
    "Since {since}, {been} {activity} {manner}.",
    "Through the {through} {i_hear} {sound} {when}.",
    "The {lamp_state} {lamp} {throws} {furniture} {when}.",
    "{likes} {good} but {dislikes} {good2} {especially}.",
    "My {bag_state} {bag} {bulges} {item_state} {items} and {item_state} {items2}.",
    "At the {counter} {desk}, {stranger} {is} {doing}.",
    "During {break}, I {idle} {manner}.",
    "On my way to {errand} I {passed} {stranger} {doing}.",
    "{would} {outing}, but {obstacle}.",
    "{want} {impress} my {role} {occasion}.",
    "After {activity} I {reward} {drink} with {snack}.",
)

_FILLERS = {slot: _listed(text) for slot, text in (_THINGS | _PEOPLE | _DOINGS).items()}
_COMPILED = tuple(compile_plan(pattern, _FILLERS) for pattern in _PLANS)


def chatter(rng: Random) -> str:
    """A background sentence of 8 to 16 words; about a third hold one connector (and, but, because, so ...)."""
    return fill(rng, _COMPILED)

"""Small talk that a person may put before a question: where they sit, what they do, the weather, the kettle.

It has to say nothing about the question. So it names nobody, counts nothing, points at nothing with a pronoun and
opens with a word that cannot be taken for a name. Slots hold mostly single words: two that meet are seldom seen
together again, whereas a stock phrase repeats all that is in it.
"""

from __future__ import annotations

from random import Random

from .chatter_en_words import FOOD, OUTDOORS, THINGS
from .slots import compile_plan, fill, listed

PEOPLE = {
    "role": """flatmate|cousin|neighbour|aunt|uncle|landlord|roommate|nephew|niece|grandfather|godmother|lodger|barber|
        plumber|dentist|florist|stepbrother|sister|brother|postman|caretaker|babysitter|tailor|mechanic|physiotherapist|
        hairdresser|grocer|stepmother|vet|gardener|goddaughter|father|optician|butcher|fishmonger|librarian|grandmother|
        nanny|tenant|landlady|housemate|chauffeur|janitor|milkman|locksmith|carpenter|masseur|pharmacist|stepfather|
        godfather|godson|grandson|granddaughter|schoolmate|pen pal|chess partner|tennis partner|piano tuner|
        window cleaner|driving instructor|yoga coach""",
    "whistles": """whistles|hums|sings|yodels|plays|strums|practises|mumbles|drums|rehearses|croons|blares|streams|
        loops|mangles|recites|performs|chants|bellows|murmurs|hammers out|adores|belts out|improvises|transposes|mimes|
        records|butchers|teaches|squeaks""",
    "mournful": """mournful patriotic silly jazzy melancholy bawdy frantic sugary obscure catchy pompous gloomy medieval
        romantic cheesy tuneless haunting jolly electronic nautical sentimental rousing eerie festive forlorn tipsy
        operatic rural bluesy offbeat martial cheerful tragic hypnotic folksy rambling wordless foreign dreary
        dramatic""",
    "tunes": """waltzes jingles marches lullabies ballads shanties hymns polkas carols anthems riffs serenades tangos
        arias choruses ditties mazurkas sonatas nocturnes reels jigs fugues melodies rhymes limericks scales chords
        medleys overtures madrigals sambas rumbas psalms chants hits duets refrains ragtimes""",
    "react": """so I borrow earplugs|but I stay cheerful|and I hum along|so I retreat outdoors|but we get along|
        and nobody blinks|so concentration is hard|but silence feels worse|and the dog howls|so I wear headphones|
        but I hardly mind|and I nod politely|so I take strolls|but noise comforts me|and I pretend to read|
        so naps are impossible|but habit dulls my ears|and windows rattle|so I mutter curses|but I never complain|
        and I laugh aloud|so I hide upstairs|but afternoons stay calm|and parrots copy|so my tea goes cold|
        but patience suits me|and I keep scribbling|so I chew peppermints|so cats flee|but I grew fond of noise|
        and I roll my eyes|so breakfast is lively|but charm excuses much|and I tap along|so dogs bark|
        but neighbours applaud|and the baby giggles|so visitors tiptoe|but work must continue|and teacups tremble|
        so curtains close|but friendship survives|and my eyelid twitches|so I turn up jazz|but rain drowns music|
        and guests join in|so plants wilt""",
    "office": """receptionist intern supervisor porter accountant trainee guard archivist secretary technician assistant
        storekeeper bookkeeper nurse cook deputy manager dispatcher courier electrician designer translator auditor
        clerk foreman consultant paralegal proofreader apprentice webmaster lawyer programmer pharmacist warden chaplain
        typist cashier cleaner analyst surveyor telephonist custodian usher concierge recruiter janitor registrar baker
        waiter barista bartender florist gardener upholsterer""",
    "office_state": """cheerful lanky bearded freckled stern bubbly dapper sleepy tidy eccentric chatty bashful
        moustached polite gruff youthful sunny jittery dreamy stylish patient punctual bald athletic suntanned
        bespectacled sociable thrifty sarcastic wiry gentle talkative melancholy superstitious fidgety vegan jovial
        grumpy tireless witty nervous pensive rosy scruffy shy solemn tall tattooed theatrical vain weary whimsical
        zealous retired""",
    "humanly": """quietly proudly solemnly secretly lovingly always often happily calmly briskly openly sometimes gladly
        usually shyly devoutly patiently carefully regularly cheekily expertly boldly discreetly earnestly grimly
        blithely loyally promptly habitually still occasionally routinely gleefully cautiously reluctantly methodically
        politely absently casually diligently fondly nimbly obsessively reverently stealthily swiftly tenderly""",
    "strangers": """nurses cyclists buskers students gardeners sailors waiters commuters schoolboys nuns joggers
        plasterers chefs skaters farmers soldiers tourists violinists grandmothers sweepers lifeguards welders magicians
        surfers fishmongers ushers monks pilots beekeepers priests vets porters acrobats roofers milkmen plumbers
        barbers clowns dentists electricians firefighters hikers jugglers knitters librarians masons neighbours
        pensioners postmen ramblers scouts shoppers teenagers tailors typists weavers butlers carpenters drummers
        bakers""",
    "tired": """tired bearded cheerful sunburnt chatty grumpy elegant barefoot drenched sleepy hungry giggling kindly
        muscular nervous polite boisterous bespectacled retired freckled scruffy solemn uniformed tattooed whistling
        earnest bashful lanky nosy stylish frowning dripping breathless bored young elderly jovial shivering weary
        blushing rowdy dapper stout pale smiling""",
    "busy": """are were keep stand started sit love enjoy stood sat began""",
    "counter": """bakery|butcher|chemist|ticket|cheese|barber|fishmonger|florist|juice|pawnshop|hardware|haberdashery|
        delicatessen|coffee|sandwich|pharmacy|souvenir|candy|tobacco|toyshop|noodle|doughnut|stationery|popcorn|flower|
        fruit|vegetable|kebab|waffle|newspaper|perfume|soup|salad|pizza|bread|sweet|ice cream|hot dog|cake|seafood|
        jewellery|furniture|music""",
    "desk": """counters tills queues windows entrances doors stalls hatches kiosks booths exits doorways tables""",
    "animal": """cat parrot hamster greyhound tortoise dachshund ferret rabbit terrier budgie poodle iguana kitten gecko
        spaniel cockatoo whippet goose hen collie beagle tabby canary corgi puppy hedgehog mynah bulldog sheepdog
        labrador goat duckling lamb piglet pug pigeon gerbil chinchilla rooster pony donkey llama alpaca dalmatian
        mastiff retriever schnauzer lapdog tomcat macaw""",
    "animal_state": """sleepy nosy plump grumpy shaggy timid elderly greedy fluffy wet pampered bossy curious skittish
        ginger jealous aloof muddy clumsy regal playful shy sulky freckled stout spoilt nervous bashful proud scruffy
        mellow hyperactive devoted drowsy sneaky vocal patient asthmatic boisterous cuddly daft dainty dignified
        excitable fearless gluttonous haughty lazy mischievous moody rescued speckled wheezing woolly""",
    "animal_does": """naps on|guards|sniffs|circles|scratches|hides behind|nibbles|drools on|ambushes|snores on|licks|
        leans against|rolls on|tugs at|jumps onto|burrows under|growls at|sneezes on|sits on|chews|patrols|lounges on|
        worships|inspects|claws|hoards|attacks|investigates|stalks|nudges|shreds|defends|explores|sleeps under|adores|
        dribbles on|steals|fears""",
    "chat": """A chat|A stroll|A lunch|A phone call|An argument|A bus ride|A breakfast|A picnic|A card game|A carpool|
        A joke|A letter|A wager|A dinner|A row|A video call|A boat trip|A barbecue|A debate|A gossip|A tea break|
        A squabble|A brunch|A correspondence|A walk|A quarrel|A bet|A discussion|A conversation|A whisper|A seminar|
        A cuppa|A jog|A sauna""",
    "topics": """rare orchids|tide tables|urban beekeeping|rye sourdough|paper origami|striped wallpaper|meteor showers|
        garden slugs|sailing knots|waxed moustaches|pickle brine|thermal socks|ghost stories|compost heaps|ugly fonts|
        inflatable kayaks|dog shampoo|cheese rinds|magic tricks|loud snoring|lawn care|bird calls|vintage buttons|
        parking fines|stubborn hiccups|extinct volcanoes|garden trampolines|pet goldfish|rhubarb wine|alpine yodelling|
        roof moss|lonely lighthouses|wedding hats|ship barnacles|rain gauges|odd gloves|mosquito nets|pink peppercorns|
        rubber ducks|cloud shapes|baby names|teabag strings|bad haircuts|sandcastle moats|wood saunas|old typewriters|
        burnt porridge|cold showers|canal houseboats|melting glaciers|box kites|tea cosies|mobile homes|sleep talking|
        shooting stars|vivid dreams|faded tattoos|frozen yoghurt|kitchen robots|indoor fireworks|shy hedgehogs|
        wild mushrooms|tin whistles|left handedness""",
    "left": """left me curious|sparked my interest|got me wondering|nags at me|stirred an old itch|sent me here|
        woke my inner nerd|gave me an idea|set me thinking|kept me awake|fired me up|prompted my message|
        nudged me to write|has me intrigued|tickled my brain|rekindled my curiosity|became an obsession|
        distracted me nicely|brought me online|puzzled me|energised me|turned into homework|made me restless|haunts me|
        inspired my research|amused me|ended in laughter|started a hunt|lured me online|ruined my concentration|
        taught me humility|broke my routine|warmed my heart|shook my certainty|delayed my laundry""",
    "took_up": """took up|discovered|swears by|quit|teaches|boasts about|dreams of|resumed|dabbles in|loves|enjoys|
        tried|praises|recommends|practises|studies|abandoned|adores|mastered|gave up|started|learned|keeps up|
        is mad about|excels at|struggles with|talks about|writes about|returned to|relaxes with|fell for|is into|
        believes in""",
    "hobby": """falconry calligraphy juggling taxidermy weaving unicycling pickling woodturning dancing cheesemaking
        birdwatching yoga fencing bookbinding quilting mime sudoku glassblowing beekeeping curling snorkelling croquet
        whittling macrame skydiving embroidery karate bagpiping felting darts orienteering topiary archery badminton
        baking ballet bowling boxing camping canoeing chess cricket cycling diving drumming fishing gardening gymnastics
        hiking hockey jogging kayaking knitting origami parkour pottery rowing rugby sailing skating skiing sledging
        surfing swimming tennis volleyball wrestling yodelling""",
    "impress": """impress surprise outwit console amuse distract help entertain tease beat convince stump astonish charm
        educate please challenge reassure humour dazzle comfort delight pester bribe cheer motivate provoke shock
        startle thank welcome calm flatter""",
    "clever": """clever obscure witty surprising corny dubious elegant lighthearted learned random heartfelt cheeky
        brilliant quirky useless weird colourful silly homemade curious charming spontaneous refined topical tasteful
        inspiring outrageous scientific""",
    "remarks": """riddles remarks anecdotes trivia jokes puns facts questions compliments proverbs limericks insights
        nonsense arguments quizzes tales gossip theories gifts biscuits flowers letters postcards cakes puzzles rumours
        quips charades teasers snippets""",
    "want": """I want to|I hope to|I plan to|I need to|I intend to|I have to|We want to|I love to|I aim to|I mean to|
        We plan to|I offered to|I promised to|I ought to|We hope to|I try to|I like to|I wish to|We love to|I prefer to|
        We try to|I vowed to""",
    "crowded": """crowded busy quiet noisy tiny local fancy cheap shabby spotless trendy gloomy narrow sunny draughty
        old favourite popular deserted chaotic tidy rustic modern suburban seaside provincial bustling charming
        scruffy""",
}

SELF = {
    "near": """near behind beside opposite by""",
    "hectic": """hectic lazy dull noisy sluggish tedious rushed quiet lengthy silly cheerful awkward chaotic sleepy
        routine endless gloomy solitary frantic idle peaceful pleasant boring brief busy calm casual cosy crowded dreary
        exhausting friendly hurried impromptu leisurely lively lonely marathon merry monotonous ordinary painful relaxed
        rowdy sociable spontaneous strenuous tense tiresome typical uneventful long slow stressful miserable enjoyable
        rainy chilly sunny gruelling festive wintry eventful candlelit customary delightful disastrous energetic
        glorious humdrum interminable memorable occasional playful polite sleepless stormy unusual weekly sweaty nervous
        drowsy thrilling scenic sombre snowy frosty windy foggy humid lovely dreadful ambitious pointless awful""",
    "sessions": """breakfasts|commutes|lunches|rehearsals|shifts|meetings|workouts|interviews|walks|dinners|suppers|
        picnics|brunches|flights|errands|chores|haircuts|jogs|hikes|swims|seminars|lectures|webinars|conferences|
        briefings|crosswords|conversations|naps|speeches|queues|stopovers|barbecues|drives|siestas|layovers|massages|
        baths|showers|sleepovers|sermons|debates|phone calls|school runs|tea breaks|car rides|ferry crossings|
        bus journeys|shopping trips|yoga classes|piano lessons|card games|chess matches|family visits|choir practices|
        sewing circles|bedtime stories|book clubs|quiz nights|office parties|garden chores|snowball fights|strolls|
        appointments|voyages|holidays|weekends|vacations|mornings|afternoons|evenings|nights|feasts|banquets|auditions|
        tutorials|discussions|negotiations|puzzles|excursions""",
    "during": """during before after between""",
    "rainy": """rainy chilly sunny stormy muggy frosty foggy windy gloomy snowy humid wintry crisp dreary balmy drizzly
        grey golden mild bleak bright breezy sultry starry moonlit lazy quiet sleepy lonely dull busy idle slow peaceful
        restless sleepless hectic damp warm cold cloudy pleasant dark hazy icy clear blustery sweltering dusty
        drowsy""",
    "mornings": """mornings|afternoons|evenings|nights|weekends|days|weekdays|holidays|market days|laundry days|
        summer nights|autumn days|spring mornings|winter evenings|work days|school days""",
    "adverb": """softly stubbornly faintly merrily oddly wearily steadily ominously happily feebly loudly nervously
        lazily endlessly angrily hoarsely sweetly wildly gloomily tirelessly sadly gently fitfully mysteriously gamely
        proudly alarmingly bravely placidly erratically pleasantly calmly cheerfully constantly contentedly dramatically
        eerily faithfully fiercely furiously hypnotically impatiently irritably jerkily menacingly monotonously
        mournfully noisily patiently persistently playfully plaintively reassuringly relentlessly reluctantly
        rhythmically sharply sleepily slowly soothingly sullenly tunelessly vigorously wistfully""",
    "i_am": """I am|I was|I keep|I have been|I started|I enjoy|We are|I love|We were|I dread|I adore|I find myself|
        I tried|I am busy|We began|I am forever|I prefer|We have been|I am tired of|I like|We like|I fancy|I resumed|
        I am proud of|I am bored of|We discussed|I suggested|I postponed|I remember|I imagine|I recommend|We considered|
        I avoid|I mentioned""",
    "typing": """type|scribble|sit|huddle|work|write|loiter|lounge|perch|shiver|read|linger|sprawl|study|settle|wait|
        daydream|fidget|doze|slouch|stand|yawn|meditate|recline|potter|hide|chat|nestle|relax|sulk|stretch|pace|sketch|
        knit|answer emails|drink tea|read magazines|eat soup|fold laundry|type slowly|take notes|do crosswords|
        peel potatoes|knit socks|darn socks|sip tea|write letters""",
    "limb": """elbows knees knuckles wrists fingers shoulders thumbs ankles calves shins heels palms toes hips arms legs
        thighs hands feet joints hamstrings biceps forearms""",
    "ache": """ache sting tingle throb protest creak grumble burn complain smart twinge stiffen tremble itch swell pulse
        hurt shake weaken wobble cramp prickle suffer smoulder rebel""",
    "i_feel": """I feel|I am|I remain|I stay|I seem|I sound|I look|I grew|I became|I was|I felt""",
    "chirpy": """chirpy calm cheerful curious alert optimistic talkative relaxed hungry thirsty sleepy playful inspired
        nosy content restless nostalgic jolly sentimental hopeful giddy pensive lively bold philosophical drowsy amused
        excited grateful mellow smug patient virtuous inquisitive energetic dreamy lucky festive serene studious
        sociable youthful generous heroic romantic spry""",
    "if": """drizzle stops|sourdough rises|the babysitter comes|the ferry runs|my cold clears|the wind drops|
        traffic allows|the glue dries|my boots survive|the dog behaves|sunshine returns|my cousin agrees|the car starts|
        my headache fades|the tide permits|paint dries quickly|my knee cooperates|ice melts|the baby naps|
        the pool opens|my sister drives|shops stay quiet|fog thins|bread browns nicely|the parcel comes|my shift ends|
        the boss leaves|the stove behaves|socks dry overnight|snow sticks|wasps go away|laundry dries|moonlight appears|
        heating returns|my back allows|fish bite|the market opens|gates open|children calm down|clouds part|
        my uncle visits|the hangover lifts|hail holds off|the neighbour helps|pollen settles|buses run|my tyres hold|
        the kettle boils|strawberries ripen|my phone charges|the plumber leaves|geese stay away|rain eases""",
    "will": """will may might can shall could would must should""",
    "would": """I would|I could|I ought to|I should|I might|We hoped to|I meant to|I longed to|I wanted to|I planned to|
        I promised to|We meant to|I hoped to|We tried to|I wish to|We should|I offered to|I began to|We agreed to|I may|
        I intended to|I volunteered to|We planned to|I pledged to""",
    "obstacle": """my ankle hurts|hail is forecast|my boots leak|the baby sleeps|fog rolled in|my tyres burst|
        buses are striking|my throat hurts|sleet keeps falling|my trousers ripped|relatives are visiting|the lift stuck|
        hiccups plague me|the lane flooded|my glasses broke|plumbers arrived|wasps are about|my landlord objects|
        the dog escaped|bees stung me|thunder scares me|heat exhausts me|soup needs stirring|roads are icy|
        my eyes water|winds are savage|my bicycle squeaks|pollen torments me|guests are due|sunburn itches|
        ferries are delayed|tarts need baking|laundry awaits|my alarm failed|pigeons protest|ladders wobble|
        my boss called|snow blocked traffic|a goat intervened|nettles sting|my knees wobble|darkness fell|fever struck|
        my car sulks|mosquitoes bite|permits are pending|my nephew cried|storms loom|the tide turned|
        my shoelaces snapped|laziness won|dinner is ready|hay fever strikes|my phone rang|neighbours complained|
        the kettle whistled|paint is expensive|my brush broke|nobody helps|rain ruined plans""",
    "doc": """allotment parish safety pottery cookery fitness customer travel sailing gardening staff judo choir
        recycling canteen hiking wine scout robotics cycling archery school dance astronomy carpentry fishing bakery
        swimming jazz camping knitting tourism marketing radio hobby charity kindergarten bowling folklore shipping
        plumbing beauty fashion""",
    "kind": """newsletter leaflet report application speech column handout poster worksheet presentation bulletin essay
        pamphlet logbook proposal article script guide brochure blog programme memo portfolio talk catalogue slideshow
        lecture""",
    "due": """is due|must be printed|goes out|gets posted|gets collected|needs proofreading|goes to press|is expected|
        needs stapling|gets graded|is scheduled|gets translated|must be mailed|gets reviewed|gets distributed|
        gets laminated|gets published|is presented""",
    "deadline": """before dark|by early evening|before the bake sale|after the weekend|before the rehearsal|
        ahead of the inspection|before noon|before the holidays|by tomorrow morning|during the next meeting|
        around closing time|straight after lunch|before my train leaves|ahead of the picnic|at the start of term|
        before the raffle|in time for supper|before frost sets in|soon after breakfast|by the weekend|
        under strict supervision|prior to my holiday|before the cleaners come|ahead of the barbecue|in a mad rush|
        before teatime|after choir practice|next month|at dawn|on the night bus|in early spring|before my coffee break|
        with the morning post|after the school run|at the harbour office|before the snow melts|within days|
        amid general panic|in large print|on recycled paper|despite my cold""",
    "cramped": """cramped sunny draughty wobbly upholstered leaky chilly creaky cosy cluttered humble musty breezy shady
        squeaky luxurious rented lofty solitary warm damp padded dim temporary favourite upstairs panoramic rooftop
        modest makeshift""",
    "from": """bunk hammock balcony desk bathtub armchair ladder rooftop cabin porch saddle lookout treehouse cubicle
        deckchair berth stairwell caravan studio windowsill bench pew kitchen attic veranda doorway hideout seat sofa
        stool tent terrace workshop cockpit gazebo""",
    "i_see": """I see|I watch|I admire|I spot|I notice|I sketch|I glimpse|I observe|I describe|I hear|I photograph|
        I greet|I envy|I ignore|I saw|I watched|I caught|I drew|I overheard""",
    "since": """breakfast|dawn|lunchtime|sunrise|midnight|spring|autumn|retirement|the thunderclap|the storm|the thaw|
        the frost|moving house|graduation|the wedding|my haircut|the heatwave|the harvest|the bells rang|
        my cousin visited|the roof leaked|the guests left|the boiler died|winter|teatime|the drought|the holidays|
        the clocks changed|my operation|the flood|the monsoon|daybreak|the goats escaped|my birthday|the strike|
        the redecoration|the blackout|dinner|nightfall|brunch|the picnic|the reunion|elevenses|the drizzle began|
        my promotion|the renovation""",
    "been": """I have been|I have enjoyed|we have been|my sister loves|I have avoided|we have postponed|I have proposed|
        we have discussed|I have dreaded|my uncle hates|I have loved|my cousins prefer|my flatmate enjoys|
        I have considered|we have started|my hobby is|I prefer|we love|my nephew dislikes|my aunt dreads|I dream about|
        my plan is|we talk about|my job is|my neighbour regrets|we avoid|my pastime is|my lodger suggests|
        I recommend""",
    "thin": """thin flimsy draughty cracked open leaky cheap rattling heavy bamboo warped wooden thick ancient metal
        tall patterned grimy frosted loose neighbouring rusty stained ragged painted peeling crooked dusty paper
        blue""",
    "walls": """walls shutters floorboards curtains hedges fences doors ceilings windows partitions vents skylights
        letterboxes screens blinds hatches pipes grilles doorways gates panels gratings""",
    "i_hear": """I hear|I catch|I detect|I overhear|I keep hearing|we hear|I can hear|I enjoy|I endure|I recognise|
        I could hear|I discern|I heard|I listen to|I noticed|I am hearing|we endured|I suffer|I perceive|
        I just heard""",
    "muffled": """muffled distant shrill cheerful rhythmic tuneless ghostly faint relentless sporadic drunken frantic
        hushed raucous echoing soothing mournful clumsy eerie loud lively nocturnal monotonous constant occasional
        furious gentle mysterious hearty odd vigorous youthful""",
    "sound": """hammering laughter barking giggling drilling snoring karaoke yodelling typing clinking gargling cheering
        bickering scratching whistling humming drumming applause clattering purring hooting sobbing tapping chanting
        bleating splashing sawing knocking chewing stamping gossip bagpipes shouting sneezing singing crunching
        whispering thumping chopping creaking fiddling quacking clapping""",
    "brisk": """brisk morning rainy aimless lunchtime weekly moonlit countryside foggy lonely muddy silent frosty
        evening autumn compulsory therapeutic windy dawn coastal winding guided barefoot rural chilly lazy seaside snowy
        solitary weekend routine sweaty sunny nightly""",
    "errands": """walks errands strolls hikes rambles jogs outings commutes excursions detours expeditions drives rides
        jaunts treks promenades pilgrimages runs crossings trips""",
    "meet": """meet pass overtake greet see notice avoid spot photograph follow help encounter sketch befriend admire
        salute applaud observe met passed saw noticed greeted spotted overtook""",
    "among": """among behind beside between near amid by""",
    "muddy": """woollen striped soggy tartan mismatched faded quilted itchy velvet neon threadbare oversized spotted
        flannel muddy crumpled lavender knitted squeaky borrowed scarlet checked fluffy sensible ridiculous stiff linen
        khaki maroon dotted floppy cosy tight loose brown teal creased patched shiny silver damp warm leather rubber
        canvas padded baggy stylish battered thick purple yellow orange turquoise beige ivory crimson indigo mustard
        olive peach lilac cotton denim suede corduroy silk satin nylon fleece mohair cashmere vintage secondhand
        homemade frayed ragged stained dusty sandy wet old fancy plain elegant clumsy sturdy comfortable favourite
        matching gaudy garish floral sequinned glittery embroidered pink blue green red white black grey""",
    "boots": """slippers mittens dungarees pyjamas wellingtons overalls clogs tights sandals moccasins gloves trousers
        plimsolls loafers galoshes trainers jeans gumboots breeches stockings culottes gaiters sneakers boots socks
        shorts leggings brogues jodhpurs chinos pantaloons espadrilles bedsocks sweatpants joggers slacks moonboots
        bloomers raincoats ponchos cardigans jumpers anoraks jackets hats berets bonnets scarves aprons sweaters tunics
        hoodies parkas""",
    "cold": """cold tired stiff clumsy aching wet sunburnt bony numb bare swollen delicate rough dry pale trembling sore
        chapped wrinkled grubby tanned warm frozen weary scratched steady nimble sleepy careful greasy inky muddy dusty
        sticky strong slender calloused shaky idle soapy""",
    "fingers": """fingers elbows knuckles wrists fingertips shoulders thumbs palms forearms hands arms gloves nails
        sleeves cuffs""",
    "dusting": """dusting polishing cleaning moving repairing repainting scrubbing sketching photographing measuring
        admiring inspecting restoring decorating covering selling fixing waxing straightening mending varnishing wiping
        assembling renovating drawing shifting unpacking disinfecting customising storing""",
    "we": """I We""",
    "oddly": """oddly quite rather fairly strangely suddenly almost wonderfully weirdly curiously pleasantly unusually
        perfectly remarkably vaguely surprisingly reasonably terribly awfully slightly gloriously positively downright
        pretty fabulously really truly visibly incredibly absurdly""",
}

INSIDE = "{near} {my} {worn} {fixture}"
OUTSIDE = "{among} {mossy} {outplural}"
CLUTTER = "{among} {worn} {clutter}"
WEARING = "in {muddy} {boots}"
HANDS = "with {cold} {fingers}"
FLOCK = "like {startled} {birds}"
SIGHT = "{the} {mossy} {outthing}"
ODDMENTS = "{stray} {items}"
WHEN = "{during} {hectic} {sessions}"

PLANS = (
    f"My {{whirring}} {{machine}} {{whirs}} {{adverb}} {CLUTTER} {WHEN}.",
    f"{{we}} {{sort}} {ODDMENTS} {CLUTTER} while {{dish}} {{simmers}} {{gently}}.",
    f"{{i_am}} {{handling}} {{a_state}} {{object}} {OUTSIDE} {HANDS}.",
    f"{{now}} {{wet}} {{wets}} {SIGHT} {{like}}.",
    f"{{some}} {{airy}} {{vapour}} {{drifts}} {SIGHT} on {{rainy}} {{mornings}}.",
    "Our {office_state} {role} {whistles} {mournful} {tunes}, {react}.",
    f"Our {{office_state}} {{office}} {{humanly}} {{sorts}} {ODDMENTS} {WHEN}.",
    f"{{waiting}} {{vehicle}} {OUTSIDE} {WEARING}.",
    f"{{we}} {{typing}} {CLUTTER} because {{my}} {{whirring}} {{machine}} {{fails}}.",
    f"My {{animal_state}} {{animal}} {{animal_does}} {{my}} {{soft}} {{cushion}} {WHEN}.",
    f"The {{tone}} {{plants}} {OUTSIDE} {{bloom}}.",
    f"Although my {{limb}} {{ache}} after {{hauling}} {SIGHT}, {{i_feel}} {{oddly}} {{chirpy}}.",
    f"{{sip}} {{flavour}} {{drink}} from {{chipped}} {{mugs}} {INSIDE}.",
    f"The {{musty}} {{room}} {{smells}} {{smell}} {WHEN}.",
    f"If {{if}}, I {{will}} {{paint}} {SIGHT} {WEARING}.",
    "{chat} with my {office_state} {role} about {topics} {left}.",
    f"My {{doc}} {{kind}} about {ODDMENTS} {{due}} {{deadline}}.",
    f"My {{office_state}} {{role}} {{took_up}} {{hobby}} {OUTSIDE} {WEARING}.",
    f"With {{sticky}} {{stuff}} on {{cold}} {{fingers}}, I {{typing}} {CLUTTER}.",
    f"A {{distant}} {{traffic}} {{rumbled}} {{by}}, then {{startled}} {{birds}} {{shrieked}} {OUTSIDE}.",
    f"From my {{cramped}} {{from}} {{i_see}} {{tired}} {{strangers}} {{juggling}} {ODDMENTS} {FLOCK}.",
    f"Since {{since}}, {{been}} {{hauling}} {SIGHT} {HANDS}.",
    f"Through {{thin}} {{walls}} {{i_hear}} {{muffled}} {{sound}} {WHEN}.",
    f"The {{lamp_state}} {{lamp}} {{throws}} {{my}} {{worn}} {{fixture}} {WHEN}.",
    f"{{likes}} {{flavour}} {{drink}} but {{dislikes}} {{stale}} {{snack}} {WHEN}.",
    f"My {{bag_state}} {{bag}} {{bulges}} {ODDMENTS} and {ODDMENTS} on {{brisk}} {{errands}}.",
    f"At {{crowded}} {{counter}} {{desk}}, {{tired}} {{strangers}} {{busy}} {{juggling}} {ODDMENTS}.",
    f"{{we}} {{humanly}} {{sort}} {ODDMENTS} {CLUTTER} {WHEN}.",
    f"On {{brisk}} {{errands}} I {{meet}} {{tired}} {{strangers}} {{juggling}} {ODDMENTS} {WEARING}.",
    f"{{would}} {{paint}} {SIGHT} {WEARING}, but {{obstacle}}.",
    f"{{want}} {{impress}} my {{office_state}} {{role}} with {{clever}} {{remarks}} {WHEN}.",
    f"After {{hauling}} {SIGHT} I {{reward}} {{flavour}} {{drink}} with {{stale}} {{snack}}.",
    f"{{we}} {{sort}} {ODDMENTS} {CLUTTER} instead of {{dusting}} {{my}} {{worn}} {{fixture}}.",
    f"{{keep}} {ODDMENTS} {INSIDE} for {{tired}} {{strangers}}.",
    f"Thanks to {{tired}} {{strangers}}, I {{typing}} {OUTSIDE} {FLOCK}.",
    f"{{i_feel}} {{oddly}} {{chirpy}} because {{tired}} {{strangers}} {{kind_acts}} {{stale}} {{snack}} {WHEN}.",
)

FILLERS = listed(THINGS | OUTDOORS | FOOD | PEOPLE | SELF)
COMPILED = tuple(compile_plan(pattern, FILLERS) for pattern in PLANS)


def chatter(rng: Random) -> str:
    """A background sentence of 8 to 16 words; about a third hold one connector (and, but, because, so ...)."""
    return fill(rng, COMPILED)

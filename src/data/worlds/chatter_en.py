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
        grumpy tireless witty nervous pensive plump rosy scruffy shy solemn stout tall tattooed theatrical vain weary
        whimsical zealous retired""",
    "humanly": """quietly proudly solemnly secretly lovingly always often happily calmly briskly openly sometimes gladly
        usually shyly devoutly patiently carefully regularly cheekily expertly boldly discreetly earnestly grimly
        blithely loyally promptly habitually still occasionally routinely gleefully cautiously reluctantly methodically
        politely absently casually diligently fondly nimbly obsessively reverently stealthily swiftly tenderly""",
    "strangers": """nurses cyclists buskers students gardeners sailors waiters commuters schoolboys nuns joggers
        plasterers chefs skaters farmers soldiers tourists violinists grandmothers sweepers lifeguards welders magicians
        surfers fishmongers ushers monks pilots beekeepers priests vets porters acrobats roofers milkmen toddlers
        plumbers barbers clowns dentists electricians firefighters hikers jugglers knitters librarians masons neighbours
        pensioners postmen ramblers scouts shoppers teenagers tailors typists weavers butlers carpenters drummers
        bakers""",
    "tired": """tired bearded cheerful sunburnt chatty grumpy elegant barefoot drenched sleepy hungry giggling kindly
        muscular nervous polite boisterous bespectacled retired freckled scruffy solemn uniformed tattooed whistling
        earnest bashful lanky nosy stylish frowning dripping breathless bored young elderly jovial shivering weary
        blushing rowdy dapper stout pale smiling""",
    "stranger": """a courier|a busker|a nurse|a cyclist|a toddler|a student|a gardener|a sailor|a waiter|a commuter|
        a schoolboy|a nun|a jogger|a plasterer|a warden|a chef|a skater|a farmer|a soldier|a tourist|a violinist|
        a grandmother|a sweeper|a bride|a lifeguard|a welder|a magician|a surfer|a fishmonger|an usher|a monk|a pilot|
        a beekeeper|a priest|a vet|a porter|an acrobat|a roofer|a milkman|an artist|an usherette|a clown|a mechanic|
        a butler|a scout|a biker|a goth|a punk|a drummer|a judge|a knitter|a rambler|a mason|a diver|a weaver""",
    "counter": """cobbler bakery butcher chemist ticket cheese barber fishmonger florist juice pawnshop hardware
        haberdashery library delicatessen coffee sandwich pharmacy souvenir locksmith candy tobacco toyshop noodle
        doughnut stationery tailor popcorn hotel flower fruit vegetable kebab waffle newspaper hostel antique lottery
        perfume""",
    "desk": """counter till queue window entrance door stall hatch terrace shelf kiosk booth exit doorway""",
    "is": """is stands was keeps started sits lingers resumes lurks waits enjoys loves tries pauses kneels dreads
        began""",
    "animal": """cat parrot hamster greyhound tortoise dachshund ferret rabbit terrier budgie poodle iguana kitten gecko
        spaniel cockatoo whippet goose hen collie beagle tabby canary corgi puppy hedgehog mynah bulldog sheepdog
        labrador goat duckling lamb piglet pug pigeon gerbil chinchilla rooster pony donkey llama alpaca dalmatian
        mastiff retriever schnauzer lapdog tomcat macaw""",
    "animal_state": """sleepy nosy plump grumpy shaggy timid elderly greedy fluffy wet pampered bossy curious skittish
        ginger jealous aloof muddy clumsy regal playful shy sulky freckled stout spoilt nervous bashful proud scruffy
        mellow hyperactive devoted drowsy sneaky vocal patient asthmatic boisterous cuddly daft dainty dignified
        excitable fearless gluttonous haughty lazy mischievous moody rescued speckled wheezing woolly""",
    "animal_does": """naps on|guards|sniffs|circles|scratches|hides behind|nibbles|drools on|perches on|ambushes|
        snores under|licks|leans against|rolls on|tugs|jumps onto|burrows under|growls at|sneezes on|sits on|chews|
        patrols|lounges on|worships|inspects|claws|hoards|destroys|topples|invades|investigates|stalks|nudges|wrestles|
        hugs|attacks|shreds|defends|explores|straddles|mauls""",
    "chat": """A chat|A stroll|A lunch|A phone call|An argument|A bus ride|A breakfast|A picnic|A card game|A carpool|
        A joke|A letter|A wager|A dinner|A row|A video call|A boat trip|A barbecue|A debate|A gossip|A tea break|
        A squabble|A brunch|A correspondence|A walk|A quarrel|A bet|A discussion|A conversation|A whisper|A seminar|
        A cuppa|A jog|A sauna""",
    "exotic": """exotic silly antique edible tropical homemade alpine haunted recreational sensible vegan ethical
        medieval nocturnal amateur dangerous luxurious gourmet hairy portable rural modern urban experimental
        therapeutic fashionable seasonal ornamental illegal electric traditional""",
    "topics": """orchids beekeeping sourdough origami wallpaper meteors crocheting slugs knots moustaches pickles socks
        ghosts compost fonts kayaks shampoo cheese magic snoring lawns birdsong buttons parking hiccups volcanoes
        trampolines goldfish rhubarb yodelling moss lighthouses hats barnacles rain toenails sundials mosquitoes
        peppercorns ventriloquism clouds teabags haircuts sandcastles saunas typewriters porridge bagpipes showers
        houseboats glaciers aprons bunions kites caravans zebras comets dreams insomnia gravity tattoos yoghurt robots
        pirates fireworks hedgehogs dust umbrellas submarines mushrooms""",
    "left": """left me curious|sparked my interest|got me wondering|nags at me|stirred an old itch|sent me here|
        woke my inner nerd|gave me an idea|set me thinking|kept me awake|fired me up|prompted my message|
        nudged me to write|has me intrigued|tickled my brain|rekindled my curiosity|became an obsession|
        distracted me nicely|brought me online|puzzled me|energised me|turned into homework|made me restless|haunts me|
        inspired my research|amused me|ended in laughter|started a hunt|lured me online|ruined my concentration|
        taught me humility|broke my routine|warmed my heart|shook my certainty|delayed my laundry""",
    "took_up": """took up|discovered|swears by|quit|teaches|boasts about|dreams of|preaches|resumed|dabbles in|attempts|
        loves|enjoys|mocks|fears|promotes|tried|praises|organises|recommends|practises|blames|studies|abandoned|adores|
        mastered|avoids|advertises|proposed""",
    "keen": """competitive amateur barefoot indoor outdoor underwater synchronised nocturnal extreme traditional
        medieval therapeutic freestyle improvised vegan tandem solo silent speed blindfold recreational elegant noisy
        experimental hazardous rhythmic dignified aerobic mindful rural urban seasonal eccentric alpine winter beginner
        professional""",
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
        brilliant quirky useless weird colourful festive silly homemade curious charming wholesome tactless spontaneous
        refined topical tasteful inspiring outrageous educational scientific""",
    "remarks": """riddles remarks anecdotes trivia jokes puns facts questions compliments proverbs limericks insights
        nonsense arguments quizzes tales gossip theories gifts biscuits flowers letters postcards cakes puzzles rumours
        quips charades teasers snippets""",
    "want": """I want to|I hope to|I plan to|I need to|I intend to|I have to|We want to|I love to|I aim to|I mean to|
        We plan to|I offered to|I promised to|I ought to|We hope to|I try to|I like to|I wish to|We love to|I prefer to|
        We try to|I vowed to""",
}

SELF = {
    "near": """near behind beside opposite among between past amid beyond alongside against by underneath facing""",
    "hectic": """hectic lazy dull early noisy sluggish tedious rushed quiet lengthy silly cheerful awkward chaotic
        sleepy routine endless gloomy festive solitary frantic idle peaceful grim pleasant unplanned stormy boring brief
        busy calm candlelit casual chilly compulsory cosy crowded customary daily damp dreary drowsy dreadful dutiful
        eventful exhausting friendly frosty fruitless gruelling happy humid hurried hushed impromptu informal joyless
        joyous languid leisurely lively lonely marathon meagre mellow merry monotonous muggy nocturnal occasional
        ordinary overlong painful private rainy raucous relaxed restless rowdy savoury sedate sensible serene shared
        snowy sociable soporific spontaneous strenuous sunny sweaty tense tiresome tranquil typical uneasy uneventful
        unhurried warm weekday wintry""",
    "sessions": """breakfasts|commutes|lunches|rehearsals|shifts|meetings|phone calls|naps|workouts|holidays|
        school runs|interviews|tea breaks|walks|dinners|evenings|mornings|afternoons|weekends|nights|suppers|picnics|
        barbecues|brunches|siestas|car rides|train rides|ferry crossings|bus journeys|flights|layovers|errands|chores|
        housework|laundry days|shopping trips|queues|dentist visits|haircuts|massages|bubble baths|showers|jogs|hikes|
        swims|bike rides|yoga classes|judo lessons|piano lessons|driving lessons|night classes|seminars|lectures|
        webinars|conferences|briefings|audits|inspections|fire drills|power cuts|coffee breaks|elevenses|snacks|feasts|
        card games|chess matches|board games|video calls|family visits|house parties|sleepovers|camping trips|
        fishing trips|sailing lessons|tennis practice|choir practice|band practice|gardening|babysitting|dog walking|
        stargazing|birdwatching|church services|office hours|overtime|paperwork|spring cleaning|bedtime stories|sermons|
        sunsets|sunrises|weekdays|small talk|crosswords|bingo nights|pottery classes|sewing circles|stocktaking""",
    "during": """during before after amid following despite throughout around""",
    "adverb": """softly stubbornly faintly merrily oddly wearily steadily ominously happily feebly loudly nervously
        politely lazily endlessly angrily hoarsely sweetly wildly gloomily smugly hopelessly tirelessly sadly gently
        fitfully mysteriously gamely sourly proudly jauntily peevishly dutifully musically alarmingly bravely placidly
        erratically pleasantly calmly cheerfully constantly contentedly curiously defiantly delicately dramatically
        eagerly earnestly eerily faithfully fiercely frantically furiously grimly grumpily harshly hesitantly humbly
        hypnotically impatiently irritably jerkily languidly lethargically lovingly meekly menacingly mildly
        monotonously mournfully noisily obediently patiently persistently playfully plaintively reassuringly
        relentlessly reluctantly rhythmically rudely sedately serenely sharply shrilly sleepily slowly solemnly
        soothingly sullenly tenderly timidly tunelessly unhappily vigorously wistfully""",
    "i_am": """I am|I was|I keep|I have been|I started|I enjoy|We are|I love|We were|I dread|I adore|I find myself|
        I tried|I am busy|We began|I am forever|I prefer|We have been|I am tired of|I like|We like|I fancy|I resumed|
        I am proud of|I am bored of|I hate|We discussed|I suggested|I postponed|I remember|I imagine|I recommend|
        We considered|I am good at|I avoid|I risk|I mentioned""",
    "carry": """thermos|cello|toddler|birdcage|fern|carpet|hatbox|melon|tuba|spaniel|suitcase|cake|snowboard|pushchair|
        paperwork|lantern|leeks|surfboard|toolbox|tripod|onions|goldfish|unicycle|limes|toothache|pretzel|ukulele|
        laundry|basket|sprained wrist|bouquet|trolley|pillow|rucksack|sandwich|radio|umbrella|kite|racquet|trombone|
        snorkel|skateboard|briefcase|parrot|kitten|hamper|flask|camcorder|crutches|hiccups|sunburn|blisters|hangover|
        beagle|bagpipes""",
    "typing": """type scribble sit huddle work write loiter lounge perch shiver read linger sprawl study settle wait
        daydream crouch fidget doze kneel slouch stand yawn camp squat meditate recline hover snack potter hide chat
        nestle relax sulk stretch lurk pace whisper sketch knit""",
    "body": """elbows knees knuckles wrists fingertips shoulders thumbs ankles shins palms toes eyebrows cheeks forearms
        ears sleeves cuffs trousers collar glasses apron chin nose forehead jacket jumper shoes hair scarf boots
        lapels""",
    "limb": """elbows knees knuckles wrists fingers shoulders thumbs ankles calves shins heels palms toes hips arms legs
        thighs hands feet joints hamstrings biceps forearms eyes""",
    "ache": """ache sting tingle throb protest creak grumble burn complain smart twinge stiffen tremble itch swell pulse
        hurt shake weaken wobble cramp prickle suffer smoulder rebel""",
    "i_feel": """I feel|I am|I remain|I stay|I seem|I sound|I look|I grew|I am rather|I feel quite|I am fairly|
        I am oddly|I feel strangely|I am suddenly|I feel almost|I am usually|I feel wonderfully|I am weirdly""",
    "chirpy": """chirpy calm cheerful curious alert optimistic talkative relaxed hungry thirsty sleepy playful inspired
        nosy content restless nostalgic jolly sentimental hopeful giddy pensive lively bold philosophical drowsy amused
        excited grateful mellow smug patient virtuous inquisitive energetic dreamy lucky festive serene studious
        sociable youthful generous heroic romantic spry""",
    "if": """drizzle stops|sourdough rises|the babysitter comes|the ferry runs|my cold clears|the wind drops|
        traffic allows|the glue dries|my boots survive|the dog behaves|sunshine returns|my cousin agrees|the car starts|
        my headache fades|the tide permits|paint dries quickly|my knee cooperates|ice melts|the baby naps|
        the pool opens|my sister drives|shops stay quiet|fog thins|bread browns nicely|the parcel comes|
        my shift ends early|the boss leaves|the stove behaves|socks dry overnight|snow sticks|wasps go away|
        laundry dries|moonlight appears|heating returns|my back allows|fish bite|the market opens|trains run on time|
        gates open|children calm down|clouds part|my uncle visits|the hangover lifts|hail holds off|the neighbour helps|
        pollen settles|buses run|my tyres hold|the kettle boils|strawberries ripen|my phone charges|the plumber leaves|
        geese stay away|rain eases""",
    "will": """will|may|might|can|shall|could|intend to|plan to|hope to|promise to|want to|would|aim to|must|should""",
    "would": """I would|I could|I ought to|I should|I might|We hoped to|I meant to|I longed to|I wanted to|I planned to|
        I promised to|We meant to|I hoped to|We tried to|I wish to|We should|I offered to|I began to|We agreed to|I may|
        I intended to|I volunteered to|We planned to|I pledged to""",
    "obstacle": """my ankle hurts|hail is forecast|my boots leak|the baby sleeps|fog rolled in|my tyres burst|
        buses are striking|my throat hurts|sleet keeps falling|my trousers ripped|relatives are visiting|my hair is wet|
        the lift stuck|hiccups plague me|the lane flooded|my glasses broke|plumbers arrived|wasps are about|
        my landlord objects|the dog escaped|bees stung me|thunder scares me|heat exhausts me|soup needs stirring|
        roads are icy|my eyes water|winds are savage|my bicycle squeaks|pollen torments me|guests are due|
        sunburn itches|ferries are delayed|tarts need baking|laundry awaits|my alarm failed|pigeons protest|
        ladders wobble|my boss called|snow blocked traffic|a goat intervened|nettles sting|my knees wobble|
        darkness fell|fever struck|my car sulks|mosquitoes bite|permits are pending|my nephew cried|storms loom|
        the tide turned|my shoelaces snapped|laziness won|dinner is ready|hay fever strikes|my phone rang|
        neighbours complained|the kettle whistled|paint is expensive|my brush broke|nobody helps|rain ruined plans""",
    "doc": """allotment parish safety pottery cookery fitness customer travel sailing gardening staff tenants judo choir
        recycling canteen hiking wine scout robotics cycling archery school drama dance astronomy carpentry fishing
        bakery insurance swimming jazz camping knitting tourism marketing seminar radio hobby charity kindergarten
        bowling folklore shipping plumbing beauty fashion""",
    "kind": """newsletter leaflet report application speech column handout poster worksheet presentation bulletin essay
        pamphlet logbook proposal article script guide brochure blog programme memo portfolio podcast talk questionnaire
        catalogue display manual survey website slideshow lecture lesson""",
    "due": """is due|must be printed|goes out|gets posted|gets collected|needs proofreading|is wanted|goes to press|
        gets judged|is expected|needs stapling|gets graded|launches|is scheduled|gets translated|must be mailed|
        needs polish|gets reviewed|airs|gets distributed|gets laminated|must ship|appears|gets published|
        is presented""",
    "before": """before|after|during|ahead of|prior to|following""",
    "cramped": """cramped sunny draughty wobbly upholstered leaky chilly creaky cosy cluttered humble musty borrowed
        tilted breezy shady squeaky luxurious rented lofty solitary spartan warm damp padded dim temporary favourite
        upstairs squalid panoramic rooftop modest makeshift""",
    "from": """bunk hammock balcony desk bathtub armchair ladder rooftop cabin porch saddle lookout treehouse cubicle
        deckchair berth stairwell caravan ward studio windowsill bench pew kitchen attic veranda doorway hideout seat
        sofa stool tent terrace workshop cockpit gazebo wheelchair""",
    "i_see": """I see|I watch|I admire|I spot|I notice|I sketch|I glimpse|I observe|I overlook|I film|I describe|I face|
        I hear|I photograph|I greet|I study|I envy|I ignore|I enjoy|I imitate|I draw|I wave at|I nod at|I pity""",
    "since": """breakfast|dawn|lunchtime|sunrise|midnight|spring|autumn|childhood|retirement|the thunderclap|the storm|
        the thaw|the frost|moving house|graduation|the wedding|my haircut|the heatwave|the harvest|the earthquake|
        the bells rang|my cousin visited|the roof leaked|the guests left|the boiler died|winter|teatime|quitting coffee|
        the drought|the holidays|the clocks changed|my operation|the flood|the monsoon|daybreak|the goats escaped|
        my birthday|the strike|the redecoration|the blackout|dinner|nightfall|the hurricane|brunch|the picnic|
        kindergarten|the reunion|elevenses|the drizzle began|my promotion|the renovation""",
    "been": """I have been|I have enjoyed|we have been|my sister has been|I have avoided|I have tried|we have postponed|
        I have proposed|we have discussed|I have dreaded|my uncle has been|we have practised|I have loved|
        my cousins have been|my flatmate has been|I have considered|I keep|we love|my hobby is|I prefer|I adore|
        I resumed|we started|my nephew has been|I hate|my aunt dreads|we regret|I imagine|my task is""",
    "thin": """thin flimsy draughty paper cracked open leaky cheap rattling heavy bamboo warped wooden dense thick
        ancient metal dripping tall patterned grimy frosted loose neighbouring rusty stained ragged painted""",
    "walls": """walls shutters floorboards curtains hedges fences doors ceilings windows partitions keyholes vents
        skylights drainpipes headphones letterboxes canvas tiles screens blinds hatches pipes gratings grilles speakers
        plasterboard thatch netting pillows bushes rafters chimneys doorways tunnels glass fog""",
    "i_hear": """I hear|I catch|I detect|I overhear|I keep hearing|we hear|I perceive|I enjoy|came|drifts|leaks|
        I endure|comes|I recognise|I follow|pours|floats|seeps|I discern|I record|filters|I listen to|trickles|I absorb|
        bursts""",
    "muffled": """muffled distant shrill cheerful rhythmic tuneless ghostly faint relentless sporadic tinny drunken
        frantic hushed jubilant metallic raucous echoing soothing mechanical mournful squeaky amplified clumsy delicate
        eerie ecstatic gruff feverish infernal jazzy loud lively heavenly nocturnal monotonous""",
    "sound": """hammering laughter barking giggling drilling snoring karaoke yodelling typing clinking gargling cheering
        bickering scratching whistling humming drumming applause clattering purring hooting sobbing tapping chanting
        bleating hissing splashing sawing knocking dripping chewing stamping gossip bagpiping shouting sneezing singing
        crunching whispering thumping chopping creaking hiccupping fiddling mooing quacking clapping""",
    "brisk": """brisk morning rainy aimless lunchtime weekly moonlit countryside foggy lonely muddy silent frosty
        evening autumn compulsory therapeutic windy dawn coastal winding guided barefoot rural chilly lazy seaside snowy
        solitary weekend routine sweaty sunny nightly""",
    "errands": """walks|errands|strolls|hikes|rambles|jogs|outings|marches|patrols|commutes|excursions|detours|rounds|
        expeditions|drives|wanderings|bike rides|bus rides|dog walks|shopping trips|ferry rides|school runs""",
    "meet": """meet pass overtake greet see notice avoid spot photograph follow surprise help startle encounter sketch
        befriend admire dodge join salute interview applaud chase observe tease assist""",
    "are": """There are|There were|There lie|There stand|There sit|Here are|Here lie|Here sit|Here stand|I keep|I store|
        I see|We keep|I hid|I put|We found|I left|We store|I found|I lined up""",
}

INSIDE = "{near} {worn} {fixtures}"
OUTSIDE = "{near} {mossy} {outthings}"
SIGHTS = "{mossy} {outthings}"
ODDMENTS = "{stray} {items}"
WHEN = "{during} {hectic} {sessions}"
WEATHER = "{despite} {freak} {weathers}"

PLANS = (
    f"My {{whirring}} {{machine}} {{whirs}} {{adverb}} {INSIDE}.",
    f"While {{dish}} {{simmers}} {{adverb}}, I {{sort}} {ODDMENTS}.",
    f"{{i_am}} {{handling}} {{a_state}} {{object}} {WHEN}.",
    f"{{now}} {{wet}} {{wets}} {SIGHTS} {WHEN}.",
    f"{{some}} {{airy}} {{vapour}} {{drifts}} {SIGHTS} {WEATHER}.",
    "My {role} {whistles} {mournful} {tunes}, {react}.",
    f"Our {{office_state}} {{office}} {{humanly}} {{sorts}} {ODDMENTS} {WHEN}.",
    f"{{waiting}} {{vehicle}} {OUTSIDE} with my {{carry}}.",
    f"Because our {{machine}} {{fails}} {{adverb}}, I {{typing}} {INSIDE}.",
    f"My {{animal_state}} {{animal}} {{animal_does}} {{soft}} {{cushions}} {WHEN}.",
    f"The {{tone}} {{plants}} {{plants_do}} {SIGHTS} {WEATHER}.",
    f"Although my {{limb}} {{ache}} after {{hauling}} {SIGHTS}, {{i_feel}} {{chirpy}}.",
    f"{{sip}} {{flavour}} {{drink}} from {{a_cup}} {{vessel}} {INSIDE}.",
    f"The {{room}} {{smells}} {{scent}} {{smell}} {WHEN}.",
    f"If {{if}}, I {{will}} {{paint}} {SIGHTS}.",
    "{chat} with my {role} about {exotic} {topics} {left}.",
    f"My {{doc}} {{kind}} on {ODDMENTS} {{due}} {{before}} {{hectic}} {{sessions}}.",
    f"My {{role}} {{took_up}} {{keen}} {{hobby}} {OUTSIDE}.",
    f"With {{sticky}} {{stuff}} on my {{body}}, I {{typing}} {INSIDE}.",
    "A {distant} {traffic} {rumbled} {by}, then {startled} {birds} {shrieked} {adverb}.",
    f"From my {{cramped}} {{from}} {{i_see}} {{tired}} {{strangers}} {{juggling}} {ODDMENTS}.",
    f"Since {{since}}, {{been}} {{hauling}} {SIGHTS}.",
    f"Through {{thin}} {{walls}} {{i_hear}} {{muffled}} {{sound}} {WHEN}.",
    f"The {{lamp_state}} {{lamp}} {{throws}} {{worn}} {{fixtures}} {WHEN}.",
    "{likes} {flavour} {drink} but {dislikes} {stale} {snack}.",
    f"My {{bag_state}} {{bag}} {{bulges}} {ODDMENTS} and {ODDMENTS}.",
    f"At the {{counter}} {{desk}}, {{stranger}} {{is}} {{juggling}} {ODDMENTS}.",
    f"During {{hectic}} {{sessions}}, I {{sort}} {ODDMENTS} {INSIDE}.",
    f"On {{brisk}} {{errands}} I {{meet}} {{tired}} {{strangers}} {{juggling}} {ODDMENTS}.",
    f"{{would}} {{paint}} {SIGHTS}, but {{obstacle}}.",
    "{want} {impress} my {office_state} {role} with {clever} {remarks}.",
    f"After {{hauling}} {SIGHTS} I {{reward}} {{flavour}} {{drink}} with {{stale}} {{snack}}.",
    f"Instead of {{handling}} {{worn}} {{fixtures}}, I {{sort}} {ODDMENTS} {{adverb}}.",
    f"{{are}} {ODDMENTS} {INSIDE} {WHEN}.",
    f"Thanks to {{tired}} {{strangers}}, I {{typing}} {{adverb}} {OUTSIDE}.",
    "{i_feel} {chirpy} because {tired} {strangers} {kind_acts} {stale} {snack}.",
)

FILLERS = listed(THINGS | OUTDOORS | FOOD | PEOPLE | SELF)
COMPILED = tuple(compile_plan(pattern, FILLERS) for pattern in PLANS)


def chatter(rng: Random) -> str:
    """A background sentence of 8 to 16 words; about a third hold one connector (and, but, because, so ...)."""
    return fill(rng, COMPILED)

"""English wordings: schools, homes, sport."""

from __future__ import annotations

TEXT = """
@book
order: fixed
places: Reading Club, Town Library, Book Circle, Evening School
things: pages
open: {N} [reads|is deep in] a [thick |]novel from {P}
open: {P} [lends|recommends] {N} a [crime story|biography|travel book]
pages: the book has {pages} pages
pages: it is {pages} pages [thick|long]
pages listing: Book of the month at {P}: {pages} pages.
pages missing: how many pages the book has
pages about: pages, book, long
daily: {he} [reads|gets through] {daily} pages [a day|every evening]
daily: {N} [has set {himself}|keeps to] {daily} pages a day
daily listing: Reading plan of {P}: {daily} pages a day.
daily missing: how many pages {N} reads per day
daily about: pages, day, reads
days: [so far|by now] {days} days have [gone by|passed]
days: {he} [has kept this up|has been reading] for {days} days
ask: how many pages [are left|has {N} still to read]?
ask: how many pages of the book [remain|lie ahead] for {N}?
far: [find|tell {N}] what is still unread.
far: what stretch of pages separates {N} from the ending?

@fines
order: fixed
places: City Library, School Library, Music Library, Map Archive
open: {N} [forgets|has forgotten] to take some books back to {P}
open: {P} [sends|writes] {N} a reminder
due+back: they were due on {month} {due} but {he} [brings|returns] them on {month} {back}
due+back: the [slip|stamp] says {month} {due}; {N} [turns up|appears] on {month} {back}
books: it is a matter of {books} [volumes|books]
books: {books} [books|volumes] [are in the bag|lay under the bed]
fine: for each day late a book costs {fine}
fine: {P} [asks|charges] {fine} per book and day
fine listing: Late fee at {P}: {fine} a day for every book.
fine missing: how high the late fee is per book and day
fine about: fee, fine, day, late, charge
ask: how much does {N} [owe|have to pay] {P} for [the books|all of them]?
ask: what do the late books cost {N}?
far: [compute|find] the fine that {N} has to settle.
far: what will the librarian ask for at the counter?

@classes
order: fixed
places: Primary School, Grammar School, Village School, Academy
things: pupils
open: {P} goes on [an outing|a hike|a museum trip], and {N} [draws up the list|organises it]
open: {when}, {N} [counts heads|prepares a sports day] at {P}
classes: {classes} classes [take part|are going]
classes: the [trip|day] is meant for {classes} classes
size: [a class|every class] has {size} pupils
size: {size} pupils [sit|are] in each class
size listing: Pupils in a class at {P}: {size}.
size missing: how many pupils a class has
size about: pupils, class, size
ill: {ill} [children|pupils] are [ill|at home with a cold]
ill: {N} [hears|notes] that {ill} pupils [cannot come|are absent]
ask: how many pupils of {P} [take part|are there]?
ask: how many pupils does {N} [tick off|count] that morning?
far: [find|give] the head count at the gate.
far: what number of children sets off in the end?

@quiz
order: fixed
places: Chess Academy, Quiz Club, Language School, Maths Circle
open: {N} [sits|takes] a test at {P}
open: {when}, {P} holds a [contest|quiz], and {N} [enters|gives it a try]
right: {he} [gets|answers] {right} questions right
right: {right} of {his} answers are [right|correct]
plus: a right answer [earns|is worth] {plus} points
plus: {plus} points [are given|go] for each correct one
plus listing: Points for a right answer at {P}: {plus}.
plus missing: how many points a right answer is worth
plus about: points, right, answer, correct
wrong: {wrong} answers are wrong
wrong: [on the other hand|sadly] {N} [slips|misses] {wrong} times
minus: a wrong one [takes away|costs] {minus} points
minus: for every mistake {minus} points are [deducted|lost]
ask: how many points does {N} [end up with|score] at {P}?
ask: what is {N}'s score [in points|] when mistakes are counted?
far: [find|work out] the result on the certificate.
far: what stands next to {N}'s name on the board?

@ages
order: fixed
places: House, Cottage, Villa, Farmhouse
open: young {N} [lives|shares a roof] at {P} with {his} sister {N2} and their mother
open: {N} [grows up|lives] at {P} with {his} sister {N2} and their mother
age: {N} is {age} years old
age: {his} last birthday cake had {age} candles
gap: {N2} is {gap} years older than {N}
gap: between {N} and {N2} lie {gap} years, {N2} being the elder
gap listing: The sisters and brothers at {P}: {N2} came into the world {gap} years before {N}.
gap missing: how many years older {N2} is than {N}
gap about: older, years, {N2}, age
times: their mother is {times} times as old as {N2}
times: {N2}'s age times {times} is [that of their mother|their mother's age]
years: [now think of|imagine] the [feast|party] in {years} years
years: the family [will move|wants to sail away] in {years} years
ask: how old will the mother be then?
ask: what age will the mother of {N} and {N2} have [reached|] by that time?
far: [work out|find] how many candles the mother needs on that day.
far: at that moment, what will be the mother's age?

@savings
order: fixed
places: Youth Bank, Piggy Bank Club, Savings Club, School Bank
open: {N} [saves up|puts money away] at {P} for [a guitar|a trip|a bicycle|a camera]
open: to [buy a telescope|see the sea], {N} has an account at {P}
had: [at the start|at first] {he} [has|owns] {had}
had: {had} [are there|lie there] already
weekly: [every week|each week] {weekly} [are added|go in]
weekly: {N} [pays in|brings] {weekly} [a week|weekly]
weekly listing: Standing order of {N} at {P}: {weekly} a week.
weekly missing: how much {N} saves per week
weekly about: week, weekly, saves, much
weeks: {he} [keeps going|does so] for {weeks} weeks
weeks: {weeks} weeks [go by|pass like this]
ask: how much money does {N} have at {P} [then|after that]?
ask: what has {N} saved [by then|] in all?
far: [find|give] the balance of the account.
far: what sum can {N} [take out|count on]?

@plan
order: fixed
places: Phone Company, Gym, Internet Service, Cable Network, Music School
open: {N} [signs|takes out] a contract with {P}
open: {when}, {N} [becomes a customer|joins as a member] at {P}
fee: it costs {fee} a month
fee: the monthly [fee|rate] is {fee}
fee listing: Monthly fee at {P}: {fee}.
fee missing: how high the monthly fee is
fee about: month, monthly, fee
months: the contract [runs|is made] for {months} months
months: {he} [stays|remains] {months} months
setup: [joining|the connection] costs {setup} once
setup: there is a one-off [charge|payment] of {setup}
ask: how much does {N} pay {P} over the whole contract?
ask: what does the contract with {P} cost {N} in all?
far: [add up|find] everything that leaves {N}'s account for it.
far: what is the price of the entire agreement?

@village
order: fixed
places: Village, Parish, Island Community, Settlement
things: people
open: {N} keeps the [register|records] of {P}
open: {when}, {P} [counts its people|takes a census], and {N} [goes from door to door|fills in the forms]
last: a year ago {last} people lived there
last: last year's [list|count] gave {last} people
last listing: People on the register of {P} at the last count: {last}.
last missing: how many people lived there a year ago
last about: people, year, lived, count
pct: since then {pct} [were added|came in] through births and arrivals
pct: newcomers and newborns make up a growth of {pct}
moved: {moved} people have moved away
moved: {N} [crosses out|deletes] {moved} who left
ask: how many people live in {P} now?
ask: how many names are on {N}'s list today?
far: [find|give] the present population.
far: what figure goes into this year's report?

@album
places: Collectors' Club, Stamp Society, Scrapbook Circle, Hobby Club
nouns: item=sticker
things: {items}
open: {N} fills an album [of|from] {P} with {items}
open: {N} [collects|has a passion for] {items} and [got|bought] an album from {P}
leaves: the album has {leaves} pages
leaves: {leaves} pages [wait|are bound in it]
per: a page [takes|has room for] {per} {items}
per: {per} {items} [go|fit] on each page
per listing: Albums of {P}: {per} {items} to a page.
per missing: how many {items} fit on a page
per about: page, fit, {items}
have: {N} [owns|has stuck in] {have} {items}
have: {have} {items} are [already in|in place]
ask: how many {items} does {N} still need for a full album?
ask: how many {items} are missing from {N}'s album?
far: [find|count] the gaps that are left.
far: what has {N} yet to collect?

@laps
places: Athletics Club, Running School, Ice Rink, Cycling Club
open: {N} [trains|runs] at {P}
open: {when}, {N} [prepares for a race|follows a training plan] at {P}
laps: each day {he} does {laps} laps
laps: {laps} laps are [a day's work|on the plan every day]
track: a lap is {track} metres
track: {track} metres [make|is the length of] one lap
track listing: Length of the track of {P}: {track} metres.
track missing: how many metres a lap is
track about: lap, metres, long
days: {N} [trains|does this] on {days} days
days: after {days} days {he} [takes a rest|sees the coach]
ask: how many kilometres does {N} cover at {P} in all?
ask: how many kilometres does that make for {N}?
far: [find|give] the training distance in kilometres.
far: what does the diary show, in kilometres?

@run
places: Charity Run, Sponsored Walk, Hospice Run, Harbour Run
open: {N} [organises|helps with] the {P}
open: {when}, the {P} [takes place|draws many people], and {N} [hands out numbers|keeps the tally]
runners: {runners} runners [start|take part]
runners: the [list|start] shows {runners} runners
km: a runner covers {km} kilometres
km: the course is {km} kilometres for everybody
km listing: Course of the {P}: {km} kilometres.
km missing: how many kilometres each runner covers
km about: kilometres, course, runner
pledge: sponsors [give|promise] {pledge} for each kilometre run
pledge: a kilometre is worth {pledge} to the sponsors
pledge listing: Sponsors of the {P} give {pledge} a kilometre.
pledge missing: how much the sponsors give per kilometre
pledge about: sponsors, kilometre, give, pledge
ask: how much money does the {P} raise?
ask: what do all the runners together bring in?
far: [find|announce] the donation.
far: what amount may {N} write on the big cheque?
"""

"""English wordings of the scenes that go on from a result."""

from __future__ import annotations

TEXT = """
@c_off
c_off_p: [as a regular|as a member|with a loyalty card], {N} gets {c_off_p} off the whole bill
c_off_p: {P} [takes|knocks] {c_off_p} off everything for [regulars|members|early payment]
ask: how much does {N} pay after the discount [from {P}|]?
ask: what is left of {N}'s bill with the discount?
far: [find|tell me] the reduced amount.
far: what does {N} really hand over in the end?

@c_tax
c_tax_p: [a tax|a local levy|a service charge] of {c_tax_p} comes on top of everything
c_tax_p: to the full amount {P} adds {c_tax_p} [tax|for service]
ask: how much is due with the [extra percentage|surcharge] [at {P}|]?
ask: what does {N} pay when [tax|the surcharge] is added?
far: [find|give] the gross amount.
far: what figure closes the bill, levies included?

@c_fee
c_fee_x: [insurance|handling|cleaning|delivery] [costs|adds] another {c_fee_x}
c_fee_x: {P} [also charges|puts down] {c_fee_x} for [insurance|handling|paperwork]
ask: how much does {N} pay {P} with that charge included?
ask: what does it all cost {N}, the extra charge included?
far: [find|state] the total outlay.
far: what leaves {N}'s wallet when every item is settled?

@c_split
c_split_n: the [cost|bill] is shared equally by {c_split_n} [friends|people|families]
c_split_n: {c_split_n} [people|neighbours|colleagues] [split it|chip in] in equal parts
ask: how much does each [of them|person] pay?
ask: what is one part of the bill?
far: [find|tell them] the contribution of a single one.
far: what does everybody put on the table?

@c_coupon
c_coupon_x: {N} [has|redeems] a [voucher|coupon] worth {c_coupon_x}
c_coupon_x: {his} {kin} [gave {him}|had left {him}] a gift card over {c_coupon_x}, which {he} uses
ask: how much must {N} pay after using the [voucher|card]?
ask: what is left to pay for {N} once the [card|voucher] is used?
far: [find|work out] the remainder in cash.
far: what does {N} still have to find?

@c_budget
c_budget_x: {N} [set aside|brought along|has] {c_budget_x} for this
c_budget_x: {his} [envelope|budget|purse] [holds|amounts to] {c_budget_x}
ask: how much money does {N} have left?
ask: what remains of {N}'s money [after that|]?
far: [find|state] the change in {N}'s pocket.
far: what does {N} carry back home, unspent?

@c_wait
c_wait_s: {N} already has {c_wait_s} [put by|in a tin]
c_wait_s: {c_wait_s} of it [are there|is in the drawer] already
c_wait_w: [from now on|each week] {he} can spare {c_wait_w} a week
c_wait_w: {his} allowance lets {him} save {c_wait_w} every week
ask: how many weeks does {N} need until the money is there?
ask: how many weeks must {N} save for the rest?
far: [find|tell {N}] the waiting time in weeks.
far: when, counted in weeks, can {N} pay it all?

@c_rates
c_rates_n: {N} [pays|settles it] in {c_rates_n} equal instalments
c_rates_n: {P} lets {him} pay in {c_rates_n} equal [rates|parts]
ask: how much is one instalment?
ask: what does {N} pay each time?
far: [find|give] the size of a single payment.
far: what sum falls due every time?

@c_times
c_times_n: {N} [does the same|needs this] {c_times_n} times [a year|in the season|]
c_times_n: this [happens|comes round] {c_times_n} times before [winter|the year is out]
ask: how much does {N} spend on it altogether?
ask: what do all these occasions cost {N}?
far: [add it all up|find the grand total].
far: what does the habit cost in the long run?

@i_spend
i_spend_x: [rent|material|petrol|repairs] [cost|swallow|use up] {i_spend_x} of it
i_spend_x: {N} [has to pay|spends] {i_spend_x} [on new tools|for material|on repairs]
ask: how much is left for {N} after [these expenses|that]?
ask: what does {N} keep when the expenses are paid?
far: [find|state] the net amount.
far: what stays in the till as gain?

@i_give
i_give_p: {i_give_p} of the money at hand [goes to|is promised to] [a shelter|the hospital|the parish|charity]
i_give_p: {P} [keeps|holds back] {i_give_p} of what there is as [commission|a contribution]
ask: how much is left of the money after that share?
ask: what remains for {N} once the percentage is taken off?
far: [find|give] the part that is not given away.
far: what may {N} call {his} own?

@i_split
i_split_n: {i_split_n} people [divide|share] the money equally
i_split_n: it is split evenly among {i_split_n} [helpers|partners|friends]
ask: how much does each of the {i_split_n} get?
ask: what is one person's equal share?
far: [find|tell them] what one of them receives.
far: what does a single helper take home?

@i_goal
i_goal_x: {N} [dreams of|is saving for|wants] [a piano|a boat|a loom], which costs {i_goal_x}
i_goal_x: the [goal|target] [is|was set at] {i_goal_x}
ask: how much money is still missing?
ask: what does {N} still need to reach {i_goal_x}?
far: [find|state] the gap.
far: what amount separates {N} from the target?

@i_weeks
i_weeks_n: the same happens in {i_weeks_n} [weeks|months] in a row
i_weeks_n: {N} [repeats this|does equally well] {i_weeks_n} times
ask: how much money is that in all those rounds?
ask: what does {N} have after all repetitions?
far: [sum it up|find the sum over the whole time].
far: what is the grand total by then?

@i_match
i_match_p: a [sponsor|foundation|grant] adds {i_match_p} to [whatever is there|the money at hand]
i_match_p: {P} rewards {him} with a supplement of {i_match_p} on the money so far
ask: how much money is there with the supplement?
ask: what does {N} have after the extra percentage is added?
far: [find|give] the raised amount.
far: what does the account show when the sponsor has paid?

@i_buy
things: packs
i_buy_x: with the money {N} [orders|buys] [packs of paper|paint packs|seed packs] at {i_buy_x} each
i_buy_x: [everything|all of it] is spent on [supply|gift|craft] packs, {i_buy_x} [apiece|a pack]
i_buy_x listing: One pack costs {i_buy_x} through {P}.
i_buy_x missing: what one pack costs
i_buy_x about: pack, packs, cost, costs, price
ask: how many packs can {N} [buy|get] with the money?
ask: how many packs does the money pay for?
far: [find|state] the number of packs on the receipt.
far: what stack of packs does {N} carry off?

@i_bonus
i_bonus_x: {P} adds a bonus of {i_bonus_x}
i_bonus_x: [besides|on top of this], {N} gets {i_bonus_x} [as a premium|for punctuality]
ask: how much money is it with the bonus?
ask: what does {N} receive, bonus included?
far: [find|state] the full payment.
far: what goes to {N} when the extra is paid as well?

@n_lost
things: remaining {base}
n_lost_x: {N} [gives away|loses|puts aside] {n_lost_x} of the {things}
n_lost_x: {n_lost_x} {things} [are taken off|go elsewhere] [before noon|later|]
ask: how many {things} are [left|still there]?
ask: how many {things} does {N} have after that?
far: [find|state] the remaining number of {things}.
far: what stock of {things} is {N} left with?

@n_pack
things: bundles
n_pack_x: {N} [ties|puts] the {things} into bundles of {n_pack_x}
n_pack_x: {n_pack_x} {things} make a bundle
n_pack_x listing: A bundle at {P} has {n_pack_x} {base}.
n_pack_x missing: how many {base} make a bundle
n_pack_x about: bundle, bundles, make
ask: how many bundles does {N} get?
ask: how many full bundles [are there|come of it]?
far: [find|give] the number of bundles.
far: what count of bundles leaves the table?

@n_sell
n_sell_x: the {things} are sold at {n_sell_x} each
n_sell_x: [a dealer|a buyer|{P}] pays {n_sell_x} for every one of the {things}
n_sell_x listing: Buying price at {P}, {base}: {n_sell_x} each.
n_sell_x missing: what one of the {base} sells for
n_sell_x about: price, sold, sells, each, pays
ask: how much money do the {things} bring?
ask: what does {N} get for the {things}?
far: [find|work out] the proceeds.
far: what sum changes hands?

@n_share
n_share_n: {n_share_n} [groups|rooms|helpers] get the same number of {things}
n_share_n: the {things} are [divided|handed out] evenly [among|to] {n_share_n} [teams|shelves|classes]
ask: how many {things} does each of the {n_share_n} get?
ask: how many {things} are in one equal share?
far: [find|state] a single share.
far: what does one of them receive in {things}?

@n_part
things: remaining {base}
n_part_p: {n_part_p} of the {things} are [reserved for guests|kept back|set apart]
n_part_p: {P} keeps {n_part_p} of the {things} as a reserve
ask: how many {things} are not kept back?
ask: how many {things} remain for [free use|other purposes]?
far: [find|state] the number of {things} outside the reserve.
far: what is free to be used?

@n_more
n_more_x: {his} {kin} [brings|sends] {n_more_x} more {things}
n_more_x: {n_more_x} {things} from [before|an older stock|another source] are added
ask: how many {things} are there now?
ask: how many {things} does {N} have with the added ones?
far: [find|give] the new total of {things}.
far: what does the full count come to?

@h_pay
h_pay_x: for each hour {P} pays {h_pay_x}
h_pay_x: the [time|work] is paid at {h_pay_x} an hour
h_pay_x listing: Pay at {P}: {h_pay_x} an hour.
h_pay_x missing: how much one hour is paid
h_pay_x about: hour, paid, pay
ask: how much money is paid for the hours?
ask: what do the hours cost {P}?
far: [find|state] the amount on the time bill.
far: what must the cashier get ready?

@h_min
h_min_x: [cleaning up|putting the tools away|the walk there] [takes|costs] another {h_min_x} minutes
h_min_x: {h_min_x} minutes for [tidying|setting up] come on top
ask: how many minutes is that in all?
ask: how many minutes does it take with those [extra minutes|] added?
far: [find|give] the full time in minutes.
far: what does the stopwatch say, in minutes?

@h_times
h_times_n: the same job comes up {h_times_n} times [a year|this season|]
h_times_n: {N} has to do it {h_times_n} times
ask: how many hours is that for all the times together?
ask: how many hours does it take when everything is counted?
far: [find|state] the sum of hours.
far: what is the overall time in hours?

@m_hours
m_hours_n: this is done {m_hours_n} times [a month|a season|]
m_hours_n: {N} goes through the same routine {m_hours_n} times
ask: how many hours is that altogether?
ask: how many hours do all the rounds take?
far: [find|give] the total, turned into hours.
far: what does it come to in hours?

@m_more
m_more_x: [a check|rinsing|a safety test] [takes|adds] {m_more_x} minutes
m_more_x: afterwards {N} needs {m_more_x} minutes to [tidy up|check it all]
ask: how many minutes is {N} busy in all?
ask: how many minutes does it take, the check included?
far: [find|state] the whole time in minutes.
far: what span, in minutes, passes until {N} is free?

@m_parts
m_parts_n: {m_parts_n} people take turns, each for the same time
m_parts_n: the time is divided into {m_parts_n} equal shifts
ask: how many minutes does one turn last?
ask: how many minutes is each person's part?
far: [find|give] the length of a single turn in minutes.
far: what is one shift, in minutes?

@k_fuel
k_fuel_l: the [engine|motor] uses {k_fuel_l} litres on a hundred kilometres
k_fuel_l: a hundred kilometres [cost|eat up] {k_fuel_l} litres of fuel
k_fuel_l listing: Vehicles of {P} use {k_fuel_l} litres on a hundred kilometres.
k_fuel_l missing: how many litres are used per hundred kilometres
k_fuel_l about: litres, hundred, kilometres
k_fuel_x: fuel [is at|stands at] {k_fuel_x} a litre
k_fuel_x: the filling station asks {k_fuel_x} a litre
k_fuel_x listing: Fuel, {P}: {k_fuel_x} a litre.
k_fuel_x missing: what a litre of fuel costs
k_fuel_x about: litre, fuel, cost, costs, price
ask: how much does the fuel for these kilometres cost?
ask: what is spent on fuel for the whole distance?
far: [find|state] the bill at the filling station.
far: what does the driving cost in petrol money?

@k_back
k_back_x: [all of this|the same distance] is covered a second time, [plus|with] a detour of {k_back_x} kilometres
k_back_x: all of it is done twice, and a {k_back_x} kilometre side trip is added
ask: how many kilometres is that with the detour?
ask: how many kilometres does {N} cover, both times and the detour counted?
far: [find|state] the full distance in kilometres.
far: what do the wheels or feet cover in kilometres?

@k_rest
k_rest_x: the [season's|year's|whole] plan [asks for|is] {k_rest_x} kilometres
k_rest_x: {P} [wants|set] a total of {k_rest_x} kilometres
ask: how many kilometres are still to go?
ask: how many kilometres of the plan are left for {N}?
far: [find|state] the open distance in kilometres.
far: what is missing to the target, in kilometres?

@k_pace
k_pace_x: [a heavier|an older|a tired] group covers {k_pace_x} kilometres in an hour
k_pace_x: a slower group does the same distance at {k_pace_x} kilometres an hour
k_pace_x listing: Pace of the slow group of {P}: {k_pace_x} kilometres an hour.
k_pace_x missing: how many kilometres an hour the slower group covers
k_pace_x about: kilometres, hour, pace, speed, fast
ask: how many hours would the slower group need for all the kilometres?
ask: how many hours does the slower group take for it?
far: [find|give] the slower group's time in hours.
far: what is the duration in hours for the slower group?

@g_price
g_price_x: a kilogram [sells|goes] for {g_price_x}
g_price_x: {P} [gets|is paid] {g_price_x} for a kilogram
g_price_x listing: Price of a kilogram at {P}: {g_price_x}.
g_price_x missing: what a kilogram costs
g_price_x about: kilogram, price, cost, costs
ask: how much is all of it worth?
ask: what is the money value of all the kilograms?
far: [find|state] its value.
far: what would a buyer pay for the lot?

@g_sack
things: sacks
g_sack_x: a sack [takes|holds] {g_sack_x} kilograms
g_sack_x: {N} fills it into sacks of {g_sack_x} kilograms
g_sack_x listing: Sacks at {P} take {g_sack_x} kilograms.
g_sack_x missing: how many kilograms a sack takes
g_sack_x about: sack, sacks, kilograms
ask: how many sacks does {N} fill?
ask: how many sacks are needed?
far: [find|state] the number of sacks.
far: what row of sacks stands there at last?

@g_waste
g_waste_p: {g_waste_p} of the weight on the scales [is lost|goes to waste] [in sorting|as peel|by drying]
g_waste_p: in [sorting|storage] it shrinks by {g_waste_p}
ask: how many kilograms are left after the loss?
ask: how many kilograms can still be used?
far: [find|state] the net weight in kilograms.
far: what do the scales show later, in kilograms?

@g_more
g_more_x: [to this|then] {his} {kin} adds {g_more_x} kilograms
g_more_x: {g_more_x} kilograms from [an earlier day|the cellar] are put with it
ask: how many kilograms are there together?
ask: how many kilograms is that with the added part?
far: [find|state] the joint weight in kilograms.
far: what is the mass of all this, in kilograms?

@g_part
things: portions
g_part_x: it is divided into portions of {g_part_x} grams
g_part_x: one portion weighs {g_part_x} grams
g_part_x listing: A portion at {P}: {g_part_x} grams.
g_part_x missing: how many grams a portion weighs
g_part_x about: portion, portions, grams
ask: how many portions does that make?
ask: how many portions can {N} hand out?
far: [find|state] the number of portions.
far: what number of mouths can be fed, one portion each?

@l_fill
things: bottles
l_fill_x: {N} fills it into bottles of {l_fill_x} millilitres
l_fill_x: a bottle [holds|takes] {l_fill_x} millilitres
l_fill_x listing: Bottles of {P} hold {l_fill_x} millilitres.
l_fill_x missing: how many millilitres a bottle holds
l_fill_x about: bottle, bottles, millilitres
ask: how many bottles does {N} fill?
ask: how many bottles are needed for it all?
far: [find|state] the number of bottles.
far: what battery of bottles is corked in the end?

@l_price
l_price_x: a litre is worth {l_price_x}
l_price_x: for one litre {l_price_x} [is|has to be] paid
l_price_x listing: Price of a litre at {P}: {l_price_x}.
l_price_x missing: what a litre costs
l_price_x about: litre, price, cost, costs, worth
ask: how much money are all these litres worth?
ask: what is the price of all the litres?
far: [find|state] its value in money.
far: what would the invoice for it say?

@l_use
l_use_x: {l_use_x} litres [are spilled|leak out|go down the drain]
l_use_x: {P} [keeps|needs] {l_use_x} litres [for cleaning|as a reserve]
ask: how many litres are left then?
ask: how many litres does that leave {N}?
far: [find|state] the remaining volume in litres.
far: what does the dipstick show, in litres?

@l_can
things: cans
l_can_x: it is carried in cans of {l_can_x} litres
l_can_x: one can [takes|holds] {l_can_x} litres
l_can_x listing: Cans at {P} hold {l_can_x} litres.
l_can_x missing: how many litres a can holds
l_can_x about: can, cans, litres
ask: how many cans does it fill?
ask: how many cans must {N} get ready?
far: [find|state] the number of cans.
far: what number of cans is on the cart?

@p_bus
things: buses
p_bus_x: a bus [seats|takes] {p_bus_x} of them
p_bus_x: they ride in buses with {p_bus_x} seats
p_bus_x listing: Buses used by {P} have {p_bus_x} seats.
p_bus_x missing: how many people fit in a bus
p_bus_x about: bus, buses, seats, fit
ask: how many buses are filled?
ask: how many buses must {N} order for all of them?
far: [find|state] the number of buses.
far: what convoy of buses is waiting outside?

@p_fee
p_fee_x: each of them pays {p_fee_x}
p_fee_x: {P} [takes|collects] {p_fee_x} from every one
p_fee_x listing: Charge for each person at {P}: {p_fee_x}.
p_fee_x missing: how much each person pays
p_fee_x about: person, pays, each, charge
ask: how much money is paid by all of them?
ask: what does {N} collect from everyone together?
far: [find|state] the takings.
far: what amount is in the box afterwards?

@p_more
p_more_x: {p_more_x} [latecomers|guests|helpers] join them
p_more_x: [then|a little later] {p_more_x} more people arrive
ask: how many people is that in all?
ask: how many people are there, the later ones included?
far: [find|state] the full head count.
far: what is the size of the crowd by then?

@p_part
things: people
p_part_p: {p_part_p} of them [stay for supper|want a guided tour|buy a souvenir]
p_part_p: for the second part {p_part_p} of them [sign up|stay]
ask: how many people is that percentage?
ask: how many of the people belong to that part?
far: [find|state] how many that is.
far: what number of places must be kept for them?

@p_eat
p_eat_x: everybody gets {p_eat_x} grams of [rice|bread|salad]
p_eat_x: {N} plans {p_eat_x} grams of [stew|pasta|soup] a head
p_eat_x listing: Helping at {P}: {p_eat_x} grams a head.
p_eat_x missing: how many grams each person gets
p_eat_x about: grams, person, head, helping
ask: how many kilograms of food is that?
ask: how many kilograms must {N} have ready for all?
far: [find|state] the weight of the food in kilograms.
far: what does the kitchen have to cook, in kilograms?

@d_more
d_more_x: [a reminder fee|the paperwork|insurance] [adds|costs] another {d_more_x}
d_more_x: {P} also [bills|charges] {d_more_x} for the [contract|file]
ask: how much does {N} owe {P} in all, that charge included?
ask: what must {N} pay back with the extra charge?
far: [find|state] the full debt, charges and interest included.
far: what clears {N}'s file at {P}, interest and charges paid?

@v_more
v_more_x: [a spill|a leaking hose|a second try] [swallows|takes] another {v_more_x} litres
v_more_x: {v_more_x} litres [are wasted|run off] on top of that
ask: how many litres are used with that added?
ask: how many litres does {N} write down in all?
far: [find|state] the whole volume in litres.
far: what is gone in litres by the end?

@v_can
things: canisters
v_can_x: it [comes|is fetched] in canisters of {v_can_x} litres
v_can_x: a canister [holds|takes] {v_can_x} litres
v_can_x listing: Canisters at {P} hold {v_can_x} litres.
v_can_x missing: how many litres a canister holds
v_can_x about: canister, canisters, litres, holds
ask: how many canisters is that?
ask: how many canisters does {N} empty for all the litres?
far: [find|state] the number of canisters.
far: what row of empty canisters is left by the wall?

@w_more
w_more_x: [later|at the last minute] {N} adds [a machine|a chest|a barrel] of {w_more_x} kilograms
w_more_x: {w_more_x} kilograms of [tools|post|ice] come on top
ask: how many kilograms is the load now?
ask: how many kilograms are on board when that is added?
far: [find|state] the final weight in kilograms.
far: what do the axles carry, in kilograms?

@w_toll
w_toll_x: carriage costs {w_toll_x} for each kilogram
w_toll_x: {P} [asks|takes] {w_toll_x} a kilogram for the transport
w_toll_x listing: Carriage with {P}: {w_toll_x} a kilogram.
w_toll_x missing: what the transport costs per kilogram
w_toll_x about: transport, carriage, kilogram, cost, costs
ask: how much does the transport of all the kilograms cost?
ask: what is the price of sending the whole load?
far: [find|state] the freight charge.
far: what will the sender be billed?

@w_lift
w_lift_x: a hoist [lifts|takes] {w_lift_x} kilograms at a time
w_lift_x: at the other end a cart moves {w_lift_x} kilograms in one go
w_lift_x listing: Lifting gear at {P}: {w_lift_x} kilograms at a time.
w_lift_x missing: how many kilograms are moved at a time
w_lift_x about: kilograms, time, lifts, moved, hoist
ask: how many times must the load be lifted or carted until all of it is moved?
ask: how many goes does it take to move the whole load?
far: [find|state] the number of goes.
far: after what number of goes is the floor empty?

@s_more
s_more_x: walking [about|in the yard] adds {s_more_x} steps
s_more_x: the way home is another {s_more_x} steps
ask: how many steps is that with the walk added?
ask: how many steps does {N} take, walk included?
far: [find|state] what the step meter shows at night.
far: what is the full count of steps?

@s_days
s_days_n: {N} does this on {s_days_n} days
s_days_n: {s_days_n} days go by in the same manner
ask: how many steps is that over all the days?
ask: how many steps does {N} collect in that time?
far: [find|state] the step total of the period.
far: what figure does the meter reach?

@s_burn
s_burn_x: {s_burn_x} steps burn one calorie
s_burn_x: {his} watch counts a calorie for every {s_burn_x} steps
s_burn_x listing: On the stairs of {P} a calorie goes with {s_burn_x} steps.
s_burn_x missing: how many steps burn one calorie
s_burn_x about: steps, calorie, burn
ask: how many calories does {N} burn?
ask: how many calories do these steps use up?
far: [find|state] the number of calories.
far: what does the watch show in calories?

@s_goal
s_goal_x: {his} goal is {s_goal_x} steps
s_goal_x: {N} has promised to do {s_goal_x} steps
s_goal_x listing: Step goal set by {P}: {s_goal_x}.
s_goal_x missing: how many steps the goal is
s_goal_x about: goal, steps
ask: how many steps are missing to the goal?
ask: how many steps must {N} still do for the goal?
far: [find|state] the distance to the goal, in steps.
far: what separates {N} from the goal, counted in steps?

@b_skip
b_skip_x: {b_skip_x} of the pages ahead [are pictures|form the index], which {N} skips
b_skip_x: {he} [leaves out|jumps over] {b_skip_x} pages of [notes|maps] at the end
ask: how many pages does {N} still want to read?
ask: how many pages are ahead without the skipped ones?
far: [find|state] what {he} really has before {him}, in pages.
far: what is left as true reading matter?

@b_days
b_days_x: from now on {he} [reads|does] {b_days_x} pages [a day|each evening]
b_days_x: {his} new pace is {b_days_x} pages a day
b_days_x listing: New pace agreed at {P}: {b_days_x} pages a day.
b_days_x missing: how many pages a day {N} reads from now on
b_days_x about: pages, day, pace, reads
ask: how many more days does {N} need for the rest of the book at the new pace?
ask: how many days will the rest take at the new pace?
far: [find|state] the days until the last page at the new pace.
far: at the new pace, in what number of days is {N} through?

@b_time
b_time_x: a page takes {him} {b_time_x} minutes
b_time_x: {N} needs {b_time_x} minutes for each page
b_time_x listing: {N}, {P}: {b_time_x} minutes a page.
b_time_x missing: how many minutes a page takes
b_time_x about: minutes, page, takes
ask: how many minutes does the rest of the book take?
ask: how many minutes of reading are still ahead of {N}?
far: [find|state] the reading time that is left, in minutes.
far: what does the ending cost in minutes?

@b_pause
b_pause_x: in between {N} is [ill|away] for {b_pause_x} days and reads nothing
b_pause_x: {b_pause_x} days without any reading [come|fall] in between
ask: how many days pass until {N} has finished, the idle ones included?
ask: how many days is it with the pause?
far: [find|state] the full number of days.
far: when, in days from now, is the book closed?

@b_hours
b_hours_x: {he} needs {b_hours_x} minutes on each of these days
b_hours_x: each day's reading takes {b_hours_x} minutes
b_hours_x listing: Reading time a day, {P}: {b_hours_x} minutes.
b_hours_x missing: how many minutes a day the reading takes
b_hours_x about: minutes, day, takes
ask: how many minutes does {N} read on all these days?
ask: how many minutes of reading is that?
far: [find|state] the reading time in minutes.
far: what is the sum of all sittings, in minutes?

@u_spare
u_spare_x: {N} [wants|adds] {u_spare_x} {base} as spares
u_spare_x: {u_spare_x} further {base} are [needed|wanted] in reserve
ask: how many {base} is that with the spare ones?
ask: how many {base} does {N} ask for, spares included?
far: [find|state] the full number of {base}.
far: what does the order slip say, spares and all?

@u_have
u_have_x: {u_have_x} {base} [turn up|are found] in a drawer and need not be got
u_have_x: {his} {kin} [gives|lends] {him} {u_have_x} {base}, so these are not needed
ask: how many {base} must {N} still get?
ask: how many {base} are needed beyond those?
far: [find|state] the number of {base} that is still missing.
far: what remains on the wish list of {base}?

@u_box
u_box_x: they come in boxes of {u_box_x}
u_box_x: a box [holds|has] {u_box_x} {base}
u_box_x listing: Boxes sold to {P} hold {u_box_x} {base}.
u_box_x missing: how many {base} a box holds
u_box_x about: box, boxes, holds
ask: how many boxes does {N} need?
ask: how many full boxes is that?
far: [find|state] the number of boxes.
far: what stack of boxes is delivered?

@u_each
u_each_x: one of the {base} costs {u_each_x}
u_each_x: the dealer asks {u_each_x} apiece
u_each_x listing: {P} gets {base} at {u_each_x} each.
u_each_x missing: what one of the {base} costs
u_each_x about: cost, costs, price, each, one
ask: how much do the {base} cost?
ask: what does {N} pay for the {base}?
far: [find|state] the expense.
far: what is the price of the entire order?

@u_price
u_price_x: a box costs {u_price_x}
u_price_x: for each box {N} pays {u_price_x}
u_price_x listing: One box for {P}: {u_price_x}.
u_price_x missing: what a box costs
u_price_x about: box, cost, costs, price
ask: how much do all the boxes cost?
ask: what does {N} pay for the boxes?
far: [find|state] the bill for the boxes.
far: what is to be paid on delivery?
"""

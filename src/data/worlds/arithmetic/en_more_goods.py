"""English wordings: scenes that go on from goods, weights and volumes."""

from __future__ import annotations

TEXT = """
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
far: [find|work out] the proceeds of the {things}.
far: what sum changes hands for the {things}?

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

@g_price
g_price_x: a kilogram [sells|goes] for {g_price_x}
g_price_x: {P} [gets|is paid] {g_price_x} for a kilogram
g_price_x listing: Price of a kilogram at {P}: {g_price_x}.
g_price_x missing: what a kilogram costs
g_price_x about: kilogram, price, cost, costs
ask: how much is all of it worth?
ask: what is the money value of all the kilograms?
far: [find|state] the money value of the whole weight.
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
far: what would the invoice for all the litres say?

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

@v_price
v_price_x: a litre costs {N} {v_price_x}
v_price_x: the [supplier|dealer] [charges|bills] {v_price_x} for each litre
v_price_x listing: {P} is charged {v_price_x} a litre.
v_price_x missing: what a litre costs
v_price_x about: litre, cost, costs, price
ask: how much do all these litres cost?
ask: what does {N} pay for the litres?
far: [find|state] the expense for the whole volume.
far: what does the supplier's invoice come to?

@y_more
y_more_x: another {y_more_x} kilograms [go into trials|are wanted as a reserve|end up on the floor]
y_more_x: for [a second kitchen|the neighbours|a late order] {N} needs {y_more_x} kilograms more
ask: how many kilograms are needed in all?
ask: how many kilograms is that with the extra part?
far: [find|state] the full demand in kilograms.
far: what must be fetched, in kilograms, when the extra is counted?

@y_have
y_have_x: {y_have_x} kilograms [are still in the cellar|stand on the shelf], so they need not be bought
y_have_x: {his} {kin} [gives|brings] {y_have_x} kilograms for free
ask: how many kilograms must {N} still buy?
ask: how many kilograms are needed beyond that?
far: [find|state] the missing weight in kilograms.
far: what is left on the shopping list, in kilograms?

@y_price
y_price_x: the [supplier|mill|wholesaler] asks {y_price_x} a kilogram
y_price_x: {N} buys it at {y_price_x} for each kilogram
y_price_x listing: {P} buys at {y_price_x} a kilogram.
y_price_x missing: what a kilogram costs
y_price_x about: kilogram, cost, costs, price
ask: how much does {N} pay for all the kilograms?
ask: what do the kilograms cost {P}?
far: [find|state] the sum on the supplier's bill.
far: what must {N} hand to the supplier?

@y_bag
things: bags
y_bag_x: it is sold in bags of {y_bag_x} kilograms
y_bag_x: a bag [weighs|holds] {y_bag_x} kilograms
y_bag_x listing: Bags delivered to {P}: {y_bag_x} kilograms each.
y_bag_x missing: how many kilograms a bag holds
y_bag_x about: bag, bags, kilograms, holds
ask: how many bags does {N} need?
ask: how many bags are used up?
far: [find|state] the number of bags.
far: what stack of bags has {N} to carry in?
"""

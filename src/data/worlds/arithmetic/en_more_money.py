"""English wordings: scenes that go on from a sum of money."""

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
i_spend_x: [rent|fuel|a repair|new material] [costs|swallows|uses up] {i_spend_x} of it
i_spend_x: {N} [lays out|spends] {i_spend_x} on [new tools|material|repairs]
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

@d_more
d_more_x: [a reminder fee|the paperwork|insurance] [adds|costs] another {d_more_x}
d_more_x: {P} also [bills|charges] {d_more_x} for the [contract|file]
ask: how much does {N} owe {P} in all, that charge included?
ask: what must {N} pay back with the extra charge?
far: [find|state] the full debt, charges and interest included.
far: what clears {N}'s file at {P}, interest and charges paid?
"""

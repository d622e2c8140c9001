"""Chinese wordings: scenes that go on from goods, weights and volumes."""

from __future__ import annotations

TEXT = """
@n_lost
things: 余下的{base}
n_lost_x: {N}[送掉|弄丢|放到一边]{n_lost_x}{unit}{base}
n_lost_x: 有{n_lost_x}{unit}{base}[另作他用|被人拿走]
ask: 还剩多少{unit}{base}？
ask: {N}手上还有多少{unit}{base}？
far: [求|报出]{base}的余量。
far: {N}的存货只剩几{unit}？

@n_pack
things: 货
unit: 捆
n_pack_x: {N}把{things}每{n_pack_x}{unit}扎成一捆
n_pack_x: {n_pack_x}{unit}{base}打一捆
n_pack_x listing: {P}打捆规格：{n_pack_x}{unit}{base}一捆。
n_pack_x missing: 多少{unit}{base}打一捆
n_pack_x about: 一捆, 每捆, 打捆
ask: {N}能打成多少捆？
ask: 正好多少捆？
far: [求|给出]捆数。
far: 桌上会码起几捆？

@n_sell
n_sell_x: {things}[卖出|出手]，每{unit}{n_sell_x}
n_sell_x: [商贩|买家|{P}]收{things}，一{unit}给{n_sell_x}
n_sell_x listing: {P}收购{base}：每{unit}{n_sell_x}。
n_sell_x missing: 一{unit}{base}卖多少钱
n_sell_x about: 多少钱, 卖, 收购, 单价
ask: {things}一共卖了多少钱？
ask: {N}靠{things}得到多少钱？
far: [求|算]{things}的货款。
far: {things}成交，过手几何？

@n_share
n_share_n: {things}[平分给|均匀发给]{n_share_n}个[小组|班|货架]
n_share_n: {n_share_n}处各领同样多的{base}
ask: 每处得到多少{unit}{base}？
ask: 平均一份有多少{unit}{base}？
far: [求|说出]单份数量。
far: 其中之一领走几{unit}？

@n_part
things: 余下的{base}
n_part_p: {things}中有{n_part_p}[留给贵宾|扣下备用|单独存放]
n_part_p: {P}从{things}里留出{n_part_p}作储备
ask: 没留下的{base}有多少{unit}？
ask: 除去储备，还有多少{unit}{base}可用？
far: [求|报出]储备以外的数量。
far: 能自由动用几{unit}？

@n_more
things: {base}
n_more_x: {his}的{kin}又[带来|寄来]{n_more_x}{unit}{base}
n_more_x: 旧存的{n_more_x}{unit}{base}也[并了进来|算在一起]
ask: 现在有多少{unit}{base}？
ask: 加上添的，{N}有多少{unit}{base}？
far: [求|给出]{base}的新总数。
far: 清点完是几{unit}？

@g_price
g_price_x: 一千克[卖|值]{g_price_x}
g_price_x: {P}按每千克{g_price_x}[结算|出价]
g_price_x listing: {P}价格：每千克{g_price_x}。
g_price_x missing: 一千克多少钱
g_price_x about: 千克, 多少钱, 价格
ask: 这些一共值多少钱？
ask: 按重量算，总共多少钱？
far: [求|说出]全部重量的价值。
far: 买主该出几何？

@g_sack
things: 货物
unit: 袋
g_sack_x: 一袋[装|盛]{g_sack_x}千克
g_sack_x: {N}用{g_sack_x}千克的袋子装
g_sack_x listing: {P}袋装规格：{g_sack_x}千克一袋。
g_sack_x missing: 一袋装多少千克
g_sack_x about: 一袋, 每袋, 多少千克
ask: {N}装了多少袋？
ask: 一共需要多少袋？
far: [求|说出]袋数。
far: 最后立起几袋？

@g_waste
g_waste_p: [挑拣|去皮|晾晒]时总重损失{g_waste_p}
g_waste_p: [储存|分拣]中重量缩了{g_waste_p}
ask: 损耗之后剩多少千克？
ask: 还有多少千克能用？
far: [求|说出]净重（千克）。
far: 再过秤是几千克？

@g_more
g_more_x: {his}的{kin}又添{g_more_x}千克
g_more_x: [前几天的|地窖里的]{g_more_x}千克也放到一处
ask: 合在一起多少千克？
ask: 连添的那些，总共多少千克？
far: [求|说出]合重（千克）。
far: 全堆起来有几千克？

@g_part
things: 餐食
unit: 份
g_part_x: 按{g_part_x}克一份[分好|分装]
g_part_x: 每份[重|定为]{g_part_x}克
g_part_x listing: {P}分装：每份{g_part_x}克。
g_part_x missing: 一份是多少克
g_part_x about: 一份, 每份, 多少克
ask: 能分成多少份？
ask: {N}可以发出多少份？
far: [求|说出]份数。
far: 一人一份，能喂饱几口？

@l_fill
things: 鲜奶
unit: 瓶
l_fill_x: {N}灌进{l_fill_x}毫升的瓶子
l_fill_x: 一瓶[盛|装]{l_fill_x}毫升
l_fill_x listing: {P}瓶装规格：{l_fill_x}毫升一瓶。
l_fill_x missing: 一瓶装多少毫升
l_fill_x about: 一瓶, 瓶子, 多少毫升
ask: {N}灌满多少瓶？
ask: 全部装完要多少瓶？
far: [求|说出]瓶数。
far: 末了封口几瓶？

@l_price
l_price_x: 一升[值|要]{l_price_x}
l_price_x: 每升须付{l_price_x}
l_price_x listing: {P}：一升{l_price_x}。
l_price_x missing: 一升多少钱
l_price_x about: 一升, 每升, 多少钱
ask: 这些升数共值多少钱？
ask: 所有升数的价钱是多少？
far: [求|说出]折成的款额。
far: 所有升数的发票会写几何？

@l_use
l_use_x: 有{l_use_x}升[洒了|漏掉|倒进下水道]
l_use_x: {P}[留|扣]下{l_use_x}升[作清洗用|备用]
ask: 这时还剩多少升？
ask: {N}余下多少升？
far: [求|说出]剩余的升数。
far: 量尺显示几升？

@l_can
things: 鲜奶
unit: 桶
l_can_x: 用{l_can_x}升的提桶来[运|盛]
l_can_x: 一桶[装|提]{l_can_x}升
l_can_x listing: {P}提桶：每桶{l_can_x}升。
l_can_x missing: 一桶装多少升
l_can_x about: 一桶, 每桶, 多少升
ask: 能装多少桶？
ask: {N}要备多少只桶？
far: [求|说出]桶数。
far: 推车上放几桶？

@v_more
v_more_x: [漏水的管子|打翻一次|返工]又[耗掉|用去]{v_more_x}升
v_more_x: 另外白白流走{v_more_x}升
ask: 连这些，共用多少升？
ask: {N}总共记下多少升？
far: [求|说出]全部升数。
far: 末了耗去几升？

@v_can
things: 方桶
unit: 只
v_can_x: 用方桶[取|装]，每只{v_can_x}升
v_can_x: 一只方桶[盛|装]{v_can_x}升
v_can_x listing: {P}方桶：每只{v_can_x}升。
v_can_x missing: 一只方桶装多少升
v_can_x about: 方桶, 一只, 多少升
ask: 合多少只方桶？
ask: {N}把这些升数用完，要倒空多少只方桶？
far: [求|说出]方桶的只数。
far: 墙边会剩几只空方桶？

@w_more
w_more_x: 临走{N}又[搬上|加了]{w_more_x}千克的[机器|木箱|酒桶]
w_more_x: 另有{w_more_x}千克[工具|邮件|冰块]装上
ask: 现在这车重多少千克？
ask: 加了以后，车上共多少千克？
far: [求|说出]最终重量（千克）。
far: 车轴压着几千克？

@w_toll
w_toll_x: 运费一千克{w_toll_x}
w_toll_x: {P}运货按每千克{w_toll_x}[收|算]
w_toll_x listing: {P}运价：每千克{w_toll_x}。
w_toll_x missing: 运一千克多少钱
w_toll_x about: 运费, 千克, 多少钱
ask: 把这些千克都运走要多少钱？
ask: 整批货的运费是多少？
far: [求|说出]应收的运费。
far: 寄件人会收到几何的账单？

@w_lift
w_lift_x: 吊机一次[吊|提]{w_lift_x}千克
w_lift_x: 到站后小车每趟拉{w_lift_x}千克
w_lift_x listing: {P}起重设备：每次{w_lift_x}千克。
w_lift_x missing: 一次能运多少千克
w_lift_x about: 一次, 每次, 每趟, 多少千克
ask: 把货全部搬完要多少趟？
ask: 搬空这批货需要多少次？
far: [求|说出]趟数。
far: 来回几趟地上才清空？

@u_spare
u_spare_x: {N}想[多备|添]{u_spare_x}{unit}{base}
u_spare_x: 预留的{base}要{u_spare_x}{unit}
ask: 连备用的，共要多少{unit}{base}？
ask: 加上预留，{N}需要多少{unit}{base}？
far: [求|说出]{base}的总需求。
far: 备货也算，订单上写几{unit}？

@u_have
u_have_x: 抽屉里[翻出|找到]{u_have_x}{unit}{base}，这些不用再弄
u_have_x: {his}的{kin}给了{u_have_x}{unit}{base}，可以少备这些
ask: {N}还需要多少{unit}{base}？
ask: 除去现成的，还要多少{unit}{base}？
far: [求|说出]{base}的缺额。
far: 清单上还欠几{unit}？

@u_box
things: 盒子
unit: 盒
u_box_x: 一盒[有|装]{u_box_x}{unit}
u_box_x: {base}按盒供应，每盒{u_box_x}{unit}
u_box_x listing: 供给{P}的{base}：每盒{u_box_x}{unit}。
u_box_x missing: 一盒有多少{unit}{base}
u_box_x about: 一盒, 每盒
ask: {N}需要多少盒？
ask: 合多少整盒？
far: [求|说出]盒数。
far: 会送来几盒？

@u_each
u_each_x: 一{unit}{base}[要|卖]{u_each_x}
u_each_x: 商家每{unit}收{u_each_x}
u_each_x listing: {P}进{base}：每{unit}{u_each_x}。
u_each_x missing: 一{unit}{base}多少钱
u_each_x about: 多少钱, 单价, {base}
ask: 这些{base}共多少钱？
ask: {N}为{base}付多少钱？
far: [求|说出]花费。
far: 整张订单几何？

@u_price
u_price_x: 一盒{u_price_x}
u_price_x: 每盒{N}付{u_price_x}
u_price_x listing: {P}进货：一盒{u_price_x}。
u_price_x missing: 一盒多少钱
u_price_x about: 一盒, 每盒, 多少钱
ask: 所有盒子共多少钱？
ask: {N}买这些盒要付多少钱？
far: [求|说出]盒子的账款。
far: 货到须付几何？

@v_price
v_price_x: 一升要{N}掏{v_price_x}
v_price_x: [供应商|店家]每升收{v_price_x}
v_price_x listing: {P}付的价：一升{v_price_x}。
v_price_x missing: 一升多少钱
v_price_x about: 一升, 每升, 多少钱
ask: 这些升数共花多少钱？
ask: {N}要为这些升数付多少钱？
far: [求|说出]全部用量的开销。
far: 供应商的账单合计几何？

@y_more
y_more_x: [试做|备用|打翻]又[用去|占了]{y_more_x}千克
y_more_x: [隔壁厨房|晚到的订单]还要{y_more_x}千克
ask: 一共需要多少千克？
ask: 连额外的，共多少千克？
far: [求|说出]全部用量（千克）。
far: 把额外的也算上，得取几千克？

@y_have
y_have_x: [地窖|架子]上还有{y_have_x}千克，这些不用买
y_have_x: {his}的{kin}白送{y_have_x}千克
ask: {N}还得买多少千克？
ask: 除去这些，还要多少千克？
far: [求|说出]缺的重量（千克）。
far: 采购单上还剩几千克？

@y_price
y_price_x: [供货商|磨坊|批发商]一千克要{y_price_x}
y_price_x: {N}按每千克{y_price_x}买进
y_price_x listing: {P}进价：每千克{y_price_x}。
y_price_x missing: 一千克多少钱
y_price_x about: 千克, 多少钱, 进价
ask: {N}买这些要付多少钱？
ask: {P}为这些千克花多少钱？
far: [求|说出]供货单上的款额。
far: {N}该交给供货商几何？

@y_bag
things: 料包
unit: 包
y_bag_x: 按包卖，一包{y_bag_x}千克
y_bag_x: 每包[重|装]{y_bag_x}千克
y_bag_x listing: 送往{P}的货：每包{y_bag_x}千克。
y_bag_x missing: 一包有多少千克
y_bag_x about: 一包, 每包, 多少千克
ask: {N}需要多少包？
ask: 一共用掉多少包？
far: [求|说出]包数。
far: {N}要扛进来几包？
"""

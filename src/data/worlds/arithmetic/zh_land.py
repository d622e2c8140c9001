"""Chinese wordings: farms and roads."""

from __future__ import annotations

TEXT = """
@harvest
places: 果园, 果场, 庄园, 林场
nouns: fruit=fruit
open: {N}在{P}[摘|采收]{fruit}
open: {when}，{P}的{fruit}[熟透了|压弯枝头]，{N}[带队采摘|扛来梯子]
rows: 园子里[种了|有]{rows}行
rows: 坡上[排着|栽着]{rows}行果树
trees: 每行{trees}棵
trees: 一行[栽|数得]{trees}棵树
trees listing: {P}每行树数：{trees}棵。
trees missing: 每行有多少棵树
trees about: 每行, 一行, 多少棵
yield_: 一棵[结|收]{yield_}千克
yield_: {N}从每棵树上[打下|得到]{yield_}千克
yield_ listing: {P}的{fruit}树单株产量：{yield_}千克。
yield_ missing: 一棵树结多少千克
yield_ about: 一棵, 每棵, 多少千克
ask: {N}在{P}收了多少千克？
ask: 所有行加起来，{fruit}共多少千克？
far: [求|估准]这季收成（千克）。
far: 仓房的磅秤会报出几千克？

@fence
places: 马场, 鹿苑, 葡萄园, 育苗场, 鸟类保护区
open: {N}给{P}的草地[围栏|扎篱笆]
open: 因为[鹿|山羊|野兔]总闯进来，{N}为{P}[修|筹划]一圈围栏
long+wide: 那块地长{long}米、宽{wide}米
long+wide: 图上是{long}米乘{wide}米的长方形
price: 围栏[每米|一米]{price}
price: {N}买一米围栏要付{price}
price listing: {P}采购围栏：每米{price}。
price missing: 围栏一米多少钱
price about: 一米, 每米, 多少钱, 围栏
ask: 绕一整圈，{P}的围栏要花多少钱？
ask: {N}把这块地全围起来得付多少？
far: [求|算]封住每一边的造价。
far: {P}该为材料留出多少款子？

@milk
order: fixed
places: 奶牛场, 高山牧场, 山羊牧场, 农校
open: {N}在{P}[挤奶|照料畜群]
open: {when}，{N}[提着奶桶|早起]到{P}挤奶
cows: 栏里[站着|有]{cows}头
cows: 这群牲口[共|数下来]{cows}头
each: 每头一天[产|出]{each}升
each: 单头日产奶{each}升
each listing: {P}每头日产奶：{each}升。
each missing: 每头一天产多少升奶
each about: 每头, 一天, 多少升
cheese: {cheese}升[送去做奶酪|留给酪坊]
cheese: {N}[留下|取出]{cheese}升做酸奶
ask: {P}当天的奶还剩多少升？
ask: 那天{N}能[送往乳品厂|当鲜奶卖]多少升？
far: [求|报出]奶罐车里的升数。
far: 有几升奶离开{P}？

@hives
places: 蜂场, 养蜂园, 修道院, 荒原农庄
open: {N}在{P}[养蜂|取蜜]
open: {when}，{P}的蜜蜂[忙完花期|采罢椴树花]，{N}[割蜜|摇蜜]
hives: [篱边|椴树下]摆着{hives}箱蜂
hives: 蜂箱[共|有]{hives}只
frames: 每箱[挂|有]{frames}张巢脾
frames: {N}从一箱里[提出|抽出]{frames}张脾
frames listing: {P}每箱巢脾：{frames}张。
frames missing: 每箱有多少张巢脾
frames about: 每箱, 巢脾, 多少张
grams: 一张脾[出|摇得]{grams}克蜜
grams: 每张巢脾能得{grams}克
grams listing: {P}单张巢脾产蜜：{grams}克。
grams missing: 一张巢脾出多少克蜜
grams about: 一张, 巢脾, 多少克
ask: {N}在{P}一共取得多少千克蜂蜜？
ask: 所有蜂箱共出蜜多少千克？
far: [求|给出]蜂蜜净重（千克）。
far: {N}的桶里这一季盛了几千克？

@seeds
order: fixed
places: 种子场, 园艺中心, 校园菜圃, 药草园
nouns: item=flower
things: {item}
unit: {item_m}
open: {N}在{P}[播种|育]{item}
open: {when}，{P}在棚里[培育|栽种]{item}，{N}[撒种|装育苗盘]
packets: {he}[撕开|倒空]{packets}包种子
packets: 下土的种子[用了|共]{packets}包
per: 一包[装|有]{per}粒
per: 每包里[数得|是]{per}粒种子
per listing: {P}{item}种子：每包{per}粒。
per missing: 一包有多少粒种子
per about: 一包, 每包, 多少粒
rate: [最后|没多久]{rate}的种子[发了芽|出了苗]
rate: 出苗率[达到|是]{rate}
ask: {N}在{P}得到多少{item_m}{item}？
ask: {N}撒的种子长出多少{item_m}{item}？
far: [求|数出]苗床上的棵数。
far: {P}能移栽几{item_m}？

@legs
order: fixed
places: 城际铁路, 长途客运, 山谷线, 跨省大巴
open: {N}坐{P}[出远门|去看{his}的{kin}]
open: {when}，{N}搭{P}[横穿全省|长途旅行]
v1: 慢车[时速|每小时走]{v1}千米
v1: {v1}千米是慢车一小时的路程
v1 listing: {P}慢车时速：{v1}千米。
v1 missing: 慢车每小时走多少千米
v1 about: 慢车, 时速, 每小时
h1: {he}在慢车上[坐了|待了]{h1}小时
h1: 头一段乘慢车，[花去|历时]{h1}小时
v2: 快车每小时[跑|行]{v2}千米
v2: 换乘的快车时速{v2}千米
v2 listing: {P}快车时速：{v2}千米。
v2 missing: 快车每小时走多少千米
v2 about: 快车, 时速, 每小时
h2: 快车上[又过了|还要]{h2}小时
h2: 后一段快车[开了|坐了]{h2}个钟头
ask: {N}乘{P}一共走了多少千米？
ask: {N}的旅程全长多少千米？
far: [求|加出]从家门到终点的里程。
far: 下车时，{N}身后已有几千米铁轨公路？

@trips
places: 快递站, 校车队, 送奶队, 配送公司, 邮路
open: {N}为{P}开{vehicle}
open: {when}，{N}[接手|开始跑]{P}的固定线路
route: 一圈[是|长]{route}千米
route: 环线[全程|一趟]{route}千米
route listing: {P}标准线路：{route}千米一圈。
route missing: 一圈是多少千米
route about: 一圈, 多少千米, 线路
trips: {he}每天[跑|转]{trips}圈
trips: 一天的任务是{trips}圈
days: 这阵子{N}[出车|跑了]{days}天
days: {days}天后{he}[交钥匙|轮休]
ask: {N}这段时间给{P}跑了多少千米？
ask: {N}总共行驶多少千米？
far: [求|说出]里程表的增数。
far: 行车日志要记几千米？

@fuel
places: 租车行, 货运公司, 出租车队, 搬家公司
open: {N}开{P}的{vehicle}[去海边|翻山|赶展会]
open: {P}借给{N}一辆{vehicle}，[跑长途|搬家用]
km: 全程{km}千米
km: {N}这一路[开了|要走]{km}千米
use: 这车百公里[烧|耗]油{use}升
use: 每百公里，{vehicle}要喝{use}升油
use listing: {P}{vehicle}：百公里油耗{use}升。
use missing: 这车百公里耗油多少升
use about: 百公里, 油耗, 耗油
price: 油价[每升|一升]{price}
price: 加油站[卖|标]{price}一升
price listing: {P}场内加油：每升{price}。
price missing: 一升油多少钱
price about: 一升, 油价, 多少钱
ask: {N}这趟要付多少油钱？
ask: 路上的油花了{N}多少钱？
far: [求|算出]加油账单。
far: 整条路“喝”掉几块钱的油？

@parcels
order: fixed
places: 货运站, 邮件处理所, 航空货站, 搬运公司
open: {N}在{P}给{vehicle}装货
open: {when}，{N}在{P}[过磅|码货]
parcels: [清单|货单]列了{parcels}件包裹
parcels: {parcels}件包裹[上了车|堆好了]
each: 一件[重|有]{each}千克
each: {N}记下每件{each}千克
each listing: {P}标准包裹：每件{each}千克。
each missing: 一件包裹重多少千克
each about: 一件, 每件, 包裹, 多少千克
pallet: 垫底的托盘[重|有]{pallet}千克
pallet: 托架本身{pallet}千克
ask: 连托盘，{P}这车货重多少千克？
ask: {N}装上去的总共多少千克，托盘在内？
far: [求|报出]地磅上的读数（千克）。
far: 底板要承住几千克？

@ferry
places: 轮渡, 水上巴士, 岛际航线, 港口渡船
things: 乘客
unit: 名
open: {N}在{P}[卖票|解缆绳]
open: {when}，{P}[送游客|载登山客][过河|渡湖|过海湾]，{N}[计数|帮忙]
boats: [下水|当班]的有{boats}条船
boats: 船队[派出|共]{boats}条
seats: 一条船[载|坐]{seats}人
seats: 每船[设|有]{seats}个座位
seats listing: {P}每船座位：{seats}个。
seats missing: 一条船坐多少人
seats about: 一条船, 每船, 多少人, 座位
crossings: 各船都[开了|跑]{crossings}个满员航次
crossings: 每条船满载过渡{crossings}次
ask: {P}当天运了多少人？
ask: 座无虚席的话，{N}数到多少名乘客？
far: [求|上报]当日客流。
far: 码头闸机显示几人次？
"""

"""Chinese wordings: shops, stalls, shows, pay."""

from __future__ import annotations

TEXT = """
@crates
order: fixed
places: 饮品仓库, 杂货铺, 货栈, 百货行, 进口商行
nouns: item=bottled
things: {item}
unit: {item_m}
open: {when}，{N}在{P}[验收一批{item}|签收新到的{item}|忙着卸货，车上全是{item}]
open: 一[车|船]{item}运抵{P}，[管库的是|由]{N}[清点|登记入账|]
crates: [工人搬下|车上卸下|共卸]{crates}箱
crates: [司机|承运人]送来了{crates}[大|]箱
per: 每箱[装|码着|放了]{per}{item_m}
per: 一[个|只]箱子里有{per}{item_m}{item}
per listing: {P}的{item}按每箱{per}{item_m}包装。
per listing: {item}装箱规格：{per}{item_m}一箱。
per missing: 每箱装多少{item_m}{item}
per about: 每箱, 一箱, 箱子, 装多少
broken: [可惜|路上颠簸，|途中]碎了{broken}{item_m}
broken: {N}[挑出|报废了|扔掉]{broken}{item_m}[破损的|坏的]
ask: {P}还剩多少{item_m}完好的{item}？
ask: {N}能把多少{item_m}{item}[摆上货架|记作好货]？
far: [算出|写出]经{N}验过、仍能出售的件数。
far: {P}的存货账上该添几{item_m}好的？

@stall
order: fixed
places: 周末集市, 夜市, 手工市集, 码头市场, 步行街
nouns: item=ware
open: {N}在{P}[租了个摊位|支起小摊|摆了张桌子]，[卖|专卖]{item}
open: 靠着自己做的{item}，{N}在{P}[挣点零花|养家糊口]
daily: {he}[一天|每天|日均]能卖{daily}{item_m}
daily: [游客|路人|街坊]每天买走{daily}{item_m}{item}
days: 这个摊[连开|一共摆]{days}天
days: {N}[守了|坚持出摊]{days}天
price: [一|每]{item_m}{item}[卖|要价|标价]{price}
price: 顾客买一{item_m}要[付|掏]{price}
price listing: {P}上{N}的{item}：{price}一{item_m}。
price listing: {item}在{P}的售价为每{item_m}{price}。
price missing: 一{item_m}{item}卖多少钱
price about: 多少钱, 价格, 售价, 单价, {item}
ask: {N}在{P}[总共收入|一共卖得]多少钱？
ask: 这些{item}给{N}带来多少[钱|收入]？
far: [求|算一算]这个摊子的营业额。
far: 收摊那天，{N}的钱匣里该有多少进账？

@sale
order: fixed
places: 折扣店, 百货大楼, 家居馆, 清仓卖场, 商场
nouns: item=cloth
open: {when}，{N}[去{P}购物|到{P}淘便宜货|逛进了{P}]
open: {N}[想添|受人之托要买]几{item_m}{item}，便[去了|走进]{P}
many: {he}[挑了|往篮里放了|看中]{many}{item_m}{item}
many: [拿去结账的|购物车里]有{many}{item_m}{item}
price: {item}的[原价|标价]是一{item_m}{price}
price: [吊牌|价签]上写着每{item_m}{price}
price listing: {P}：{item}原价{price}一{item_m}。
price listing: {item}，未打折时每{item_m}{price}。
price missing: 一{item_m}{item}原价多少钱
price about: 原价, 多少钱, 价格, {item}
off: [今天|本周]全场[降价|让利]{off}
off: 结账时[店家|收银员]按标价减去{off}
ask: {N}在{P}买这些{item}要付多少钱？
ask: 降价以后，{N}的账单是多少？
far: [说出|求]{N}递给收银员的数目。
far: 小票最下面一行会印上什么金额？

@rental
order: fixed
places: 租赁行, 户外用品店, 器材仓, 设备站, 体育用品租借处
nouns: item=gear
open: {N}向{P}租了一{item_m}{item}
open: 为了[家庭出游|社团活动|私人工程]，{N}从{P}借来一{item_m}{item}，按天付钱
d1+d2: {he}{m}{d1}日取走，当天不计费，{next_m}{d2}日[归还|送回]
d1+d2: [单据|合同]写明{m}{d1}日提货（免费）、{next_m}{d2}日交还
fee: 租金[每天|一天]{fee}
fee: {P}[收|要]{fee}一天
fee listing: {P}出租{item}：每天{fee}。
fee listing: {item}日租金{fee}（{P}）。
fee missing: {item}租一天多少钱
fee about: 一天, 每天, 租金, 日租
ask: {N}该付{P}多少租金？
ask: 这{item_m}{item}从取到还让{N}花了多少钱？
far: [替{N}算|写]出整个租期的开销。
far: {P}开出的账单是多少？

@hire
order: fixed
places: 单车驿站, 船坞, 录音棚, 共享车行, 卡丁车场
nouns: item=gear
open: {N}在{P}[预订|订下]一{item_m}{item}，[下午用|出游用|排练用|修院子用]
open: {when}，{N}找到{P}，[想要|需要]一{item_m}{item}
base: [起步|手续]费[固定|一律]{base}
base: 不管用多久，先交{base}
hourly: [每小时另收|按时计费，一小时]{hourly}
hourly: 用一个钟头要{hourly}
hourly listing: {P}的{item}每小时{hourly}。
hourly listing: 计时收费：一小时{hourly}。
hourly missing: 用一小时多少钱
hourly about: 小时, 一小时, 计时
hours: {he}[用了|借了]{hours}小时
hours: 过了{hours}个钟头，{N}才[送还|交回]
ask: {N}为这{item_m}{item}一共要付{P}多少钱？
ask: {N}用{item}的{hours}小时总共收费多少？
far: [求|报出]归还时应结的款项。
far: 各项费用都算进来，这趟要花去多少？

@tickets
order: fixed
places: 露天剧场, 动物园, 马戏团, 木偶剧院, 水上乐园, 小火车乐园
open: {when}，{P}[人头攒动|热闹非凡|游客盈门]，{N}[守着大门|坐在售票台]
open: {N}在{P}门口[卖票|检票收钱]
adults: [进门的|入场的]成年人有{adults}位
adults: {he}数到{adults}个大人
pa: 成人票[每张|一张]{pa}
pa: 大人[一位收|每人]{pa}
pa listing: {P}成人票：{pa}。
pa listing: 成年人进{P}需购{pa}的票。
pa missing: 成人票多少钱一张
pa about: 成人, 大人, 票价, 多少钱
kids: [孩子|小朋友][来了|有]{kids}个
kids: 队伍里[还站着|夹着]{kids}名儿童
pk: 儿童票{pk}一张
pk: 小孩子只[收|要]{pk}
pk listing: {P}儿童票：{pk}。
pk listing: 儿童进{P}只需{pk}。
pk missing: 儿童票多少钱一张
pk about: 儿童, 孩子, 小孩, 票价, 多少钱
ask: {N}从大人、孩子那里[总共收到|收来]多少钱？
ask: {P}当天的门票收入是多少？
far: [求|核算]票房。
far: 关门时{N}的抽屉里该躺着多少现金？

@hotel
order: fixed
places: 客栈, 旅馆, 海滨酒店, 山庄, 青年旅舍
open: {N}与朋友结伴旅行，[住进|下榻]{P}
open: {P}接到{N}的预订，[来的是一家人|一行人同住]
nights: 他们[住|待]{nights}晚
nights: 订单[包含|写着]{nights}个夜晚
room: [大|家庭]房一晚{room}
room: {P}的房间每夜[收|要]{room}
room listing: {P}家庭房：每晚{room}。
room listing: 住{P}的大房，一夜{room}。
room missing: 房间一晚多少钱
room about: 一晚, 房间, 每晚, 房费
guests: 这一行[有|共]{guests}位客人
guests: 早晨来吃早餐的有{guests}人
meal: 早餐按人按夜算，一份{meal}
meal: 每住一夜，每人要付早餐{meal}
ask: {N}一行在{P}的总账是多少？
ask: 房费连早餐，{N}他们共花多少？
far: [求|告诉我]退房时前台要收的款。
far: 这趟食宿合计几何？

@theatre
order: fixed
places: 话剧院, 音乐厅, 电影院, 歌剧院, 报告厅
things: 观众
unit: 名
open: {when}，{P}[上演新戏|举行首演|办晚会]，{N}[在门口|任领座员]
open: {N}在{P}[负责引座|照看座位]
rows: 厅里[排了|设有]{rows}排
rows: 舞台对面是{rows}排座椅
seats: 每排{seats}座
seats: 一排[坐得下|可坐]{seats}人
seats listing: {P}每排座位：{seats}个。
seats listing: {P}建成时一排设{seats}座。
seats missing: 每排有多少个座位
seats about: 每排, 一排, 座位
empty: [当晚|今夜]空着{empty}个位子
empty: {N}[数出|上报]{empty}个空位
ask: {P}这场有多少观众？
ask: 照{N}的清点，多少座位坐了人？
far: [求|写出]到场人数。
far: {N}该在日志里记下几名看客？

@wages
order: fixed
places: 罐头厂, 苗圃, 洗车行, 客服中心, 包装车间, 洗衣房
open: {N}在{P}找了份[暑期工|兼职|临时差事]
open: {when}，{P}[招了|雇下]{N}当[帮手|助理|短工]
rate: [干|做]一小时[给|得]{rate}
rate: 时薪[是|为|定在]{rate}
rate listing: {P}临时工时薪：{rate}。
rate listing: 在{P}帮工，每小时发{rate}。
rate missing: 这份工一小时给多少钱
rate about: 小时, 时薪, 工钱
hours: 一个班[要上|长]{hours}小时
hours: {he}每天[干|忙]{hours}个钟头
days: {he}[去了|上岗]{days}天
days: [排班表|合同]上列了{days}个工作日
ask: {N}在{P}[总共挣|一共赚]多少钱？
ask: {N}这些班[能拿|该领]多少工钱？
far: [求|算]打进{N}账户的薪水。
far: 差事结束，会计要递给{N}多少？

@overtime
order: fixed
places: 铸造厂, 船厂, 灌装厂, 锯木厂, 邮件中心
open: {N}在{P}当{job}，[活儿不轻|差事稳定]
open: 这一周{N}在{P}[加了班|上了几个晚班]
rate: 平时[一小时|每个钟头]{rate}
rate: {his}的基本时薪[是|为]{rate}
rate listing: {P}基本工资：每小时{rate}。
rate listing: 平常一小时，{P}发{rate}。
rate missing: 平时一小时多少工钱
rate about: 小时, 时薪, 平时, 基本
hours: 正常[上了|工时为]{hours}小时
hours: {hours}个钟头[算|记作]常规工时
over: 另有{over}小时[是加班|属于加点]
over: 加班[记了|共]{over}个钟头
plus: 加班时每小时[多给|再添]{plus}
plus: 晚班的钟点{P}[加|补]{plus}
ask: 连加班在内，{N}这周挣多少钱？
ask: {N}本周在{P}的工资是多少？
far: [求|写出]{N}工资条上的数字。
far: 发薪员该给{N}转去多少？

@shares
order: fixed
places: 合伙商号, 贸易行, 合作社, 联营公司, 渔业公司
open: {N}同{N2}[合开|共有]{P}
open: {P}[归|属于]{N}、{N2}共同所有
profit: [今年|本季|这一季]盈利{profit}
profit: 账上有{profit}的利润[等着分|待分配]
mine: {N}[占|拿]其中{mine}份
mine: 归{N}的是{mine}份
mine listing: {P}利润份额：{N}占{mine}份。
mine missing: {N}占几份利润
mine about: 几份, 份额, {N}
theirs: {N2}[得|占]{theirs}份
theirs: {theirs}份[划给|属]{N2}
theirs listing: {P}利润份额：{N2}占{theirs}份。
theirs missing: {N2}占几份利润
theirs about: 几份, 份额, {N2}
ask: {N}能分到多少利润？
ask: {P}的利润里，{N}那一份是多少钱？
far: [求|说出]分账后进{N}口袋的数目。
far: 银行该给{N}记入多少？

@loan
order: fixed
places: 信用社, 储蓄所, 贷款行, 村镇银行
open: {N}向{P}借钱，[买辆{vehicle}|翻修屋顶|开间作坊]
open: 为了[交学费|做小本生意]，{N}从{P}贷款
sum_: [本金|借款]是{sum_}
sum_: {he}[到手|借得]{sum_}
pct: 单利，年息{pct}
pct: 每年按本金的{pct}计利息
pct listing: {P}贷款年利率：{pct}，单利。
pct listing: 向{P}借款，每年付本金{pct}的利息。
pct missing: 年利率是多少
pct about: 利率, 年息, 利息
years: [借期|合同期]{years}年
years: {he}打算{years}年后一次还清
ask: 连本带息，{N}最后要还{P}多少钱？
ask: 到期时{N}共欠{P}多少，利息在内？
far: [求|算出]本息合计。
far: {N}要汇出哪个数目才能连本带利了结此债？
"""

"""Chinese wordings: schools, homes, sport."""

from __future__ import annotations

TEXT = """
@book
order: fixed
places: 读书会, 市图书馆, 书友社, 夜校
things: 书页
unit: 页
open: {N}[在读|迷上了]{P}的一本[长篇|厚书]
open: {P}[借给|推荐给]{N}一本[侦探小说|传记|游记]
pages: 全书{pages}页
pages: 这本书[厚|有]{pages}页
pages listing: {P}本月图书：{pages}页。
pages missing: 这本书有多少页
pages about: 多少页, 全书, 这本书
daily: {he}每天[读|翻]{daily}页
daily: {N}给自己定下一天{daily}页
daily listing: {P}阅读计划：每天{daily}页。
daily missing: {N}每天读多少页
daily about: 每天, 一天, 多少页
days: [到现在|至今]过去了{days}天
days: {he}已这样读了{days}天
ask: {N}还有多少页没读？
ask: 这本书{N}还剩多少页？
far: [求|告诉{N}]未读的部分有多长（页）。
far: 离结局还隔着几页？

@fines
order: fixed
places: 市立图书馆, 校图书馆, 音乐图书馆, 地图档案馆
open: {N}忘了[按时|及时]把书还给{P}
open: {P}给{N}发来催还[通知|短信]
due+back: 书本该{month}{due}日还，{he}{month}{back}日才送来
due+back: [借书单|印章]写的是{month}{due}日，{N}到{month}{back}日才露面
books: [拖欠的|包里]有{books}本
books: 一共是{books}本书
fine: 每本逾期一天[罚|收]{fine}
fine: {P}规定一本书晚一天交{fine}
fine listing: {P}逾期费：每本每天{fine}。
fine missing: 每本书逾期一天罚多少钱
fine about: 逾期, 一天, 罚, 多少钱
ask: {N}该付{P}多少罚款？
ask: 这些书逾期，{N}要交多少钱？
far: [求|算清]{N}要了结的罚金。
far: 柜台后的管理员会开口要几何？

@classes
order: fixed
places: 小学, 中学, 乡村学校, 实验学校
things: 学生
unit: 名
open: {P}[组织郊游|去看博物馆|办远足]，{N}[列名单|张罗一切]
open: {when}，{N}在{P}[点人数|筹备运动会]
classes: [参加|出发]的有{classes}个班
classes: 活动面向{classes}个班级
size: 每班{size}名学生
size: 一个班里[坐着|是]{size}人
size listing: {P}班额：每班{size}人。
size missing: 每班有多少名学生
size about: 每班, 一个班, 多少
ill: [病了|感冒在家]的有{ill}人
ill: {N}得知{ill}名学生[来不了|请假]
ask: {P}有多少名学生参加？
ask: 那天早上{N}点到多少名学生？
far: [求|报出]校门口的实到数。
far: 真正上路的孩子有几名？

@quiz
order: fixed
places: 棋院, 智力社, 语言学校, 数学小组
open: {N}在{P}[参加考试|做测验]
open: {when}，{P}办[比赛|知识竞答]，{N}[报了名|去试试]
right: {he}答对{right}题
right: [正确的|对的]有{right}道
plus: 答对一题[得|记]{plus}分
plus: 每道对题值{plus}分
plus listing: {P}计分：答对一题{plus}分。
plus missing: 答对一题得几分
plus about: 答对, 对题, 几分
wrong: 答错{wrong}题
wrong: {N}[失手|弄错]了{wrong}道
minus: 错一题[扣|倒扣]{minus}分
minus: 每道错题要减{minus}分
ask: {N}在{P}最后得多少分？
ask: 扣掉错题，{N}的总分是多少？
far: [求|写出]证书上的成绩。
far: 榜上{N}的名字旁写着几分？

@ages
order: fixed
places: 老宅, 小院, 别墅, 农家
open: {N}跟姐姐{N2}、妈妈一起住在{P}
open: {P}里[长大|住着]的孩子中{N}最小，上头有姐姐{N2}和妈妈照应
age: {N}今年{age}岁
age: {his}上次生日点了{age}根蜡烛
gap: {N2}比{N}大{gap}岁
gap: {N}、{N2}之间差{gap}岁，{N2}居长
gap listing: {P}记事：{N2}早{N}{gap}年出生。
gap missing: {N2}比{N}大几岁
gap about: 大几岁, 岁数, {N2}
times: 妈妈的年纪是{N2}的{times}倍
times: {N2}的岁数乘{times}就是妈妈的岁数
years: [全家约好|大家盼着]{years}年后[搬家|环海旅行]
years: 再过{years}年要办一场[寿宴|团圆宴]
ask: 到那时妈妈多少岁？
ask: {N}、{N2}的妈妈那一年多大年纪？
far: [求|算]那天蛋糕上妈妈该插的蜡烛数。
far: 届时妈妈高寿几何？

@savings
order: fixed
places: 少年银行, 存钱社, 储蓄互助会, 校园银行
open: {N}在{P}攒钱，想买[吉他|自行车|相机|船票]
open: 为了[买望远镜|去看海]，{N}在{P}开了户头
had: [起初|开户时]有{had}
had: 账上[原有|先存了]{had}
weekly: 每周[存进|添]{weekly}
weekly: {N}一周往里放{weekly}
weekly listing: {P}{N}的定存：每周{weekly}。
weekly missing: {N}每周存多少钱
weekly about: 每周, 一周, 存多少
weeks: {he}[坚持|照此]存了{weeks}周
weeks: 就这样[过去|满]{weeks}个星期
ask: {N}在{P}共有多少钱？
ask: 到那时{N}一共攒下多少？
far: [求|查]户头余额。
far: {N}能取出几何？

@plan
order: fixed
places: 电信公司, 健身房, 宽带公司, 有线电视台, 琴行
open: {N}跟{P}[签了|订下]合同
open: {when}，{N}[成为{P}的客户|加入{P}当会员]
fee: 月费[是|为]{fee}
fee: 每个月[交|扣]{fee}
fee listing: {P}月费：{fee}。
fee missing: 每月收多少钱
fee about: 每月, 月费, 多少钱
months: 合同[期|为期]{months}个月
months: {he}一共[用了|待了]{months}个月
setup: [入会|开通]另收一次性的{setup}
setup: 头一回要交{setup}的[开户|安装]费
ask: 整个合同期{N}要付{P}多少钱？
ask: {N}在{P}前后共花多少？
far: [求|加总]从{N}账户划走的所有款项。
far: 这纸协议总价几何？

@village
order: fixed
places: 村, 镇, 海岛社区, 新居民点
things: 居民
unit: 名
open: {N}掌管{P}的[户籍册|登记簿]
open: {when}，{P}[清点人口|做普查]，{N}[挨家敲门|填表格]
last: 一年前住着{last}人
last: 去年的[名册|统计]是{last}人
last listing: {P}上次登记人数：{last}人。
last missing: 一年前有多少人
last about: 一年前, 去年, 多少人
pct: [新生儿|迁入者]使人数增加了{pct}
pct: 出生加迁入，涨了{pct}
moved: 有{moved}人迁走
moved: {N}划掉了{moved}个离开的名字
ask: {P}现在有多少人？
ask: 如今{N}的名册上有多少人？
far: [求|给出]目前的人口。
far: 今年的报告该填几人？

@album
places: 收藏社, 集邮会, 手账圈, 爱好者俱乐部
nouns: item=sticker
things: {item}
unit: {item_m}
open: {N}用{item}填{P}的收藏册
open: {N}[痴迷|收集]{item}，从{P}[买来|领到]一本册子
leaves: 册子[共|有]{leaves}页
leaves: {leaves}页[空着|装订在内]
per: 每页[放|贴]{per}{item_m}
per: 一页容得下{per}{item_m}{item}
per listing: {P}收藏册：每页{per}{item_m}。
per missing: 每页能放多少{item_m}
per about: 每页, 一页, 能放
have: {N}[已有|攒了]{have}{item_m}
have: 里面[已贴好|放着]{have}{item_m}{item}
ask: 要填满册子，{N}还缺多少{item_m}{item}？
ask: {N}的册子里还差多少{item_m}？
far: [求|数]剩下的空位。
far: {N}尚需搜罗几{item_m}？

@laps
places: 田径队, 跑步学校, 冰场, 自行车队
open: {N}在{P}[训练|练体能]
open: {when}，{N}按{P}的计划[备赛|锻炼]
laps: 每天[跑|完成]{laps}圈
laps: {he}一日的量是{laps}圈
track: 一圈{track}米
track: 场地一周[长|是]{track}米
track listing: {P}场地：一圈{track}米。
track missing: 一圈是多少米
track about: 一圈, 多少米, 场地
days: {N}[练了|坚持]{days}天
days: 满{days}天后{he}[休息|去见教练]
ask: {N}在{P}一共跑了多少千米？
ask: 这样{N}总计多少千米？
far: [求|给出]训练里程（千米）。
far: 日记里会写几千米？

@run
places: 慈善跑, 公益徒步, 义跑会, 滨海跑
open: {N}[筹办|协助]{P}
open: {when}，{P}[开跑|吸引许多人]，{N}[发号码布|记成绩]
runners: [起跑|报名]的有{runners}人
runners: 跑者[共|到场]{runners}名
km: 每人跑{km}千米
km: 赛道对谁都是{km}千米
km listing: {P}赛道：{km}千米。
km missing: 每人跑多少千米
km about: 每人, 多少千米, 赛道
pledge: 赞助方为每千米[捐|出]{pledge}
pledge: 跑一千米，赞助人就给{pledge}
pledge listing: {P}赞助：每千米{pledge}。
pledge missing: 每千米捐多少钱
pledge about: 每千米, 一千米, 捐, 多少钱
ask: {P}一共筹到多少钱？
ask: 所有跑者合起来带来多少捐款？
far: [求|宣布]善款总额。
far: {N}能在大支票上写哪个数？
"""

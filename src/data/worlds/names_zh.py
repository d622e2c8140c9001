"""中文世界的名字：人物、城镇、作品、公司、活动。All invented; a clash with a real name is chance."""

from __future__ import annotations

from .names import FreshNames

SURNAME = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏水窦章云苏潘葛奚范彭郎鲁韦昌马苗凤花方俞任袁柳"
    "鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐于时傅皮卞齐康伍余元卜顾孟平黄和穆萧尹姚邵湛汪祁毛禹狄米贝明臧计伏成戴"
)
GIVEN = (
    "安柏冰彩岑畅晨澄川春纯达丹德迪蝶东尔帆芳飞枫歌耕谷冠桂海涵翰禾恒虹鸿湖桦怀欢焕绘慧霁嘉坚剑江皎杰锦京菁景静炯俊珂昆兰岚乐"
    "磊蕾力莉廉林霖凌柳龙璐露鹭洛曼茂梅萌梦眠苗铭墨沐楠宁鸥培佩朋鹏萍璞琪绮钱乔沁青晴秋泉然仁容如瑞睿若森珊尚邵深诗石舒树霜硕"
    "松素岁涛棠恬桐彤婉望威薇为文雯武曦溪夏贤祥晓笑昕星修绪萱雪循雅言砚阳遥野依怡逸音莹颖咏悠余雨玉元远苑月悦云韵泽展昭哲真知芷舟竹卓"
)
PLACE = (
    "白碧苍昌澄赤川翠丹东枫凤福高古观桂寒鹤黑横虹花槐黄金锦静九菊兰乐莲灵柳龙芦鹿洛梅明南鸥盘蓬平屏栖千青清秋曲泉榕瑞三桑沙杉上"
    "石双松潭棠桃藤天铁桐万望文卧梧西溪霞仙香小星杏秀雪崖雁燕阳瑶银鹰永榆玉渊云月樟昭芷舟竹紫"
)
PLACE_END = ("镇", "县", "城", "市", "堡", "浦", "湾", "州", "坪", "埠")
RIVER = (
    "青沅河 白鹭江 澜溪 赤水河 芦花江 月牙河 沧浪水 银沙江 黑石河 桃叶渡河 寒山溪 柳条江 金带河 龙须水 雁荡河 榆溪 瓦窑河 翠屏江 "
    "石门水 霜叶河 鹿鸣江 望仙溪 牧牛河 响沙水"
).split()
TITLE_TAIL = (
    "之歌 来客 往事 纪事 守望者 的回声 秘闻 的女儿 邻居 谣 手记 十二章 的重量 尽头 与剑 的春天 以北 拾遗 的影子 传奇 夏日 之外 夜话 名单 "
    "变奏 之约 的孩子 颜色 迷踪 客栈 钟声 渡船 灯火 断章 旧案 棋谱 书简 月光 马车 年代 迷雾 长堤 炉边 归人 药方 雨季 镜中 石阶 画匠 航线 "
    "琴师 遗嘱 暗号 雪夜 沙洲 花匠 驿站 残卷 群像 家书"
).split()
FIRM_HEAD = (
    "永昌 恒泰 大丰 福源 同兴 裕华 瑞祥 鼎新 广济 和记 宝成 万隆 天成 信义 德润 华茂 隆昌 元亨 正大 祥云 北辰 南浦 东篱 西岭 云帆 "
    "金石 启明 长庚 百川 千里 安澜 听涛 晨光 远航 青松 白帆"
).split()
FIRM_TAIL = (
    "商行 公司 工坊 实业 联号 厂 行 社 局 馆 堂 庄 号 坊 阁 栈 铺 店 铁厂 货栈 洋行 书局 商社 会馆 船坞 纱厂 窑场 矿务局 茶庄 布庄"
).split()
EVENT_HEAD = (
    "金桂 银帆 春灯 秋鸿 雪梅 霜叶 玉兰 石鼓 云台 月港 星河 彩虹 白塔 红枫 青龙 蓝湖 麦浪 竹影 荷风 松涛 鹤鸣 鹿鸣 雁归 长亭 古渡 "
    "晨钟 晚照 新雨 惊蛰 谷雨 芒种 白露"
).split()
EVENT_TAIL = (
    "杯 大会 节 盛会 奖 周 挑战赛 年会 之夜 雅集 赛 庆典 擂台 游园 同乐会 锦标 巡礼 斗技 邀请赛 欢聚 大典 月会 巡游 竞演 聚首 联谊"
).split()

TAGS = {
    "person": (
        "建筑师 植物学家 琴师 化学家 钟表匠 作曲家 外交官 工程师 版画家 探险家 园艺家 地质学家 史学家 发明家 记者 语言学家 制图师 "
        "数学家 航海家 小说家 画家 摄影师 医生 剧作家 诗人 陶艺家 雕塑家 测绘员 织锦匠 棋手"
    ).split(),
    "town": (
        "澄州道 云岭省 海东省 北原省 南浦道 石川省 青陵省 临江道 西塞省 金沙省 东麓道 白水省 龙门道 长平省 芦洲省 丹霞省 玉泉道 "
        "松江省 雪域省 凤仪道"
    ).split(),
    "work": "小说 电影 话剧 歌剧 壁画 叙事曲 舞剧 回忆录".split(),
    "company": "酿酒 印刷 航运 玻璃 装帧 钟表 染织 造纸 采石 制绳 造船 纺纱 制革 茶叶 玩具 磨坊".split(),
    "event": "划船赛 书市 花展 歌咏赛 象棋赛 风筝会 牧羊犬赛 电影节 烘焙赛 滑雪赛 辩论赛 自行车赛".split(),
}


class ChineseNames(FreshNames):
    def person(self) -> tuple[str, bool]:
        rng = self.rng
        woman = rng.random() < 0.5
        return self.fresh(
            lambda: rng.choice(SURNAME) + rng.choice(GIVEN) + (rng.choice(GIVEN) if rng.random() < 0.8 else "")
        ), woman

    def town(self) -> str:
        rng = self.rng
        return self.fresh(lambda: rng.choice(PLACE) + rng.choice(PLACE) + rng.choice(PLACE_END))

    def work(self) -> str:
        rng = self.rng
        return self.fresh(lambda: f"《{rng.choice(GIVEN)}{rng.choice(PLACE)}{rng.choice(TITLE_TAIL)}》")

    def company(self) -> str:
        rng = self.rng
        return self.fresh(lambda: rng.choice(PLACE) + rng.choice(PLACE) + rng.choice(FIRM_HEAD) + rng.choice(FIRM_TAIL))

    def event(self) -> str:
        rng = self.rng
        return self.fresh(
            lambda: rng.choice(PLACE) + rng.choice(GIVEN) + rng.choice(EVENT_HEAD) + rng.choice(EVENT_TAIL)
        )

    def tags(self, kind: str) -> list[str]:
        return TAGS[kind]

    def rivers(self) -> list[str]:
        return RIVER

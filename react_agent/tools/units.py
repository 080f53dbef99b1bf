"""Units of measure as plain data: what each is in its quantity's first unit, exactly, and what it is called.

Factors by definition: the metric units of the SI Brochure (9th edition); inch, pound and what is made of them by
the international yard and pound agreement of 1959; US and imperial volumes from the cubic inch and 4.54609 litres;
the calorie of 4.184 J; the British thermal unit of the international steam table; the standard atmosphere of
101325 Pa; bytes with decimal (kB) and binary (KiB) prefixes as in IEC 80000-13.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from react_agent.tools.trigonometry import PI_TEXT


class Row(NamedTuple):
    """One line of the table: `names` as people write them, `prefixes` the metric ones the symbol takes.

    A `note` goes with each result that depends on which unit of that name was meant.
    """

    symbol: str
    factor: Fraction
    names: str
    prefixes: str = ""
    note: str = ""
    zero: Fraction = Fraction(0)


ALL = "f p n µ m c d da h k M G T P E"
"""No a (atto): `as` and `am` are words."""
UP = "k M G T P E"
_GRAVITY = Fraction("9.80665")
_POUND = Fraction("0.45359237")
_INCH = Fraction("0.0254")
_GALLON = 231 * _INCH**3
_IMPERIAL = Fraction("0.00454609")
_BTU = Fraction("1055.05585262")
_DAY = Fraction(86400)
_YEAR = 365 * _DAY
_FOOT_POUND = _POUND * _GRAVITY * 12 * _INCH


def _us(symbol: str, part: int, names: str) -> Row:
    return Row(symbol, _GALLON / part, names, note="US measure")


def _uk(symbol: str, part: int, names: str) -> Row:
    every = [
        f"{word} {name}"
        for name in [symbol, *names.split(", ")]
        for word in ("imperial", "imp", "uk", "british")
    ]
    return Row(f"imp {symbol}", _IMPERIAL / part, ", ".join(every))


TABLE: Mapping[str, tuple[Row, ...]] = {
    "length": (
        Row("m", Fraction(1), "metre, meter, mtr, 米, 公尺", ALL),
        Row("in", _INCH, 'inch, inches, ", ″, 英寸, 吋'),
        Row("ft", 12 * _INCH, "foot, feet, ', ′, 英尺, 呎"),
        Row("yd", 36 * _INCH, "yard, 码"),
        Row("mi", 63360 * _INCH, "mile, statute mile, 英里, 哩"),
        Row("nmi", Fraction(1852), "nautical mile, sea mile, 海里"),
        Row("fathom", 72 * _INCH, "fathom, 英寻"),
        Row("furlong", 7920 * _INCH, "furlong"),
        Row("thou", _INCH / 1000, "thou"),
        Row("Å", Fraction(1, 10**10), "angstrom, ångström, 埃"),
        Row("au", Fraction(149597870700), "astronomical unit, 天文单位"),
        Row("ly", Fraction(9460730472580800), "light year, lightyear, 光年"),
        Row("里", Fraction(500), "华里, 市里"),
        Row("丈", Fraction(10, 3), "市丈"),
        Row("尺", Fraction(1, 3), "市尺"),
        Row("寸", Fraction(1, 30), "市寸"),
    ),
    "mass": (
        Row("g", Fraction(1, 1000), "gram, gramme, gm, 克, 公克", ALL),
        Row("t", Fraction(1000), "tonne, metric ton, metric tonne, mt, 吨, 公吨", "k M G"),
        Row("lb", _POUND, "lbs, pound, lbm, 磅, 英磅"),
        Row("oz", _POUND / 16, "ounce, 盎司, 安士"),
        Row("st", 14 * _POUND, "stone, stones, 英石"),
        Row("gr", _POUND / 7000, "grain, 格令"),
        Row("ton", 2000 * _POUND, "ton, 短吨", note="US ton of 2000 lb"),
        Row("short ton", 2000 * _POUND, "short ton, us ton, american ton, 美吨"),
        Row("long ton", 2240 * _POUND, "long ton, imperial ton, uk ton, british ton, 长吨, 英吨"),
        Row("ct", Fraction(1, 5000), "carat, 克拉"),
        Row("oz t", _POUND * 480 / 7000, "troy ounce, ozt, 金衡盎司"),
        Row("斤", Fraction(1, 2), "jin, catty, 市斤"),
        Row("两", Fraction(1, 20), "liang, tael, 市两"),
    ),
    "temperature": (
        Row("K", Fraction(1), "kelvin, degree kelvin, degrees kelvin, °k, deg k, 开尔文, 开"),
        Row(
            "°C",
            Fraction(1),
            "c, celsius, degree celsius, degrees celsius, degc, deg c, deg celsius, degree c, degrees c, "
            "centigrade, degrees centigrade, 摄氏度, 摄氏, 度c",
            zero=Fraction("273.15"),
        ),
        Row(
            "°F",
            Fraction(5, 9),
            "f, fahrenheit, degree fahrenheit, degrees fahrenheit, degf, deg f, deg fahrenheit, degree f, "
            "degrees f, 华氏度, 华氏, 度f",
            zero=Fraction("459.67") * 5 / 9,
        ),
        Row("°R", Fraction(5, 9), "rankine, degree rankine, degrees rankine, 兰氏度"),
    ),
    "area": (
        Row("ha", Fraction(10000), "hectare, 公顷"),
        Row("acre", 4840 * (36 * _INCH) ** 2, "acre, ac, 英亩"),
        Row("are", Fraction(100), "are, 公亩"),
        Row("亩", Fraction(2000, 3), "市亩"),
    ),
    "volume": (
        Row("L", Fraction(1, 1000), "l, litre, liter, ltr, 升, 公升", ALL),
        _us("gal", 1, "gallon, 加仑"),
        _us("qt", 4, "quart, 夸脱"),
        _us("pt", 8, "pint, 品脱"),
        _us("cup", 16, "cup"),
        _us("fl oz", 128, "fluid ounce, fluid oz, floz, ounce, oz, 液量盎司, 液体盎司"),
        _us("tbsp", 256, "tablespoon, tbs"),
        _us("tsp", 768, "teaspoon"),
        _uk("gal", 1, "gallon, gallons"),
        _uk("qt", 4, "quart, quarts"),
        _uk("pt", 8, "pint, pints"),
        _uk("fl oz", 160, "fluid ounce, fluid ounces"),
        Row("bbl", 42 * _GALLON, "barrel, oil barrel, barrel of oil, barrels of oil, 桶", note="oil barrel"),
    ),
    "time": (
        Row("s", Fraction(1), "second, sec, secs, 秒, 秒钟", "f p n µ m"),
        Row("min", Fraction(60), "minute, mins, m, 分, 分钟"),
        Row("h", Fraction(3600), "hour, hr, hrs, 小时, 个小时, 时, 钟头"),
        Row("day", _DAY, "d, 天, 日"),
        Row("week", 7 * _DAY, "week, wk, wks, 周, 星期, 礼拜"),
        Row("fortnight", 14 * _DAY, "fortnight"),
        Row("month", _YEAR / 12, "month, mo, 月, 个月", note="a year of 365 days"),
        Row("year", _YEAR, "year, yr, yrs, 年", note="a year of 365 days"),
        Row("decade", 10 * _YEAR, "decade", note="a year of 365 days"),
        Row("century", 100 * _YEAR, "century, centuries, 世纪", note="a year of 365 days"),
    ),
    "speed": (Row("kn", Fraction(1852, 3600), "knot, kt, kts, 节"),),
    "data size": (
        Row("bit", Fraction(1), "bit, b, 比特, 位", UP),
        Row("B", Fraction(8), "byte, 字节", UP),
    ),
    "energy": (
        Row("J", Fraction(1), "joule, 焦耳, 焦", ALL),
        Row("cal", Fraction("4.184"), "calorie, gram calorie, 卡路里, 卡", "k M"),
        Row("Wh", Fraction(3600), "watt hour, watthour, 瓦时, 瓦特小时", "m k M G T"),
        Row("eV", Fraction("1.602176634e-19"), "electronvolt, electron volt, 电子伏特, 电子伏", "m k M G T"),
        Row("BTU", _BTU, "british thermal unit"),
        Row("ft·lbf", _FOOT_POUND, "ft lbf, ft lb, foot pound, foot pounds, 英尺磅"),
        Row("erg", Fraction(1, 10**7), "erg"),
    ),
    "power": (
        Row("W", Fraction(1), "watt, 瓦, 瓦特", ALL),
        Row("hp", 550 * _FOOT_POUND, "horsepower, 英制马力", note="mechanical horsepower"),
        Row("PS", 75 * _GRAVITY, "metric horsepower, metric hp, cv, 马力, 公制马力"),
    ),
    "pressure": (
        Row("Pa", Fraction(1), "pascal, 帕斯卡, 帕", ALL),
        Row("bar", Fraction(100000), "bar, 巴", "m k M"),
        Row("atm", Fraction(101325), "atmosphere, standard atmosphere, 大气压, 标准大气压"),
        Row(
            "psi", _POUND * _GRAVITY / _INCH**2, "psi, pounds per square inch, pound per square inch, lbf/in2"
        ),
        Row("Torr", Fraction(101325, 760), "torr, 托"),
        Row(
            "mmHg",
            Fraction("133.322387415"),
            "mm hg, millimetres of mercury, millimeters of mercury, 毫米汞柱",
        ),
        Row("inHg", Fraction("133.322387415") * Fraction("25.4"), "in hg, inches of mercury, 英寸汞柱"),
    ),
    "angle": (
        Row("°", Fraction(1), "degree, deg, 度, 角度"),
        Row("rad", 180 / Fraction(PI_TEXT), "radian, 弧度", "m µ"),
        Row("gon", Fraction(9, 10), "gradian, grad, 百分度"),
        Row(
            "arcmin",
            Fraction(1, 60),
            "arcminute, arc minute, minute of arc, minutes of arc, minute, ', ′, 角分",
        ),
        Row(
            "arcsec",
            Fraction(1, 3600),
            'arcsecond, arc second, second of arc, seconds of arc, second, ", ″, 角秒',
        ),
        Row("turn", Fraction(360), "turn, revolution, rev, 圈, 转"),
    ),
}
"""Quantity → its units. Lengths also give areas and volumes, and any two units give `one per other`."""

PLURALS: Mapping[str, str] = {
    "century": "centuries",
    **{
        word: f"{word}s"
        for word in ("day", "week", "fortnight", "month", "year", "decade", "acre", "cup", "turn")
    },
}
"""Symbols that are words."""

RATIOS: Mapping[tuple[str, str], str] = {("length", "time"): "speed", ("energy", "time"): "power"}
"""What one quantity per another is called where it has a name of its own."""

PREFIXES: Mapping[str, tuple[int, str]] = {
    "f": (-15, "femto, 飞"),
    "p": (-12, "pico, 皮"),
    "n": (-9, "nano, 纳"),
    "µ": (-6, "micro, 微"),
    "m": (-3, "milli, 毫"),
    "c": (-2, "centi, 厘"),
    "d": (-1, "deci, 分"),
    "da": (1, "deca, deka, 十"),
    "h": (2, "hecto, 百"),
    "k": (3, "kilo, 千"),
    "M": (6, "mega, 兆"),
    "G": (9, "giga, 吉"),
    "T": (12, "tera, 太"),
    "P": (15, "peta, 拍"),
    "E": (18, "exa, 艾"),
}
"""Symbol → power of ten, and the words before a unit's name."""

BINARY: Mapping[str, tuple[int, str]] = {
    "Ki": (10, "kibi"),
    "Mi": (20, "mebi"),
    "Gi": (30, "gibi"),
    "Ti": (40, "tebi"),
    "Pi": (50, "pebi"),
    "Ei": (60, "exbi"),
}
"""Symbol → power of two; only for bytes and bits."""

MORE_NAMES: Mapping[str, str] = {
    "km": "公里, kilometre, klick",
    "cm": "公分",
    "µm": "micron",
    "kg": "公斤, kilo, kilos",
    "kcal": "大卡, food calorie, food calories, large calorie, kilocalories",
    "km/h": "kmh, kph, kmph, km hr, kmhr",
    "mi/h": "mph, mi hr",
    "ft/s": "fps",
    "m/s": "mps",
    "kbit/s": "kbps",
    "Mbit/s": "mbps",
    "Gbit/s": "gbps",
    "kWh": "千瓦小时",
}
"""Names that no rule makes."""

"""The time now, somewhere."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache

from react_agent.errors import ToolError
from react_agent.tools.toolbox import Tool, tool

FROZEN = "REACT_FROZEN_TIME"
EXAMPLE = "write an IANA name such as Asia/Tokyo, or an offset such as UTC+2"

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])\s*(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)
_AREAS = (
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)
_MOST_HOURS = {"+": 14, "-": 12}
_LOCAL = ("local", "here", "本地", "当地")
_SHOWN = 60


def clock(now: Callable[[], datetime]) -> Tool:
    """The tool `current_time`, with its own idea of now: for tests, lessons and replays.

    `now` returns a datetime; one without a time zone is UTC.
    """

    @tool(effect="reads", not_for="converting or adding times")
    def current_time(timezone: str = "UTC") -> str:
        """Tell the current date, time and weekday in a time zone or city.

        Args:
            timezone: a time zone, city or offset, e.g. "Asia/Tokyo", "Berlin" or "UTC+2"
        """
        name, zone = find_zone(timezone)
        local = aware(now()).astimezone(zone)
        if zone is None:
            name = f"local time, UTC{local.isoformat()[-6:]}"
        # Not %A, which speaks the language of the system.
        return f"{local:%Y-%m-%d %H:%M:%S} {WEEKDAYS[local.weekday()]} {name}"

    return current_time


def system_now() -> datetime:
    """The system's time, or what the environment variable REACT_FROZEN_TIME says.

    The variable is read at each call: ISO 8601, UTC if it names no zone. Raises `ToolError` if it is not.
    """
    frozen = os.environ.get(FROZEN)
    if not frozen:
        return datetime.now(UTC)
    try:
        return aware(datetime.fromisoformat(frozen.strip()))
    except ValueError:
        raise ToolError(f"{FROZEN} is {frozen!r}; it must be ISO 8601, e.g. 2025-06-18T15:42:07Z") from None


def find_zone(text: str) -> tuple[str, tzinfo | None]:
    """The zone somebody means, and its name. None is the zone of this computer.

        find_zone("tokyo")[0]       # 'Asia/Tokyo'
        find_zone("GMT-3")[0]       # 'UTC-03:00'
        find_zone("local")          # ('local', None)

    Known are IANA names, their last parts (cities), common cities and countries, and offsets. Raises
    `ToolError` naming the nearest known ones.
    """
    wanted = text.translate(_QUOTES).strip().replace("−", "-") or "UTC"
    if found := known_zone(wanted):
        return found
    raise ToolError(f"unknown time zone {wanted[:_SHOWN]!r}; {_nearest(wanted)}{EXAMPLE}")


def known_zone(wanted: str) -> tuple[str, tzinfo | None] | None:
    """As `find_zone`, for a name that is known; None for any other."""
    if offset := _OFFSET.fullmatch(wanted):
        return _fixed(offset)
    if wanted.upper() in ("UTC", "GMT", "Z"):
        return "UTC", UTC
    for form in _forms(wanted):
        if form in _LOCAL:
            return "local", None
        key = _known_names().get(form)
        if key is not None and (zone := _zone(key)) is not None:
            return key, zone
    return None


_QUOTES = dict.fromkeys(map(ord, "\"'`“”"))


def aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _fixed(offset: re.Match[str]) -> tuple[str, tzinfo]:
    sign, hours, minutes = offset[1], int(offset[2]), int(offset[3] or 0)
    if hours * 60 + minutes > _MOST_HOURS[sign] * 60:
        raise ToolError(f"no time zone is {offset[0].strip()}; offsets go from UTC-12 to UTC+14")
    away = timedelta(hours=hours, minutes=minutes)
    return f"UTC{sign}{hours:02d}:{minutes:02d}", timezone(away if sign == "+" else -away)


def _forms(wanted: str) -> list[str]:
    """Tokyo, Japan → the whole, then its parts; Tokyo time → Tokyo."""
    parts = [wanted, re.sub(r"\(.*?\)", "", wanted), *re.split(r"[,，(]", wanted)]
    folded = [_folded(part) for part in parts]
    return [
        *folded,
        *(form.removesuffix(" time").removesuffix(" city").removesuffix("时间") for form in folded),
    ]


def _folded(name: str) -> str:
    """São_Paulo → sao paulo."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return re.sub(r"[\s_.-]+", " ", bare.casefold()).strip()


@cache
def _known_names() -> Mapping[str, str]:
    """Folded name → IANA name: whole names, cities, and the names below."""
    from zoneinfo import available_timezones

    keys = sorted(key for key in available_timezones() if _KEY.fullmatch(key) and key not in _NO_PLACE)
    known = {_folded(key.rpartition("/")[2]): key for key in reversed(keys) if key.split("/")[0] in _AREAS}
    known |= {_folded(name): key for key, names in _MORE.items() for name in names.split(", ")}
    return known | {_folded(key): key for key in keys}


def _zone(key: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(key)
    except (KeyError, ValueError, OSError):
        return None


def _nearest(wanted: str) -> str:
    import difflib

    known = _known_names()
    near = difflib.get_close_matches(_folded(wanted[:_SHOWN]), known, n=3, cutoff=0.65)
    found = list(dict.fromkeys(known[name] for name in near))
    return f"near: {', '.join(found)}; " if found else ""


_NO_PLACE = ("localtime", "Factory", "posixrules")
_MORE: Mapping[str, str] = {
    "Africa/Cairo": "egypt, alexandria, 开罗",
    "Africa/Johannesburg": "south africa, pretoria, cape town",
    "Africa/Lagos": "nigeria, abuja",
    "Africa/Nairobi": "kenya",
    "Africa/Addis_Ababa": "ethiopia",
    "Africa/Casablanca": "morocco, rabat",
    "America/Argentina/Buenos_Aires": "argentina",
    "America/Bogota": "colombia",
    "America/Chicago": "houston, dallas, austin, 芝加哥",
    "America/Denver": "salt lake city",
    "America/Lima": "peru",
    "America/Los_Angeles": "la, san francisco, seattle, san diego, las vegas, silicon valley, pst, pdt, "
    "洛杉矶, 旧金山",
    "America/Mexico_City": "mexico",
    "America/New_York": "nyc, washington, washington dc, boston, miami, atlanta, philadelphia, usa, us, "
    "united states, edt, 纽约, 华盛顿",
    "America/Santiago": "chile",
    "America/Sao_Paulo": "brazil, brasilia, rio de janeiro",
    "America/Toronto": "canada, ottawa, montreal, 多伦多",
    "America/Vancouver": "温哥华",
    "Asia/Bangkok": "thailand, 曼谷",
    "Asia/Dhaka": "bangladesh",
    "Asia/Dubai": "united arab emirates, uae, abu dhabi, 迪拜",
    "Asia/Ho_Chi_Minh": "vietnam, hanoi, saigon",
    "Asia/Hong_Kong": "hkt, 香港",
    "Asia/Jakarta": "indonesia",
    "Asia/Jerusalem": "israel",
    "Asia/Karachi": "pakistan, islamabad, lahore",
    "Asia/Kathmandu": "nepal",
    "Asia/Kolkata": "india, delhi, new delhi, mumbai, bangalore, bengaluru, chennai, hyderabad, 新德里, 孟买",
    "Asia/Kuala_Lumpur": "malaysia, 吉隆坡",
    "Asia/Manila": "philippines, 马尼拉",
    "Asia/Riyadh": "saudi arabia",
    "Asia/Seoul": "south korea, korea, busan, kst, 首尔, 韩国",
    "Asia/Shanghai": "china, beijing, peking, guangzhou, shenzhen, hangzhou, nanjing, chengdu, wuhan, "
    "xian, 上海, 北京, 广州, 深圳, 中国",
    "Asia/Singapore": "sgt, 新加坡",
    "Asia/Taipei": "taiwan, 台北, 臺北",
    "Asia/Tehran": "iran",
    "Asia/Tokyo": "japan, osaka, kyoto, jst, 东京, 東京, 大阪, 日本",
    "Australia/Melbourne": "墨尔本",
    "Australia/Sydney": "australia, canberra, aest, 悉尼",
    "Europe/Amsterdam": "netherlands, holland, the hague, rotterdam, 阿姆斯特丹",
    "Europe/Athens": "greece",
    "Europe/Belgrade": "serbia",
    "Europe/Berlin": "germany, munich, hamburg, frankfurt, cologne, bonn, stuttgart, 柏林, 德国",
    "Europe/Brussels": "belgium",
    "Europe/Bucharest": "romania",
    "Europe/Budapest": "hungary",
    "Europe/Copenhagen": "denmark",
    "Europe/Dublin": "ireland",
    "Europe/Helsinki": "finland",
    "Europe/Istanbul": "turkey, turkiye, ankara",
    "Europe/Kyiv": "ukraine, kiev",
    "Europe/Lisbon": "portugal",
    "Europe/London": "uk, united kingdom, england, britain, great britain, edinburgh, manchester, bst, "
    "伦敦, 英国",
    "Europe/Madrid": "spain, barcelona, 马德里",
    "Europe/Moscow": "russia, st petersburg, msk, 莫斯科",
    "Europe/Oslo": "norway",
    "Europe/Paris": "france, lyon, 巴黎, 法国",
    "Europe/Prague": "czech republic, czechia",
    "Europe/Rome": "italy, milan, 罗马",
    "Europe/Stockholm": "sweden",
    "Europe/Vienna": "austria, 维也纳",
    "Europe/Warsaw": "poland",
    "Europe/Zurich": "switzerland, geneva, bern, basel, 苏黎世",
    "Pacific/Auckland": "new zealand, wellington, 奥克兰",
    "Pacific/Honolulu": "hawaii",
}
"""Capitals, large cities and countries that are no IANA name; of several zones, the capital's."""

current_time = clock(system_now)

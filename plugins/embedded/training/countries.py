"""Countries and what their people are called, as far as making questions needs them."""

import re
from functools import lru_cache

from ramify.tools.english import fold

_TABLE = """
Afghanistan:Afghan Albania:Albanian Algeria:Algerian Argentina:Argentine,Argentinian Armenia:Armenian Australia:Australian Austria:Austrian
Azerbaijan:Azerbaijani Bangladesh:Bangladeshi Belarus:Belarusian Belgium:Belgian,Flemish Bolivia:Bolivian Bosnia:Bosnian Brazil:Brazilian
Bulgaria:Bulgarian Burma:Burmese Cambodia:Cambodian Cameroon:Cameroonian Canada:Canadian,Québécois Chile:Chilean China:Chinese
Colombia:Colombian Croatia:Croatian Cuba:Cuban Cyprus:Cypriot Czech_Republic:Czech,Czechoslovakia,Czechoslovak Denmark:Danish
Ecuador:Ecuadorian Egypt:Egyptian Estonia:Estonian Ethiopia:Ethiopian Finland:Finnish France:French Georgia:Georgian
Germany:German,West_German,East_German Ghana:Ghanaian Greece:Greek Hungary:Hungarian Iceland:Icelandic India:Indian Indonesia:Indonesian
Iran:Iranian,Persian Iraq:Iraqi Ireland:Irish Israel:Israeli Italy:Italian Jamaica:Jamaican Japan:Japanese Jordan:Jordanian
Kazakhstan:Kazakh Kenya:Kenyan Kuwait:Kuwaiti Latvia:Latvian Lebanon:Lebanese Libya:Libyan Lithuania:Lithuanian Luxembourg:Luxembourgish
Malaysia:Malaysian Malta:Maltese Mexico:Mexican Mongolia:Mongolian Montenegro:Montenegrin Morocco:Moroccan Nepal:Nepalese,Nepali
Netherlands:Dutch New_Zealand:New_Zealander Nigeria:Nigerian North_Korea:North_Korean Norway:Norwegian Pakistan:Pakistani
Palestine:Palestinian Panama:Panamanian Paraguay:Paraguayan Peru:Peruvian Philippines:Filipino,Philippine Poland:Polish
Portugal:Portuguese Romania:Romanian Russia:Russian,Soviet,Soviet_Union,USSR Saudi_Arabia:Saudi Scotland:Scottish Senegal:Senegalese
Serbia:Serbian Singapore:Singaporean Slovakia:Slovak Slovenia:Slovenian,Slovene Somalia:Somali South_Africa:South_African
South_Korea:South_Korean,Korean Spain:Spanish,Catalan Sri_Lanka:Sri_Lankan Sudan:Sudanese Sweden:Swedish Switzerland:Swiss Syria:Syrian
Taiwan:Taiwanese Tanzania:Tanzanian Thailand:Thai Tunisia:Tunisian Turkey:Turkish,Ottoman Uganda:Ugandan Ukraine:Ukrainian
United_Kingdom:British,English,England,Scotland,Wales,Welsh,UK,Great_Britain,Britain United_States:American,USA,US,U.S.,America
Uruguay:Uruguayan Uzbekistan:Uzbek Venezuela:Venezuelan Vietnam:Vietnamese Yugoslavia:Yugoslav Zimbabwe:Zimbabwean
"""
_STATES = (
    "Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Hawaii Idaho Illinois "
    "Indiana Iowa Kansas Kentucky Louisiana "
    "Maine Maryland Massachusetts Michigan Minnesota Mississippi Missouri Montana Nebraska Nevada New_Hampshire "
    "New_Jersey New_Mexico New_York "
    "North_Carolina North_Dakota Ohio Oklahoma Oregon Pennsylvania Rhode_Island South_Carolina South_Dakota "
    "Tennessee Texas Utah Vermont Virginia "
    "Washington West_Virginia Wisconsin Wyoming"
)

_CITIES = """
United_Kingdom:London,Manchester,Liverpool,Birmingham,Edinburgh,Glasgow,Cambridge,Oxford,Bristol,Leeds,Cardiff,Belfast
United_States:Chicago,Los_Angeles,Boston,Philadelphia,Detroit,San_Francisco,New_York_City,Brooklyn,Houston,Seattle,Atlanta,Cleveland
France:Paris,Lyon,Marseille,Strasbourg,Bordeaux,Toulouse Germany:Berlin,Munich,Hamburg,Cologne,Frankfurt,Leipzig,Dresden,Stuttgart,Ulm
Italy:Rome,Milan,Naples,Turin,Florence,Venice,Bologna,Genoa Spain:Madrid,Barcelona,Seville,Valencia Austria:Vienna,Graz,Salzburg
Hungary:Budapest Czech_Republic:Prague,Brno Poland:Warsaw,Kraków,Wrocław,Gdańsk,Łódź Russia:Moscow,Saint_Petersburg,Leningrad
Netherlands:Amsterdam,Rotterdam,The_Hague,Leiden Belgium:Brussels,Antwerp,Ghent Denmark:Copenhagen Sweden:Stockholm,Gothenburg
Norway:Oslo,Bergen Finland:Helsinki Switzerland:Zurich,Zürich,Geneva,Basel,Bern Portugal:Lisbon,Porto Ireland:Dublin,Cork
Greece:Athens Turkey:Istanbul,Ankara Japan:Tokyo,Osaka,Kyoto China:Beijing,Shanghai India:Mumbai,Bombay,Delhi,Kolkata,Calcutta,Chennai
Canada:Toronto,Montreal,Vancouver,Ottawa Australia:Sydney,Melbourne,Brisbane,Perth Argentina:Buenos_Aires Brazil:Rio_de_Janeiro,São_Paulo
Mexico:Mexico_City Egypt:Cairo Ukraine:Kyiv,Kiev,Odessa,Lviv Romania:Bucharest Bulgaria:Sofia Serbia:Belgrade Croatia:Zagreb
"""


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    known: dict[str, str] = {}
    for entry in (*_CITIES.split(), *_TABLE.split()):
        country, _, others = entry.replace("_", " ").partition(":")
        known |= {fold(name): country for name in (country, *others.split(","))}
    return known | {fold(state.replace("_", " ")): "United States" for state in _STATES.split() if state != "Georgia"}


@lru_cache(maxsize=1)
def country_pattern() -> re.Pattern[str]:
    """Return the pattern of a country or nationality in a text."""
    singles = sorted({name.replace("_", " ") for entry in _TABLE.split() for name in re.split(r"[:,]", entry)}, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, singles))})(?!\w)")


@lru_cache(maxsize=4096)
def find_country(answer: str) -> str | None:
    """Return the country that an answer names: as a country, a nationality, or the last part of `Munich, Germany`."""
    known = _names()
    for part in (answer, *reversed(answer.split(","))):
        if (country := known.get(fold(part).removeprefix("the "))) is not None:
            return country
    names = country_pattern().findall(answer)
    return known.get(fold(names[0])) if names else None

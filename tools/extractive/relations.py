"""Relations that encyclopedic texts state in few forms, and those forms.

`{name}`, `{place}`, `{date}` and `{words}` mark the answer; `~name`, `~place`, `~date` and `~few` are passed over.
"""

from ramify.tools.extractive.deeds import DEEDS
from ramify.tools.extractive.relation import Relation

_A_KIN = r"(?:the )?(?:[a-z]+ ){0,3}"
RELATIONS = (
    Relation(
        r"^when\b.*\bborn\b|\b(?:date|year) of birth|\bbirthday\b|\b(?:what|which) (?:year|date|day)\b.*\bborn\b|\bhow old\b",
        (
            r"\bborn(?: ~name,?)?(?: in| at| near)?(?: ~place,?)?,?(?: on| in)? (?:the )?{date}",
            r"\((?:[^()]{0,60}?[;,] )?(?:b\. ?|born )?{date}",
            r"\bborn\b[^.;]{0,40}?\b{date}",
        ),
    ),
    Relation(
        (
            r"\bwhere\b.*\bborn\b|\b(?:place of birth|birthplace)\b|\bin (?:which|what)\b.*\bborn\b|\b(?:from|come)\b.*\bcity\b|"
            r"\b(?:city|town|village|county)\b.*\b(?:come|from)\b"
        ),
        (
            r"\bborn(?: and (?:raised|grew up))?(?: ~name)?,?(?: (?:on|in) ~date,?)? (?:in|at|near)(?: the [a-z ]{3,20} of)? {place}",
            r"\bborn(?: (?:on|in))? ~date,?(?: in| at)? {place}",
            r"\(~date,? (?:in )?{place} ?[-–—;)]",
            r"\bborn (?:in|at|near) (?:the )?(?:[a-z]+ ){0,3}(?:of |near |in )?{place}",
            r"\bnative of {place}",
        ),
    ),
    Relation(
        r"^when\b.*\b(?:die|died|death|pass)\b|\bdate of death\b|\b(?:what|which) year\b.*\b(?:die|died|pass)\b",
        (
            r"\b(?:died|dies|death)(?: in ~place,?)?(?: suddenly| peacefully)?,?(?: on| in)? (?:the )?{date}",
            r"[-–—] ?(?:d\. ?)?{date}[^()]{0,30}\)",
            r"\(d\. ?{date}",
            r"\b(?:died|killed|executed|murdered)\b[^.;]{0,70}?\b{date}",
            r"\b(?:died|d\.) {date}",
        ),
    ),
    Relation(
        r"\bwhere\b.*\b(?:die|died)\b|\b(?:place of death|deathplace)\b|\bin (?:which|what)\b.*\b(?:die|died)\b|\bdied\b",
        (
            r"\b(?:died|death)(?: ~date,?)?(?: on ~date,?)?(?: ~few)? ?(?:in|at) {place}",
            r"[-–—] ?~date,? (?:in )?{place}\)",
            r"{place},?(?: [a-z]+)?(?: in ~date)?,? (?:where|in which) [^.;]{0,60}?\bdied\b",
            r"\b(?:in|to|at|near) {place},? (?:in ~date, )?and it was (?:there|in that [a-z]+) that (?:he|she|they) died\b",
            r"\bdied\b[^.;]{0,60}? (?:in|at) {place}",
        ),
    ),
    Relation(
        r"\binto (?:which|what)\b.*\b(?:flow|empty|drain)|\b(?:which|what) (?:sea|ocean|lake|gulf|bay)\b",
        (
            r"\b(?:flow(?:s|ing)?|empt(?:ies|ying)|drain(?:s|ing)?|discharges?|reach(?:es|ing)?)(?: (?:out|down))?"
            r"(?: into| in)? (?:the )?{name}",
        ),
    ),
    Relation(
        r"\briver\b|\bflow",
        (
            r"\b(?:on|of) (?:both banks of |the banks of )?the (?:[Rr]iver )?{name}",
            r"\b[Tt]he {name} (?:flows|runs|divides|passes)\b",
            r"\bbend of the {name}",
            r"\bbetween the {name}",
        ),
    ),
    Relation(r"\bburi(?:ed|al)\b", (r"\b(?:buried|interred|entombed)\b[^.;]{0,30}? (?:in|at) (?:the )?{place}",)),
    Relation(
        r"\b(?:why|cause|how)\b.*\b(?:die|death)\b",
        (r"\bdied (?:of|from) (?:an? )?{words}(?=[.,;]| in\b| at\b| on\b)", r"\bdeath (?:from|by) {words}(?=[.,;]| in\b| at\b| on\b)"),
    ),
    Relation(
        r"\bdirect(?:or|ed)\b",
        (
            r"\b(?:directed|direction)(?: and [a-z-]+| and edited| and written)* by {name}",
            r"\b(?:director|filmmaker),? {name}",
            r"^{name} (?:~few)?directed",
            r"\bdirected by (?:~few)?{name}",
            r"\b{name}'s? (?:first |second |debut |[a-z]+ )*(?:film|feature)",
        ),
    ),
    Relation(
        r"\b(?:compos(?:er|ed)|wrote the music|music)\b",
        (
            r"\b(?:music|score|scored|composed|songs?|soundtrack)\b[^.]{0,40}? by (?:the composer )?{name}",
            r"\bcomposed by {name}",
            r"\bcomposer {name}",
        ),
    ),
    Relation(
        r"\b(?:perform(?:er|ed|s)|singer|sang|artist)\b",
        (
            (
                r"\b(?:song|single|track|album|recorded|performed|sung|recording)\b[^.]{0,60}? by (?:the )?(?:[A-Z]?[a-z-]+ "
                r"){0,6}?{name}"
            ),
            r"\bsinger(?:-songwriter)? {name}",
        ),
    ),
    Relation(
        r"\b(?:author|writer|wrote|written|screenwriter|novelist)\b",
        (
            r"\b(?:written|wrote|authored|novel|book|play|screenplay)(?: and [a-z-]+)* by (?:the )?(?:~few)?{name}",
            r"\b(?:author|writer|novelist|playwright),? {name}",
        ),
    ),
    Relation(r"\b(?:producer|produced)\b", (r"\bproduced(?: and [a-z-]+)* by {name}", r"\bproducer {name}")),
    Relation(
        (
            r"\b(?:founder|founded|creator|created|inventor|invented|designer|designed|developer|developed|maker|manufacturer|"
            r"publisher|published|distributor|distributed)\b"
        ),
        (
            (
                r"\b(?:founded|created|invented|designed|developed|built|established|manufactured|made|published|distributed|"
                r"released|co-founded|devised)(?: and [a-z-]+)*(?: (?:in|on) ~date)? by (?:the )?(?:~few)?{name}"
            ),
            r"^{name} (?:~few)?(?:founded|created|invented|designed|developed|established|co-founded)",
            r"\b(?:founder|inventor|creator|designer)s?,? (?:was |were |is )?{name}",
            r"\b(?:when|where|by) {name} (?:founded|invented|created)",
        ),
    ),
    Relation(
        r"\bfather\b",
        (
            rf"\b(?:son|daughter|child|children|heir)\b(?: born)? (?:of|to) {_A_KIN}{{name}}",
            rf"\bfather,? (?:was |is )?{_A_KIN}{{name}}",
            rf"\bborn to {_A_KIN}{{name}}",
            r"\bfathered by {name}",
        ),
    ),
    Relation(
        r"\bmother\b",
        (
            (
                rf"\b(?:son|daughter|child|children)\b[^.;]{{2,80}}? (?:and|by)(?: (?:his|her))?(?: (?:first|second|third|"
                rf"fourth))?(?: wife| consort| mistress)?,? {_A_KIN}{{name}}"
            ),
            rf"\bmother,? (?:was |is )?{_A_KIN}{{name}}",
            rf"\bborn to [^.;]{{2,60}}? and {_A_KIN}{{name}}",
        ),
    ),
    *DEEDS,
)

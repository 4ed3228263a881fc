"""Relations that encyclopedic texts state in few forms, and those forms.

`{name}`, `{place}`, `{date}` and `{words}` mark the answer; `~name`, `~place`, `~date` and `~few` are passed over.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Relation:
    """What a question says when it asks for a relation, and what a text says that states it."""

    asked: str
    forms: tuple[str, ...]


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
        r"^when\b.*\b(?:die|died|death|pass)\b|\bdate of death\b|\bwhat year\b.*\b(?:die|pass)\b",
        (
            r"\b(?:died|dies|death)(?: in ~place,?)?(?: suddenly| peacefully)?,?(?: on| in)? (?:the )?{date}",
            r"[-–—] ?(?:d\. ?)?{date}[^()]{0,30}\)",
            r"\(d\. ?{date}",
            r"\b(?:died|killed|executed|murdered)\b[^.;]{0,40}?\b{date}",
            r"\b(?:died|d\.) {date}",
        ),
    ),
    Relation(
        r"\bwhere\b.*\b(?:die|died)\b|\b(?:place of death|deathplace)\b|\bin (?:which|what)\b.*\b(?:die|died)\b|\bdied\b",
        (
            r"\b(?:died|death)(?: ~date,?)?(?: on ~date,?)?(?: ~few)? ?(?:in|at) {place}",
            r"[-–—] ?~date,? (?:in )?{place}\)",
            r"\bthe (?:city|town|village) in which he died.{0,3}{place}",
            r"\bdied\b[^.;]{0,60}? (?:in|at) {place}",
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
    Relation(
        r"\b(?:spouse|wife|husband|married|marry)\b",
        (
            rf"\bmarr(?:ied|ies)(?: to)? {_A_KIN}{{name}}",
            rf"\b(?:wife|husband|spouse|consort|widow|widower)(?: of| was| is|,)? {_A_KIN}{{name}}",
            r"\bmarriage (?:to|with) (?:~few)?{name}",
        ),
    ),
    Relation(
        r"\b(?:child|children|son|daughter)\b",
        (
            rf"\b(?:son|daughter|child)s?,? (?:was |were |is |are |named |called )?{_A_KIN}{{name}}",
            rf"\b(?:father|mother|parents?) of {_A_KIN}{{name}}",
        ),
    ),
    Relation(r"\b(?:sibling|brother|sister)\b", (rf"\b(?:brother|sister|sibling|twin)(?: of| was| is| to|,)? {_A_KIN}{{name}}",)),
    Relation(
        r"\b(?:educated|study|studied|graduate|graduated|attend|attended|alma mater|doctorate|degree)\b",
        (
            (
                r"\b(?:educated|studied|graduat\w+|attended|enrolled|degree|doctorate|Ph\.?D\.?)\b[^.;]{0,60}? (?:at|from|"
                r"of|in) (?:the )?{name}"
            ),
            r"\battended (?:the )?{name}",
        ),
    ),
    Relation(
        r"\b(?:employer|employs|employed|work at|works? for)\b",
        (
            (
                r"\b(?:works?|worked|working|employed|professor|teaches|taught|critic|joined)\b[^.;]{0,50}? (?:at|for|"
                r"by) (?:the )?{name}"
            ),
        ),
    ),
    Relation(
        r"\b(?:award|prize|won|win|receive)\b",
        (
            (
                r"\b(?:won|received|awarded|recipient of|got)\b[^.;]{0,30}? (?:the |an? )?(?P<answer>[A-Z][\w'’. -]*?(?:Award|"
                r"Prize|Medal|Oscar|d'Or)s?(?: (?:for|in) [A-Z]\w+(?: [A-Z]\w+)*)?)"
            ),
        ),
    ),
    Relation(r"\bcapital\b|\bcounty seat\b", (r"\b(?:capital|county seat|seat)(?: is|,| city)? (?:of )?{name}",)),
    Relation(
        r"\b(?:come out|came out|released|release date|premiere)\b",
        (
            r"\b(?:released|premiered|published|release)\b[^.;]{0,50}? (?:on|in) {date}",
            r"^[^.]{0,90}?\b(?:is|was) an? (?:upcoming )?{date}",
            r"\b(?:film|song|single|album) (?:of|from) {date}",
            r"\((?:[^()]*?)?{date}\)",
        ),
    ),
    Relation(
        r"\b(?:established|founded|formed|opened|started|published|launched|open)\b",
        (
            (
                r"\b(?:established|founded|formed|opened|started|first published|launched|began|created|since|built)\b[^.;]{0,50}? "
                r"(?:in|on) {date}"
            ),
            r"\b(?:established|founded|opened) {date}",
        ),
    ),
    Relation(
        r"\b(?:discovered|found)\b",
        (
            r"\b(?:discovered|found|isolated|detected|announced)\b[^.;]{0,50}? in {date}",
            r"\b[Ii]n {date}[^.;]{0,60}?\b(?:discovered|found|isolated|announced)",
        ),
    ),
    Relation(
        r"\b(?:receive|win|awarded|get)\b",
        (
            r"\b(?:[Pp]rize|[Aa]ward|[Mm]edal|Oscar)\b[^.;]{0,40}? (?:in|of|for) {date}",
            r"\b[Ii]n {date}[^.;]{0,40}?\b(?:won|received|awarded|given)",
        ),
    ),
    Relation(r"\bsymbol\b", (r"\bsymbol (?:is )?(?P<answer>[A-Z][a-z]?)\b",)),
    Relation(r"\bnamed after\b", (r"\b(?:named|called) (?:after|for|in honou?r of) (?:the )?(?:~few)?{name}",)),
)

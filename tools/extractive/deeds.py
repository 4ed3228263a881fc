"""Relations that tell what somebody did or where and when something came about, and the forms that state them."""

from ramify.tools.extractive.relation import Relation

_A_KIN = r"(?:the )?(?:[a-z]+ ){0,3}"
DEEDS = (
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
    Relation(r"\b(?:uncle|aunt)\b", (rf"\b(?:nephew|niece) of {_A_KIN}{{name}}", rf"\b(?:uncle|aunt),? {_A_KIN}{{name}}")),
    Relation(r"\b(?:nephew|niece)\b", (rf"\b(?:uncle|aunt) of {_A_KIN}{{name}}",)),
    Relation(r"\bgrand(?:father|mother|parent)\b", (rf"\bgrand(?:son|daughter|child) of {_A_KIN}{{name}}",)),
    Relation(
        r"\b(?:teacher|taught|tutor|advis[eo]r|supervis(?:or|ed)|under whom)\b",
        (
            r"\b(?:doctorate|thesis|dissertation|studied|studies)\b[^.;]{0,50}? (?:under|with) {name}",
            r"\b(?:taught|supervised|advised|tutored) by {name}",
            r"\b(?:student|pupil) of {name}",
            r"\bwhere {name} was (?:one of )?(?:his|her) (?:teacher|advis[eo]r)",
        ),
    ),
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
    Relation(
        r"\b(?:headquarter\w*|based|home to|seat)\b",
        (r"\bheadquarter(?:s|ed)\b[^.;]{0,20}? (?:in|at) {place}", r"\bbased (?:in|at) {place}"),
    ),
    Relation(
        r"\bfirst\b.*\b(?:film|feature|movie|novel|book|album|song|single)\b",
        (
            r"\bfirst (?:[a-z-]+ )*(?:film|feature|movie|novel|book|album|song|single)(?: [a-z]+)*,? (?:was |is )?{name}",
            r"\b{name},? (?:was|is) (?:his|her|their) first (?:[a-z-]+ )*(?:film|feature|movie|novel|book|album|song|single)\b",
        ),
    ),
    Relation(
        r"\b(?:play|plays|played|portray\w*|part|role|performance)\b",
        (
            r"\b(?:played|portrayed|performed|taken) by (?:the )?(?:~few)?{name}",
            r"{name} (?:plays|played|portrays|portrayed|stars as|starred as|appears as|appeared as)\b",
            r"{name} [^.;,]{0,40}?for (?:his|her) (?:performance|role|part) as\b",
            r"{name} as ~name",
        ),
    ),
    Relation(
        r"\b(?:bought|buy|acquired?|purchased?|sold|taken over|own|owns)\b",
        (
            r"\b(?:bought|acquired|purchased|taken over|owned)(?: in ~date)? by (?:the )?{name}",
            r"\bsold(?: in ~date)? to (?:the )?{name}",
            r"\b(?:held|owned) by (?:the )?{name}",
            r"{name} (?:bought|acquired|purchased|took over)\b",
        ),
    ),
    Relation(r"\bsymbol\b", (r"\bsymbol (?:is )?(?P<answer>[A-Z][a-z]?)\b",)),
    Relation(r"\bnamed after\b", (r"\b(?:named|called) (?:after|for|in honou?r of) (?:the )?(?:~few)?{name}",)),
)

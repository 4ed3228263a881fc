"""The shapes of questions, each with a perfect reader's replies and the expected answer."""

from collections.abc import Callable

from tests.graphs.shapes.reader import Fact, Shape, Split

NOISE = (
    "Gorley Fair is held each spring and draws ten thousand visitors.",
    "The Mott Gazette was first printed in 1811.",
    "Sheep farming is the main trade of the Ells valley.",
    "A ferry crosses the Dunn strait twice a day.",
    "The Pale Ridge has four peaks and no road.",
    "Quarry Lane school teaches three hundred pupils.",
    "Harl castle burnt down in 1702 and was never rebuilt.",
    "The Brook orchestra plays on Sundays in winter.",
    "Copper was mined near Tessel until the war.",
    "The mayor of Vorne is elected every five years.",
    "Salt ponds line the coast south of Emmer.",
    "Wick harbour freezes in most winters.",
    "The Ostin line opened as a tramway.",
    "Millers of Rand formed a guild in 1480.",
)
"""What every library holds beside, so that not all of it fits into a prompt."""
NO_NAMES = "no look-up of single names"


def which(one: str, other: str) -> Callable[[str, str], str]:
    """Bring two years together as the name of the earlier."""
    return lambda first, second: one if int(first) < int(second) else other


ALPHA, BETA = Fact("1950", "The film Alpha came out in 1950."), Fact("1961", "The film Beta came out in 1961.")
OLDER = "Which film is older, Alpha or Beta?"
YEARS = {"When did the film Alpha come out?": ALPHA, "When did the film Beta come out?": BETA}
COMPARED = {OLDER: Split("When did the film Alpha come out?", "When did the film Beta come out?", which("Alpha", "Beta"))}
DIRECTED = {
    "Who directed Alpha?": Fact("Ann Roth", "Ann Roth directed the film Alpha."),
    "Who directed Beta?": Fact("Bo Lind", "Bo Lind directed the film Beta."),
}
BORN = {
    "In which year was Ann Roth born?": Fact("1910", "Ann Roth was born in 1910."),
    "In which year was Bo Lind born?": Fact("1925", "Bo Lind was born in 1925."),
}

WRITTEN = {"Who wrote Lark Hill?": Fact("Ida Penn", "Ida Penn wrote the novel Lark Hill.")}

SHAPES = [
    Shape("single fact", "Who wrote Lark Hill?", "Ida Penn", WRITTEN),
    Shape("unanswerable", "Who painted Lark Hill?", "Unknown", {}, besides=("Ida Penn wrote the novel Lark Hill.",)),
    Shape(
        "bridge of 2",
        "Where was the author of Lark Hill born?",
        "Tarnholm",
        {
            "Who wrote Lark Hill?": Fact("Ida Penn", "Ida Penn wrote the novel Lark Hill."),
            "Where was Ida Penn born?": Fact("Tarnholm", "Ida Penn was born in Tarnholm."),
        },
        {"Where was the author of Lark Hill born?": Split("Who wrote Lark Hill?", "Where was {1} born?")},
    ),
    Shape(
        "bridge of 3",
        "Which river runs through the birthplace of the author of Lark Hill?",
        "Oskel",
        {
            "Who wrote Lark Hill?": Fact("Ida Penn", "Ida Penn wrote the novel Lark Hill."),
            "Where was Ida Penn born?": Fact("Tarnholm", "Ida Penn was born in Tarnholm."),
            "Which river runs through Tarnholm?": Fact("Oskel", "The river Oskel runs through Tarnholm."),
        },
        {
            "Which river runs through the birthplace of the author of Lark Hill?": Split(
                "Where was the author of Lark Hill born?", "Which river runs through {1}?"
            ),
            "Where was the author of Lark Hill born?": Split("Who wrote Lark Hill?", "Where was {1} born?"),
        },
    ),
    Shape(
        "bridge of 3, split at the second hop",
        "Which river runs through the birthplace of the author of Lark Hill?",
        "Oskel",
        {
            "Who wrote Lark Hill?": Fact("Ida Penn", "Ida Penn wrote the novel Lark Hill."),
            "Where was Ida Penn born?": Fact("Tarnholm", "Ida Penn was born in Tarnholm."),
            "Which river runs through Tarnholm?": Fact("Oskel", "The river Oskel runs through Tarnholm."),
        },
        {
            "Which river runs through the birthplace of the author of Lark Hill?": Split(
                "Who wrote Lark Hill?", "Which river runs through the birthplace of {1}?"
            ),
            "Which river runs through the birthplace of Ida Penn?": Split("Where was Ida Penn born?", "Which river runs through {1}?"),
        },
    ),
    Shape(
        "bridge of 4",
        "Into which sea flows the river of the birthplace of the author of Lark Hill?",
        "Amber Sea",
        {
            "Who wrote Lark Hill?": Fact("Ida Penn", "Ida Penn wrote the novel Lark Hill."),
            "Where was Ida Penn born?": Fact("Tarnholm", "Ida Penn was born in Tarnholm."),
            "Which river runs through Tarnholm?": Fact("Oskel", "The river Oskel runs through Tarnholm."),
            "Into which sea flows Oskel?": Fact("Amber Sea", "The Oskel flows into the Amber Sea."),
        },
        {
            "Into which sea flows the river of the birthplace of the author of Lark Hill?": Split(
                "Which river runs through the birthplace of the author of Lark Hill?", "Into which sea flows {1}?"
            ),
            "Which river runs through the birthplace of the author of Lark Hill?": Split(
                "Where was the author of Lark Hill born?", "Which river runs through {1}?"
            ),
            "Where was the author of Lark Hill born?": Split("Who wrote Lark Hill?", "Where was {1} born?"),
        },
    ),
    Shape("comparison", OLDER, "Alpha", YEARS, COMPARED),
    Shape(
        "comparison with yes or no",
        "Did Alpha and Beta come out in one year?",
        "No",
        YEARS,
        {
            "Did Alpha and Beta come out in one year?": Split(
                "When did the film Alpha come out?", "When did the film Beta come out?", lambda one, other: "Yes" if one == other else "No"
            )
        },
    ),
    Shape(
        "bridge of a comparison",
        "Where was the director of the older film, Alpha or Beta, born?",
        "Tarnholm",
        {**YEARS, **DIRECTED, "Where was Ann Roth born?": Fact("Tarnholm", "Ann Roth was born in Tarnholm.")},
        {
            "Where was the director of the older film, Alpha or Beta, born?": Split(
                "Who directed the older film, Alpha or Beta?", "Where was {1} born?"
            ),
            "Who directed the older film, Alpha or Beta?": Split(OLDER, "Who directed {1}?"),
            **COMPARED,
        },
    ),
    Shape(
        "comparison first",
        "Who directed the older film, Alpha or Beta?",
        "Ann Roth",
        {**YEARS, **DIRECTED},
        {"Who directed the older film, Alpha or Beta?": Split(OLDER, "Who directed {1}?"), **COMPARED},
    ),
    Shape(
        "comparison of bridges",
        "Who was born first, the director of Alpha or the director of Beta?",
        "Ann Roth",
        {**DIRECTED, **BORN},
        {
            "Who was born first, the director of Alpha or the director of Beta?": Split(
                "In which year was the director of Alpha born?",
                "In which year was the director of Beta born?",
                which("Ann Roth", "Bo Lind"),
            ),
            "In which year was the director of Alpha born?": Split("Who directed Alpha?", "In which year was {1} born?"),
            "In which year was the director of Beta born?": Split("Who directed Beta?", "In which year was {1} born?"),
        },
    ),
    Shape(
        "entity first",
        "Where was the tuner of the Pellworth organ born?",
        "Mirefell",
        {
            "Who tuned the Pellworth organ?": Fact("Ivo Brandt", "Lantz Brothers had Ivo Brandt for all their works."),
            "Where was Ivo Brandt born?": Fact("Mirefell", "Ivo Brandt was born in Mirefell."),
        },
        {"Where was the tuner of the Pellworth organ born?": Split("Who tuned the Pellworth organ?", "Where was {1} born?")},
        {"Who tuned the Pellworth organ?": ("Lantz Brothers",)},
        tuple(f"The Pellworth organ was tuned in 18{year} and who tuned it then is lost." for year in range(10, 18)),
        {"tor": NO_NAMES, "mcts": NO_NAMES, "chain": NO_NAMES, "self-ask": NO_NAMES},
    ),
    Shape(
        "entity second",
        "Who tuned the organ of the chapel where Ida Penn married?",
        "Ivo Brandt",
        {
            "Where did Ida Penn marry?": Fact("Pellworth Chapel", "Ida Penn married in Pellworth Chapel."),
            "Who tuned the organ of Pellworth Chapel?": Fact("Ivo Brandt", "Lantz Brothers had Ivo Brandt for all their works."),
        },
        {"Who tuned the organ of the chapel where Ida Penn married?": Split("Where did Ida Penn marry?", "Who tuned the organ of {1}?")},
        {"Who tuned the organ of Pellworth Chapel?": ("Lantz Brothers",)},
        tuple(f"The organ of Pellworth Chapel was tuned in 18{year} and who tuned it then is lost." for year in range(10, 18)),
        {"tor": NO_NAMES, "mcts": NO_NAMES, "chain": NO_NAMES, "self-ask": NO_NAMES},
    ),
    Shape(
        "entity alone",
        "Who tuned the organ of Pellworth Chapel?",
        "Ivo Brandt",
        {"Who tuned the organ of Pellworth Chapel?": Fact("Ivo Brandt", "Lantz Brothers had Ivo Brandt for all their works.")},
        {},
        {"Who tuned the organ of Pellworth Chapel?": ("Lantz Brothers",)},
        tuple(f"The organ of Pellworth Chapel was tuned in 18{year} and who tuned it then is lost." for year in range(10, 18)),
        {"tor": NO_NAMES, "mcts": NO_NAMES, "chain": NO_NAMES, "self-ask": NO_NAMES},
    ),
    Shape(
        "unanswerable first hop",
        "Where was the painter of Lark Hill born?",
        "Unknown",
        {"Where was Ida Penn born?": Fact("Tarnholm", "Ida Penn was born in Tarnholm.")},
        {"Where was the painter of Lark Hill born?": Split("Who painted Lark Hill?", "Where was {1} born?")},
    ),
    Shape(
        "unanswerable second hop",
        "Where was the author of Lark Hill buried?",
        "Unknown",
        {"Who wrote Lark Hill?": Fact("Ida Penn", "Ida Penn wrote the novel Lark Hill.")},
        {"Where was the author of Lark Hill buried?": Split("Who wrote Lark Hill?", "Where was {1} buried?")},
    ),
    Shape(
        "two people with the same name",
        "When was the director of Dam Street born?",
        "1973",
        {
            "Who directed Dam Street?": Fact("Li Yu", "Li Yu directed the film Dam Street."),
            "When was Li Yu born?": Fact("1973", "Li Yu, a director of films, was born in 1973.", part_of="Dam Street"),
        },
        {"When was the director of Dam Street born?": Split("Who directed Dam Street?", "When was {1} born?")},
        {},
        ("Li Yu, an emperor of Southern Tang, was born in 937.",),
    ),
    Shape(
        "first hop that must be split",
        "Which castle is in the city where the performer of We Sweat Blood formed?",
        "Casa Loma",
        {
            "Who performed We Sweat Blood?": Fact("Danko Jones", "We Sweat Blood is an album by Danko Jones."),
            "In which city did Danko Jones form?": Fact("Toronto", "The band Danko Jones formed in Toronto."),
            "Which castle is in Toronto?": Fact("Casa Loma", "Casa Loma is a castle in Toronto."),
        },
        {
            "Which castle is in the city where the performer of We Sweat Blood formed?": Split(
                "In which city was the performer of We Sweat Blood formed?", "Which castle is in {1}?"
            ),
            "In which city was the performer of We Sweat Blood formed?": Split(
                "Who performed We Sweat Blood?", "In which city did {1} form?"
            ),
        },
    ),
    Shape(
        "uncertain first hop",
        "Where was the author of Lark Hill born?",
        "Tarnholm",
        {
            "Who wrote Lark Hill?": Fact("Ida Penn", "Ida Penn wrote the novel Lark Hill.", confidence=0.6),
            "Where was Ida Penn born?": Fact("Tarnholm", "Ida Penn was born in Tarnholm."),
        },
        {"Where was the author of Lark Hill born?": Split("Who wrote Lark Hill?", "Where was {1} born?")},
    ),
    Shape(
        "markup characters in a name",
        "Which year was the maker of The Devil's Hairpin & Co born?",
        "1911",
        {
            "Who made The Devil's Hairpin & Co?": Fact(
                'Tom "Blood" Hart & Sons', 'Tom "Blood" Hart & Sons made The Devil\'s Hairpin & Co.'
            ),
            'Which year was Tom "Blood" Hart & Sons born?': Fact("1911", 'Tom "Blood" Hart & Sons was born in 1911.'),
        },
        {
            "Which year was the maker of The Devil's Hairpin & Co born?": Split(
                "Who made The Devil's Hairpin & Co?", "Which year was {1} born?"
            )
        },
    ),
    Shape(
        "two facts about one thing",
        "Who designed Hollin Bridge, and when did it open?",
        "Edda Rask; 1852",
        {
            "Who designed Hollin Bridge?": Fact("Edda Rask", "Edda Rask designed Hollin Bridge."),
            "When did Hollin Bridge open?": Fact("1852", "Hollin Bridge opened in 1852."),
        },
        {
            "Who designed Hollin Bridge, and when did it open?": Split(
                "Who designed Hollin Bridge?", "When did Hollin Bridge open?", lambda one, other: f"{one}; {other}"
            )
        },
    ),
]

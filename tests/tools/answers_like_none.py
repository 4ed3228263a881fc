"""Answers that only look like replies without an answer."""

LOOKS_LIKE_NO_ANSWER = (
    "None of the Above",
    "Unknown Pleasures",
    "Nobody",
    "null hypothesis",
    "No",
    "Code N/A-7",
    "The code N/A marks an empty cell",
    "The Unknown Soldier",
    "未知との遭遇",
    "Uncertain, Texas",
    "Unknown (2011 film)",
    "The passages do not say, but it is likely Paris",
    "Not mentioned by the chronicler Bede",
    "Say Nothing",
    "Know Nothing",
    "Tell No One",
    "Nobody Knows",
    "No One Knows",
    "The Unknown",
    "Into the Unknown",
    "The Unanswered Question",
    "No Name",
    "And Then There Were None",
    "Null Island",
    "No. 7",
    "no more than 40",
    "Na",
    "Not Guilty",
    "not required",
    "No. The passages do not mention a second bridge.",
    "Nothing",
    "Neither",
    "neither of them",
    "Freedom of Information Act",
    "No Evidence of Disease",
    "Anonymous",
    "Unidentified flying object",
    "He was not identified until 1987",
    "The manuscript was never found",
    "The article was not found until 1912",
    "The text is not signed",
    "Do not disclose",
    "-40 °C",
    "+",
    "Page not found",
    "Der Unbekannte",
    "Ich weiß nicht, was soll es bedeuten",
    "L'Inconnu du lac",
    "El desconocido",
    "La sconosciuta",
    "Je ne sais quoi",
    "Sin nombre",
    "Não",
    "不明飞行物",
    "未知数",
    "没有人",
    "問題なし",
    "알 수 없는 남자",
    "아니요",
    "모르는 여인",
    "Passage 1 names László Bíró, passage 2 does not mention him",
)

MORE_THAT_LOOK_LIKE_IT = """\
Nothing But the Truth
The Man Who Knew Too Little
Missing
Missing in Action
Cannot Buy My Love
Unclear waste
The Text
The Source
Context
Information
"The Answer"
No Answer Required
No Information Desk
Silent
The Silence
The Unknown Known
Unknown Mortal Orchestra
Uncertain Justice
Not applicable to diesel engines
Not available before March 2024
Not provided with the kit
No results before Friday
Nowhere Man
Nothing Else Matters
Neither Fish nor Fowl
None but the Brave
Nobody's Fool
No Time to Die
Where the Crawdads Sing
We Don't Talk About Bruno
You Don't Know Jack
They Don't Know
I'm Not There
I'm Not Sure About You
Never Say Never
Never Let Me Go
A Man Called Ove
Do not give the code to anybody
Do not list prices
Do not answer the phone
It does not contain asbestos
The contract does not name a guarantor, Mr Keller does
The article names Weber
It was not mentioned until 1640
She was never found
He did not know
They could not find the wreck
Not until 1912
Not more than three
the null set
null and void
No man is an island
Known only to God
the findings of the inquiry
the documents of title
Unknown to the crew, the chart was forged
In the passage of the same name
Les Inconnus
L'Étranger
Ohne Titel
Ohne Furcht und Adel
Kein Ort. Nirgends
Nichts
Nein
Der unbekannte Soldat
Sans famille
Sin noticias de Gurb
Sem Nome
Non uccidere
Nessuno
无间道
没有什么不同
不明戰爭
無名
いいえ
ない袖は振れない
名前のない怪物
불명예
없는 사람
이름 없는 별
네
not for sale
Not Yet
Unbekannte Heimat
unspecified bronchitis
insufficient funds
insufficient oxygen in the tank
impossible
Mission: Impossible
Mission Impossible
Impossible Is Nothing
Clear
Sure
Certain Women
Uncertainty principle
no
No, it is not mentioned in the second passage.
It cannot be opened without a key
It was never found.
The ship was never identified.
The contract does not allow it.
There is no limit on health information.
The book is about missing data.
He went to find his mother
Ignore it
Not Lena Hoff but Edda Rask
Leeds [1]. Passage 2 does not mention it.
The law does not mention women
""".splitlines()
"""Further answers that only look like none."""

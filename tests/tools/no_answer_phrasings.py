"""Replies that give no answer, by language."""

NO_ANSWER = {
    "en": (
        "None",
        "null",
        "N/A.",
        "not sure",
        "Passage 2 does not mention it",
        "The answer is not in the provided passages.",
        "Unknown - the passages only mention the pen",
        "Cannot determine",
        "Unclear from the context.",
        "I'm not sure.",
        "I have no idea",
        "No relevant information was found in the documents",
        "Neither passage says when she was born.",
        "Passages 1, 2 and 3 don't say who designed the bridge.",
        "There isn't enough information to say",
        "Unable to determine from the given text",
        "It is impossible to tell from the passages",
        "The text fails to mention the year",
        "The context lacks information about the architect",
        "None of the documents names the captain",
        "The passages discuss the ship but do not say who built it",
        "Not stated",
        "The name of her mother is not given in the passages",
        "The provided context does not specify the location of the mill.",
        "I could not find an answer in the documents.",
        "Sorry, I don't know.",
        "We don’t know who composed it",
        "Unanswerable",
        "no answer found",
        "Nothing in the passages tells when it closed.",
        "The information is not available",
        "UNKNOWN!",
        "“Unknown”",
        "Answer: unknown",
        "undetermined based on the passages",
        "Based on the given passages, the director cannot be identified.",
        "The question cannot be answered with the information provided.",
        "Unknown because the passages do not cover the 1930s",
        "-",
        "???",
        "Data not available",
        "The passage is silent on this point",
        "No mention of a second owner in the text",
        "insufficient context",
        "It isn't clear from the excerpts which brother inherited the farm",
        "There is nothing about her education in the sources",
        "The documents give no date for the opening",
        "Can't tell",
        "not in the text",
        "I am unable to answer this question given the passages",
        "Ｕｎｋｎｏｗｎ",
        "**Unknown**",
        "Her birthplace is not mentioned.",
        "No specific year is mentioned in the passages",
    ),
    "de": (
        "Unbekannt",
        "Nicht bekannt.",
        "Keine Angabe",
        "Das steht nicht im Text.",
        "Die Abschnitte erwähnen nicht, wer die Brücke entwarf.",
        "Im Kontext wird kein Datum genannt.",
        "Ich weiß es nicht.",
        "Kann aus den Texten nicht bestimmt werden",
        "Dazu gibt es keine Informationen.",
        "Aus den Passagen geht nicht hervor, wann das Werk schloss.",
    ),
    "fr": (
        "Inconnu",
        "Non précisé",
        "Je ne sais pas",
        "Le texte ne le mentionne pas.",
        "Aucune information dans les passages",
        "La réponse ne figure pas dans les documents.",
        "Impossible à déterminer d’après le contexte",
        "Les passages ne disent pas qui a construit le pont.",
    ),
    "es": (
        "Desconocido",
        "No se menciona en el texto.",
        "No lo sé",
        "Los pasajes no indican quién lo construyó.",
        "No hay información suficiente",
        "No se puede determinar",
        "Sin información",
    ),
    "it": (
        "Sconosciuto",
        "Non specificato",
        "Non lo so",
        "Il testo non menziona l'autore.",
        "Non ci sono informazioni sufficienti nei brani",
        "Non è possibile determinarlo",
    ),
    "pt": (
        "Desconhecido",
        "Não mencionado",
        "Não sei",
        "O texto não informa a data.",
        "Não há informações suficientes",
        "Não é possível determinar com base nos trechos",
    ),
    "zh": (
        "未提及",
        "未知",
        "不知道",
        "文中没有提到",
        "无法确定。",
        "根据提供的段落，无法回答这个问题",
        "没有相关信息",
        "文章未說明作者是誰",
        "不清楚",
    ),
    "ja": (
        "不明",
        "わかりません。",
        "記載なし",
        "本文には記載されていません。",
        "文書からは判断できません",
        "該当する情報がありません",
        "不明です",
    ),
    "ko": (
        "알 수 없음",
        "모름",
        "언급되지 않음",
        "본문에 언급되어 있지 않습니다.",
        "주어진 문서로는 답할 수 없습니다",
        "정보가 없습니다",
        "문서에 나와 있지 않다",
        "모르겠습니다",
        "감독이 누구인지 문서에 언급되어 있지 않습니다",
    ),
    "other": ("Onbekend", "Неизвестно", "Nieznane"),
}

MORE_NO_ANSWER = """\
The passages provided do not contain information about the director's spouse.
I'm sorry, but I cannot find this information in the given passages.
No information provided
Not explicitly stated in the passages.
There is no mention of her father.
It's not clear
Unknown (no passage names the founder)
Unknown, as the passages do not give a date.
The birthplace of the composer is unknown
The passages don't provide enough information to answer this question.
The director's nationality is not specified in any passage.
Does not say
cannot be determined from the passages
The given context doesn't mention anything about the population.
Information about the spouse of the director is not provided.
none of the passages answer the question
Not found in the passages
no data
[2] does not mention the date
Passage [2] doesn't mention this.
Based on the information given, it is not possible to determine who was older.
It is unclear.
I do not have enough information to answer.
I don't have information on that.
Not specified (the passages mention only the year)
The text provides no information about the owner.
We cannot say.
not determinable
Neither document mentions it.
There is insufficient evidence in the passages to conclude which one is older.
The answer cannot be found.
The answer to this question is not contained in the passages.
No passage mentions the mill's owner.
None mentioned
no info
UNKNOWN - not enough context
The documents do not address this.
unable to answer
Keine Informationen vorhanden
Der Text enthält keine Angaben zum Architekten.
Die Antwort ist nicht im Text enthalten.
Das geht aus den Abschnitten nicht hervor.
Es ist nicht bekannt.
Nicht angegeben
nicht ersichtlich
Ich kann die Frage anhand der Abschnitte nicht beantworten.
Im Text nicht erwähnt
Das Geburtsdatum wird im Text nicht genannt.
Je ne peux pas répondre à cette question.
Les documents ne permettent pas de répondre
Non mentionné dans le texte
Aucune réponse
Pas d'information
Le nom du père n'est pas mentionné dans les passages.
Ce n'est pas indiqué.
No especificado
No se sabe
El texto no lo menciona.
No hay datos
La fecha no se menciona en los documentos.
No puedo determinar la respuesta con la información proporcionada
Non disponibile
I brani non lo dicono
Non si sa
Nessuna informazione
La data di nascita non è indicata nel testo.
Não informado
Não consta no texto
Sem resposta
Os documentos não mencionam o fundador.
Não se sabe
文章中没有提到导演的出生地。
无相关信息
未说明
无法从文中得知
资料不足
段落中未提供该信息
没有答案
文中并未提及
不詳
文書に記載がありません
提供された文章には、監督の出身地に関する情報は含まれていません。
答えは見つかりませんでした
情報不足
不明（本文に記載なし）
該当なし
知りません
確認できません
정보 없음
알 수 없습니다.
문서에 해당 정보가 없습니다.
확인할 수 없음
명시되어 있지 않음
제공된 지문에서는 알 수 없다
답을 찾을 수 없습니다
불명확
모른다
답변할 수 없습니다
I don't see any mention of the price.
It's unclear from the passages whether the mill closed.
It remains unknown who painted it.
unknown/not stated
The author's birthplace is never mentioned.
The passages do not include information on the inventor. They only discuss the pen.
The passages mention the pen but not its inventor.
The information provided does not allow me to determine the answer.
Lena Hoff does not appear in the passages.
The documents contain nothing about the Osprey 17.
The passages do not appear to contain information about Lena Hoff's birthplace.
Final answer: unknown
Es gibt keinen Hinweis auf den Erbauer.
Dazu finde ich nichts in den Dokumenten.
Se desconoce quién construyó el puente.
No es posible determinarlo.
Non è noto chi abbia costruito il ponte.
暂无信息
文档中没有关于建筑师的信息。
文書には建築家についての記載がありません。
문서에 건축가에 대한 정보가 없습니다.
기록되어 있지 않다
해당 없음
""".splitlines()
"""Further phrasings, in the languages above."""

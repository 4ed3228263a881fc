"""The closed-class words of replies that give no answer, by language; accents are ignored, words of Chinese, Japanese and Korean are parts."""

from collections.abc import Mapping

NULL_VALUES = (
    "none, null, n/a, n.a, k.a, s/d, unk, idk, dunno, aucun, aucune, keine, ninguno, ninguna, nenhum, nenhuma, 无, 無, なし, 無し, 없음, "
    "해당 없음, 해당없음, 해당 사항 없음, 해당사항 없음, onbekend, niet bekend, неизвестно, nieznane, nieznany, ukjent, okänd, tuntematon, bilinmiyor, không rõ, غير معروف, अज्ञात"
)
"""Values that stand for a missing answer, also in languages without a vocabulary here."""

ENGLISH = {
    "unknown": "unknown unclear unspecified undetermined unanswerable unsure uncertain indeterminate unstated unmentioned inconclusive "
    "unavailable undeterminable unanswered",
    "not": "not cannot unable impossible fails fail failed",
    "no": "no insufficient lack lacks lacking missing inadequate",
    "none": "none nothing neither nowhere silent omit omits",
    "states": "say says state states mention mentions specify specifies tell tells indicate indicates answer answers reveal reveals disclose "
    "discloses name names identify identifies give gives provide provides offer offers list lists describe describes discuss discusses "
    "address addresses explain explains clarify clarifies cover covers show shows determine find know infer conclude confirm establish "
    "deduce ascertain derive verify locate sure certain clear silent omit omits see known",
    "never": "never",
    "mentioned": "mentioned stated specified mention mentions",
    "stated": "given provided found known available indicated disclosed reported listed included described discussed addressed answered "
    "determined present contained said revealed named identified applicable established inferred concluded confirmed covered shown located "
    "told clarified explained deduced derived ascertained verified documented determinable ascertainable appear appears",
    "information": "information info details detail data facts fact context mention answer answers indication reference record "
    "records results result clue idea",
    "documents": "passage passages document documents text texts article articles source sources context contexts excerpt excerpts evidence "
    "findings information corpus question snippet snippets paragraph paragraphs material materials",
    "has": "have has contain contains include includes enough sufficient",
    "about": "about on regarding concerning for to as",
    "question": "who whom whose when where which whether if",
    "manner": "what how why",
    "copula": "is are was were remains",
    "contrast": "but however",
    "reason": "because since although though",
    "article": "the a an",
    "other": "i we any all of these those this that it its there is was are were be been being am do does did could can would may will in by "
    "from within based according given provided available retrieved above supplied search following explicitly directly clearly "
    "specifically exactly precisely exact precise relevant specific such really simply just only also and or at anywhere here with using "
    "me my our us something anything final short allow allows sorry unfortunately apologies afraid so therefore thus currently either each point matter topic subject very possible "
    "m s ve re",
}
GERMAN = {
    "unknown": "unbekannt unklar unbestimmt ungewiss unbeantwortbar",
    "not": "nicht unmoglich",
    "no": "kein keine keinen keiner keinem keinerlei ohne",
    "none": "nichts nirgends",
    "states": "nennt nennen erwahnt erwahnen sagt sagen gibt geben beantworten bestimmen ermitteln feststellen weiss wissen finden finde fand bekannt entnehmen "
    "beurteilen steht stehen hervor sicher beschreibt beschreiben behandelt behandeln verrat verraten",
    "mentioned": "erwahnt genannt angegeben erwahnung",
    "stated": "bekannt gefunden enthalten beantwortet bestimmt ermittelt ersichtlich klar beschrieben vorhanden verfugbar festgestellt "
    "aufgefuhrt ableitbar bestimmbar entnommen anwendbar",
    "information": "information informationen angabe angaben antwort antworten hinweis hinweise daten details auskunft ergebnis ergebnisse "
    "erwahnung ahnung",
    "documents": "text texte texten textes abschnitt abschnitte abschnitten passage passagen dokument dokumente dokumenten kontext quelle "
    "quellen auszug auszuge auszugen textstelle textstellen artikel artikeln unterlagen informationen frage",
    "has": "enthalt enthalten gibt liegt liegen ausreichend genug genugend hat haben",
    "about": "zu zum zur uber bezuglich daruber dazu ob um auf",
    "question": "wer wen wem wessen wann wo wohin woher welche welcher welches welchen ob",
    "manner": "was wie warum wieso",
    "copula": "ist sind bleibt war",
    "contrast": "aber jedoch",
    "reason": "weil da obwohl denn",
    "article": "der die das den dem des ein eine",
    "other": "ich wir es sie ist sind war wird werden wurde wurden kann konnen konnte lasst sich im in aus von laut anhand auf basis grundlage "
    "basierend gemass nach hier leider daraus darin davon dieser diese diesen diesem dies gegebenen gegebene angegebenen bereitgestellten "
    "bereitgestellte vorliegenden vorliegende obigen geht vor explizit eindeutig genau ausdrucklich relevanten relevante mir uns und oder "
    "nur also bin tut leid mit den zu",
}
FRENCH = {
    "unknown": "inconnu inconnue indetermine indeterminee incertain incertaine introuvable",
    "not": "pas impossible jamais non",
    "no": "aucun aucune sans manque pas",
    "none": "rien nulle",
    "states": "connu dit disent dire mentionne mentionnent precise precisent indique indiquent donne donnent nomme nomment sais savons sait savoir "
    "determiner repondre trouver trouve identifier specifie specifient figure figurent parle parlent permet permettent sur certain clair evoque evoquent",
    "mentioned": "mentionne mentionnee mentionnes precise precisee precises specifie specifiee indique indiquee mention",
    "stated": "connu connue donne donnee fourni fournie trouve trouvee disponible disponibles determine determinee identifie identifiee "
    "present presente contenu contenue nomme nommee dit applicable",
    "information": "information informations reponse reponses donnee donnees detail details indice indication mention renseignement "
    "renseignements precision precisions idee resultat resultats",
    "documents": "texte textes passage passages document documents contexte source sources extrait extraits article articles informations "
    "question",
    "has": "contient contiennent a ai avons assez suffisamment suffisante suffisantes suffisant fournit fournissent figure",
    "about": "sur concernant propos pour quant au sujet",
    "question": "qui quand ou quel quelle quels quelles si combien",
    "manner": "que quoi comment pourquoi",
    "copula": "est reste sont",
    "contrast": "mais cependant",
    "reason": "car puisque",
    "article": "le la les l un une",
    "other": "je nous on il elle ce c cela ca est sont etait ete etre ne n peut peux pouvons y en se s de d du des dans par a au aux selon apres "
    "partir fournis fourni fournies donnes donne cette ces cet leur ici explicitement clairement desole malheureusement pertinente "
    "pertinentes nulle part ni et base basant possible il",
}
SPANISH = {
    "unknown": "desconocido desconocida desconoce desconocen desconozco indeterminado indeterminada incierto incierta",
    "not": "no imposible tampoco",
    "no": "ningun ninguna sin falta insuficiente insuficientes",
    "none": "nada ninguno",
    "states": "conocido determinarlo saberlo decirlo menciona mencionan indica indican dice dicen especifica especifican da dan proporciona proporcionan nombra nombran responder "
    "determinar encontrar encuentra encuentran encontre se saber sabe sabemos conoce conozco identificar revela revelan aparece aparecen "
    "seguro claro consta describe describen",
    "mentioned": "menciona mencionan mencionado mencionada especificado especificada especifica indica indicado indicada mencion",
    "stated": "conocido conocida encontrado encontrada disponible disponibles dado dada proporcionado proporcionada identificado "
    "determinado aplicable",
    "information": "informacion respuesta respuestas dato datos detalle detalles mencion evidencia pista indicacion idea resultado "
    "resultados",
    "documents": "texto textos pasaje pasajes documento documentos contexto fuente fuentes extracto extractos fragmento fragmentos articulo "
    "articulos informacion pregunta",
    "has": "hay contiene contienen tiene tienen tengo incluye incluyen suficiente suficientes proporciona proporcionan",
    "about": "sobre acerca respecto para",
    "question": "quien quienes cuando donde cual cuales cuanto si cuyo",
    "manner": "que como",
    "copula": "es son sigue",
    "contrast": "pero",
    "reason": "porque ya",
    "article": "el la los las un una",
    "other": "yo lo le se esta estan es son fue ser ha han puede pueden puedo pude podemos en de del por con segun base a al partir esto eso "
    "este estos estas ese dicha dado dados proporcionados proporcionado proporcionada disponible explicitamente claramente ni relevante "
    "relevantes siento lamentablemente posible y o el",
}
ITALIAN = {
    "unknown": "sconosciuto sconosciuta ignoto ignota indeterminato indeterminata incerto incerta",
    "not": "non impossibile",
    "no": "nessun nessuna senza manca insufficiente insufficienti",
    "none": "nulla niente nessuno",
    "states": "noto saperlo menziona menzionano indica indicano dice dicono specifica specificano fornisce forniscono nomina nominano so sappiamo sapere "
    "sa conosco rispondere determinare determinarlo trovare trovo trova dire dirlo identificare identificarlo stabilire stabilirlo rivela "
    "rivelano sicuro chiaro descrive descrivono",
    "mentioned": "menzionato menzionata menzionati specificato specificata indicato indicata menzione",
    "stated": "noto nota conosciuto conosciuta trovato trovata disponibile disponibili fornito fornita identificato determinato riportato "
    "riportata presente presenti precisato applicabile",
    "information": "informazione informazioni risposta risposte dato dati dettaglio dettagli menzione indicazione indicazioni idea risultato "
    "risultati",
    "documents": "testo testi brano brani passaggio passaggi documento documenti contesto fonte fonti estratto estratti articolo articoli "
    "informazioni domanda",
    "has": "contiene contengono c ci ha hanno ho sufficiente sufficienti abbastanza include includono fornisce",
    "about": "su sul sulla sullo riguardo circa per",
    "question": "chi quando dove quale quali se quanto",
    "manner": "che come cosa",
    "copula": "e sono rimane",
    "contrast": "ma pero",
    "reason": "perche poiche",
    "article": "il lo la i gli le l un una uno",
    "other": "io e sono era viene vengono stato stata essere puo possono posso possibile si nel nella nei nelle negli nell in di del dei della "
    "dell da dal dai dalle con base a al alla secondo ne questa questo questi queste quei forniti fornito fornite disponibile "
    "esplicitamente chiaramente relative pertinenti mi dispiace purtroppo e",
}
PORTUGUESE = {
    "unknown": "desconhecido desconhecida indeterminado indeterminada incerto incerta",
    "not": "nao impossivel",
    "no": "nenhum nenhuma sem falta insuficiente insuficientes",
    "none": "nada",
    "states": "conhecido menciona mencionam indica indicam diz dizem especifica especificam informa informam da dao fornece fornecem nomeia sei sabe "
    "sabemos saber responder determinar encontrar encontrei encontra identificar revela revelam consta constam certeza claro descreve "
    "descrevem cita citam",
    "mentioned": "mencionado mencionada mencionados especificado especificada indicado indicada informado informada mencao",
    "stated": "conhecido conhecida encontrado encontrada disponivel disponiveis fornecido fornecida identificado determinado citado citada "
    "aplicavel",
    "information": "informacao informacoes resposta respostas dado dados detalhe detalhes mencao evidencia indicacao ideia resultado "
    "resultados",
    "documents": "texto textos trecho trechos passagem passagens documento documentos contexto fonte fontes extrato artigo artigos "
    "informacoes pergunta",
    "has": "ha existe existem contem tem tenho inclui incluem suficiente suficientes fornece",
    "about": "sobre acerca respeito para",
    "question": "quem quando onde qual quais se quanto",
    "manner": "que como",
    "copula": "e sao permanece",
    "contrast": "mas porem",
    "reason": "porque pois",
    "article": "o a os as um uma",
    "other": "eu nos isso isto este esta estes estas esse e foi sao ser pode podem posso possivel no na nos nas em de do da dos das por com "
    "base segundo a ao partir fornecidos fornecido fornecidas disponivel explicitamente claramente desculpe infelizmente ha lo relevante "
    "relevantes",
}
CHINESE = {
    "unknown": "未知 不明 不详 不詳 不清楚 不知道 不确定 不確定 未详 未詳 无从得知 無從得知 不得而知",
    "not": "未 没有 沒有 没 沒 无法 無法 不能 并未 並未 不 无 無 未能",
    "no": "没有 沒有 暂无 暫無 无 無 缺乏 缺少 不足 未",
    "states": "提及 提到 说明 說明 确定 確定 回答 判断 判斷 找到 给出 給出 提供 得知 知道 记载 記載 指出 得出 描述 涉及 列出 明确 明確 包含 "
    "显示 顯示 查到 推断 推斷 确认 確認 透露",
    "mentioned": "提及 提到 说明 說明 记载 記載 指明 注明 註明",
    "stated": "公开 公開",
    "information": "信息 資訊 资讯 資料 资料 答案 线索 線索 内容 內容 数据 數據 记录 記錄 依据",
    "documents": "文中 文章 文本 段落 文档 文檔 文件 上下文 原文 材料 资料 資料 文献 信息 資訊 内容 內容 片段 来源 问题 問題 文",
    "has": "足够 足夠 有 提供",
    "about": "关于 關於 有关 有關",
    "question": "谁 誰 何时 何時 哪里 哪裡 什么 什麼 是否 哪",
    "contrast": "但 但是 不过 不過",
    "reason": "因为 因為",
    "other": "根据 根據 所 的 中 里 裡 从 從 在 该 該 本 以上 给定 給定 任何 相关 相關 具体 具體 这 這 这个 這個 此 我 我们 我們 被 到 地 上述 "
    "提供 这些 這些 是 对 對 抱歉 很 给 給 并 並 可以 可 基于 基於 了 由 于 於 以 据",
}
JAPANESE = {
    "unknown": "不明 未知 わかりません 分かりません わからない 分からない 不詳 回答不能 特定不能 不明瞭",
    "not": "ません ない 不可能 不可 おらず ていません ていない なく なかった",
    "no": "ありません なし 無し ない 見つかりません 見つからない 見当たりません 不足 ございません 無い",
    "states": "判断 特定 確認 回答 記載 言及 決定 推測 明記 書かれて 述べられて 含まれて 示されて 触れられて 記されて 答え 答えられ 説明 "
    "見つけ 知り",
    "mentioned": "記載 言及 明記 記述 書かれて 述べられて",
    "information": "情報 記載 記述 言及 説明 データ 答え 回答 根拠 該当 内容 手がかり",
    "documents": "本文 文章 文書 資料 文脈 テキスト パッセージ 記事 コンテキスト 抜粋 情報源 文中 提供された情報 質問 段落 ドキュメント",
    "has": "十分 含まれて",
    "about": "ついて 関する 関して",
    "question": "誰 いつ どこ 何 どの か",
    "contrast": "しかし ただし",
    "other": "です でした である だ は が に で の も を から と より によると 中 内 この その これ それ 与えられた 提供された 提示された 上記 "
    "特に 明確 具体的な する した され て いる い います でき でき でし し おり こと さ れ 関連 な 申し訳 私 ため 十分な る ませ ん せん 提供",
}
KOREAN = {
    "unknown": "모름 모른다 모릅니다 모르겠습니다 모르겠어요 몰라요 미상 불명 불분명 불명확 불확실 미확인",
    "not": "않습니다 않음 않다 않았다 않았습니다 않아요 않는다 않은 없습니다 없음 없다 없어요 없었다 없었습니다 못합니다 못함 못했습니다 "
    "불가 불가능 안",
    "no": "없습니다 없음 없다 없어요 없었다 없었습니다 부족 부족합니다",
    "states": "언급 명시 기재 나와 나오지 나타나 확인 파악 판단 결정 알 찾을 답할 답변할 대답할 답변 대답 특정 포함 제공 설명 기술 서술 밝히",
    "mentioned": "언급 명시 기재 기록 나와 나오지",
    "information": "정보 언급 내용 답 정답 답변 근거 자료 기록 단서 설명",
    "documents": "본문 지문 문서 문단 구절 자료 텍스트 글 문맥 맥락 문장 내용 컨텍스트 기사 출처 발췌문 질문 정보",
    "has": "충분한 충분히",
    "about": "대한 대해 관한 관해",
    "question": "누가 누구 언제 어디 무엇 왜",
    "contrast": "하지만 그러나",
    "other": "에 에는 에서 에서는 으로 로 로는 으로는 만 만으로 만으로는 은 는 이 가 을 를 의 도 들 그 해당 제공된 주어진 제시된 위 관련 관련된 "
    "구체적 인 명확 명확히 명확하게 게 전혀 아무런 따르면 기반 바탕 죄송합니다 죄송하지만 저 나 수 되어 있지 돼 된 하기 되지 하지 지 할 될 "
    "합니다 하다 입니다 함 되 하 어 었 습니다 음 다 답 해 에게 에서도 과 와 정확히 정확한 직접 할 답변 드릴",
}
LANGUAGES: tuple[Mapping[str, str], ...] = (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, CHINESE, JAPANESE, KOREAN)

"""Made sentences, about people and programs that there are not: what the reader confused before, in small."""

from collections.abc import Iterator

from plugins.lab.benchmarks.readings.case import Case, quote

PEOPLE = (
    ("Ilse Varnhem", "Ilse Varnhem (Ghent, 3 May 1871 – Paris, 9 July 1934) was a Belgian painter of harbours.", "Ghent", "Paris"),
    ("Tomas Okello", "Tomas Okello was born in Gulu in 1923 and died in Paris in 1988.", "Gulu", "Paris"),
    ("Mirela Banu", "Mirela Banu, born in Iași, taught chemistry for thirty years. She died in Paris.", "Iași", "Paris"),
    ("Henk Dorsman", "Henk Dorsman died in Paris on 4 March 1961; he was born in Utrecht.", "Utrecht", "Paris"),
    ("Sofia Lindahl", "Sofia Lindahl moved from Oslo to Bergen. She was born in Tromsø and died in Paris in 1977.", "Tromsø", "Paris"),
    ("Arno Felder", "Arno Felder (born 1840 in Graz; died 1911 in Paris) built organs in Vienna.", "Graz", "Paris"),
    ("Clara Whitcombe", "The poet Clara Whitcombe died in Paris, far from Exeter, the town of her birth.", "Exeter", "Paris"),
    ("Rafael Montoya", "Rafael Montoya, a native of Cusco, lived in Lima and Madrid and died in Paris in 1954.", "Cusco", "Paris"),
    ("Nadia Rehman", "Nadia Rehman was born in Lahore, studied in Leeds, worked in Geneva, and died in Paris.", "Lahore", "Paris"),
    ("Piotr Zalewski", "Piotr Zalewski's life began in Lublin in 1899 and ended in Paris in 1963.", "Lublin", "Paris"),
    (
        "Emeka Adeyemi",
        "Emeka Adeyemi died in Paris in 2004. The engineer, born in Enugu, had worked on bridges in Cairo.",
        "Enugu",
        "Paris",
    ),
    ("Greta Solberg", "Born in Aarhus to a baker, Greta Solberg sang in Berlin until 1938, and died in Paris.", "Aarhus", "Paris"),
    ("Luca Ferrante", "Luca Ferrante was an Italian sculptor. He died in Paris in 1890. He had been born in Lucca.", "Lucca", "Paris"),
    ("Yuki Hanamura", "Yuki Hanamura (Nagoya 1901 – Paris 1969) translated French novels.", "Nagoya", "Paris"),
    ("Oleg Maslenko", "Oleg Maslenko came to Paris in 1921, where he died in 1950; his birthplace was Poltava.", "Poltava", "Paris"),
    ("Beatrix Hollander", "Beatrix Hollander was born at Haarlem. After years in London she died at Paris.", "Haarlem", "Paris"),
    ("Jonas Weckert", "Jonas Weckert, who died in Paris, was born near Trier and grew up in Metz.", "Trier", "Paris"),
    ("Amara Diallo", "Amara Diallo was born in Kindia, but the sources agree that she died in Paris, not in Dakar.", "Kindia", "Paris"),
    ("Edwin Pascoe", "Edwin Pascoe sailed from Truro, where he was born, to Quebec, and died in Paris at 81.", "Truro", "Paris"),
    ("Vera Stancheva", "Vera Stancheva died in Paris in 1999, a century after her birth in Plovdiv.", "Plovdiv", "Paris"),
)
"""A name, a sentence or two, where the person was born, where they died."""

PROGRAMS = (
    ("Backups", "`vaultctl backup start` begins a backup by hand. `vaultctl backup list` shows those that are kept.",
     "Which command begins a backup?", ("vaultctl backup start",)),
    ("Backups", "`vaultctl backup start` begins a backup by hand. `vaultctl backup list` shows those that are kept.",
     "Which command shows the backups that are kept?", ("vaultctl backup list",)),
    ("Ports", "The server listens on port 8443 for clients and on port 9100 for metrics. Health checks use 8080.",
     "On which port are metrics served?", ("9100", "port 9100")),
    ("Ports", "The server listens on port 8443 for clients and on port 9100 for metrics. Health checks use 8080.",
     "Which port do clients use?", ("8443", "port 8443")),
    ("Settings", "`max_workers` limits how many jobs run at once; `queue_size` how many wait. The defaults are 8 and 200.",
     "Which setting limits how many jobs run at once?", ("max_workers",)),
    ("Settings", "`max_workers` limits how many jobs run at once; `queue_size` how many wait. The defaults are 8 and 200.",
     "What is the default of queue_size?", ("200",)),
    ("Paths", "Logs are written to /var/log/tern/tern.log. The configuration is read from /etc/tern/tern.toml.",
     "Where are the logs written?", ("/var/log/tern/tern.log", "to /var/log/tern/tern.log")),
    ("Paths", "Logs are written to /var/log/tern/tern.log. The configuration is read from /etc/tern/tern.toml.",
     "From which file is the configuration read?", ("/etc/tern/tern.toml",)),
    ("Options", "Pass --dry-run to see what would be deleted, and --force to delete without being asked.",
     "Which option deletes without asking?", ("--force",)),
    ("Options", "Pass --dry-run to see what would be deleted, and --force to delete without being asked.",
     "Which option shows what would be deleted?", ("--dry-run",)),
    ("Versions", "Tern 4.2 dropped the old parser. Since 4.4 plugins are signed; 5.0 needs Python 3.11.",
     "Since which version are plugins signed?", ("4.4", "Since 4.4", "Tern 4.4")),
    ("Versions", "Tern 4.2 dropped the old parser. Since 4.4 plugins are signed; 5.0 needs Python 3.11.",
     "Which version of Python does Tern 5.0 need?", ("3.11", "Python 3.11")),
    ("Errors", "E1204 means that the certificate has expired, E1207 that the clock of the node is off by more than 30 seconds.",
     "Which error means that the certificate has expired?", ("E1204",)),
    ("Errors", "E1204 means that the certificate has expired, E1207 that the clock of the node is off by more than 30 seconds.",
     "What does E1207 mean?", ("the clock of the node is off by more than 30 seconds", "the clock of the node is off")),
    ("Variables", "Set TERN_HOME to the folder of the data and TERN_TOKEN to the key of the account.",
     "Which variable holds the key of the account?", ("TERN_TOKEN",)),
    ("Restart", "Restart the agent with `systemctl restart tern-agent`. Only if that fails, reboot with `ternctl node reboot`.",
     "How is the agent restarted?", ("systemctl restart tern-agent", "with systemctl restart tern-agent")),
)  # fmt: skip
"""A title, a text, a question, its answers."""


def births() -> Iterator[Case]:
    return (Case(f"Where was {name} born?", (quote(name, text),), (born,)) for name, text, born, _ in PEOPLE)


def deaths() -> Iterator[Case]:
    return (Case(f"Where did {name} die?", (quote(name, text),), (died,)) for name, text, _, died in PEOPLE)


def commands() -> Iterator[Case]:
    return (Case(question, (quote(title, text),), answers) for title, text, question, answers in PROGRAMS)

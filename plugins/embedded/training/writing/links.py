"""Noun phrases that lead from one thing `{s}` to another, and questions about a thing `{x}`, by the kinds of things."""

# ruff: noqa: E501  # tables

from typing import Final

_LINKS = """
film > person: the director of {s}; {s}'s director; the person who directed {s}; the man who directed {s}; the director of the film {s}; the composer of {s}; the person who composed the music for {s}; the producer of {s}; the screenwriter of {s}; the person who wrote the screenplay for {s}; the star of {s}; the actor who stars in {s}; the filmmaker behind {s}; the lead actress of {s}; the cinematographer of {s}; the person who produced {s}; the director of film {s}; the composer of film {s}
film > company: the studio that produced {s}; the company that distributed {s}; the distributor of {s}; {s}'s production company
film > country: the country of origin of {s}; the country {s} is from; the country where {s} was filmed
film > book: the novel that {s} is based on; the book {s} is based on
song > person: the performer of {s}; the singer of {s}; the person who wrote {s}; the artist who recorded {s}; the person who sang {s}; {s}'s performer; the performer of the song {s}; the composer of {s}; the performer of song {s}; the producer of {s}
song > band: the band that recorded {s}; the group that performed {s}; the band who released {s}; the band behind {s}
song > album: the album that includes {s}; the album that contains {s}; the album {s} is from
album > person: the performer of {s}; the artist who recorded {s}; the producer of {s}; {s}'s producer; the person who produced {s}
album > band: the band that released {s}; the group that recorded {s}; {s}'s performer
album > company: the record label of {s}; the label that released {s}; {s}'s label
band > person: the lead singer of {s}; the drummer of {s}; the founder of {s}; {s}'s lead singer; {s}'s guitarist; the person who founded {s}; the manager of {s}; the bassist of {s}
band > city: the city where {s} was formed; the city {s} is from; the hometown of {s}
band > company: the record label of {s}; {s}'s record label
book > person: the author of {s}; {s}'s author; the person who wrote {s}; the writer of {s}; the woman who wrote {s}; the novelist who wrote {s}; the illustrator of {s}; the protagonist of {s}; the translator of {s}
book > company: the publisher of {s}; the company that published {s}; {s}'s publisher
series > person: the creator of {s}; {s}'s creator; the presenter of {s}; the host of {s}; the person who created {s}; the actor who stars in {s}; the composer of {s}
series > company: the network that broadcasts {s}; the original network of {s}; the channel that aired {s}; the studio that produced {s}
person > person: the father of {s}; the mother of {s}; {s}'s father; {s}'s mother; the wife of {s}; {s}'s wife; the husband of {s}; {s}'s husband; the spouse of {s}; {s}'s spouse; the brother of {s}; {s}'s sister; the son of {s}; {s}'s daughter; the person who married {s}; the child of {s}; the successor of {s}; {s}'s predecessor; the mentor of {s}; the teacher of {s}; the person who succeeded {s}; the woman who married {s}; the doctor who treated {s}
person > city: the birthplace of {s}; the city where {s} was born; {s}'s birthplace; the city where {s} died; the town where {s} was born; the place where {s} was buried; the place of birth of {s}; {s}'s hometown; the place where {s} was born; the city in which {s} was raised; the place of death of {s}; {s}'s place of death
person > country: the country {s} is from; the country where {s} was born; the country of citizenship of {s}; the home country of {s}
person > university: the university where {s} was educated; the alma mater of {s}; {s}'s alma mater; the school that educated {s}; the university {s} was a professor at
person > company: the employer of {s}; {s}'s employer; the company {s} founded; the company that employed {s}; the company founded by {s}
person > team: the team that drafted {s}; the club {s} played for; {s}'s current team; the team that signed {s}
person > party: the political party of {s}; {s}'s party; the party led by {s}
person > film: the film directed by {s}; the first film of {s}; the film that starred {s}
person > book: the first novel of {s}; the book written by {s}
company > person: the founder of {s}; {s}'s founder; the person who founded {s}; the CEO of {s}; {s}'s CEO; the chairman of {s}; the owner of {s}; the president of {s}; the man who founded {s}; the current head of {s}; the entrepreneur who started {s}
company > city: the headquarters of {s}; the city where {s} is based; the city where {s} was founded; the city where {s} is headquartered; {s}'s headquarters
company > company: the parent company of {s}; {s}'s parent company; the company that owns {s}; the company that acquired {s}; the owner of {s}; the firm that bought {s}; the largest competitor of {s}; the largest subsidiary of {s}
university > city: the city where {s} is located; the location of {s}; the town where {s} is
university > person: the founder of {s}; the president of {s}; {s}'s founder; the person {s} is named after; the rector of {s}
city > country: the country where {s} is located; the country {s} is in; the country that {s} belongs to; the country of {s}
city > river: the river that flows through {s}; the river on which {s} lies; the main river of {s}
city > state: the state where {s} is located; the province where {s} is located; the county where {s} is located; the county {s} is in; the region {s} belongs to; the district that contains {s}
city > person: the mayor of {s}; {s}'s mayor; the person who founded {s}; the patron saint of {s}; the founder of {s}
city > team: the football club of {s}; the baseball team based in {s}; the team that plays in {s}
state > city: the capital of {s}; {s}'s capital; the largest city in {s}; the county seat of {s}
state > country: the country where {s} is located; the country that {s} is part of
country > city: the capital of {s}; {s}'s capital; the largest city in {s}; the capital city of {s}
country > person: the president of {s}; the prime minister of {s}; the head of state of {s}; the current king of {s}; the first president of {s}; the monarch of {s}; the person who rules {s}
country > country: the country that borders {s} to the east; the largest neighbour of {s}; the country that colonized {s}; the country that invaded {s}
country > currency: the currency of {s}; {s}'s currency; the official currency of {s}
country > language: the official language of {s}; the language spoken in {s}; {s}'s official language
country > river: the longest river in {s}
river > city: the largest city on {s}; the city at the mouth of {s}; the source of {s}
river > country: the country where {s} ends; the country through which {s} flows; the country where {s} is located
river > river: the river that {s} flows into; the main tributary of {s}; the body of water at the mouth of {s}
team > person: the coach of {s}; {s}'s head coach; the captain of {s}; the owner of {s}; the manager of {s}; the person who coaches {s}; the top scorer of {s}; {s}'s captain
team > city: the city where {s} is based; the home city of {s}; the hometown of {s}
team > building: the home stadium of {s}; the stadium where {s} is based; {s}'s home ground
team > team: the team that beat {s} in the final; the main rival of {s}; the team that defeated {s}
building > person: the architect of {s}; the person who designed {s}; {s}'s architect; the owner of {s}; the person {s} is named after; the architect who designed {s}
building > city: the city where {s} is located; the city where {s} was built; the city {s} is in; the town in which {s} is located
building > company: the company that built {s}; the operator of {s}; the company that operates {s}
battle > person: the general who won {s}; the commander who lost {s}; the leader of the losing side at {s}; the person who led the attack in {s}
battle > country: the country that won {s}; the country where {s} was fought
magazine > company: the publisher of {s}; the company that publishes {s}; the owner of {s}
magazine > person: the editor of {s}; the founder of {s}; {s}'s founder; the current editor of {s}
magazine > city: the city where {s} was published; the city where {s} is printed
game > company: the developer of {s}; the publisher of {s}; the company that developed {s}; the studio behind {s}; {s}'s developer
game > person: the designer of {s}; the lead designer of {s}; the composer of {s}; the person who created {s}
invention > person: the inventor of {s}; the person who invented {s}; the scientist who discovered {s}; the discoverer of {s}; the man who invented {s}; the person who first described {s}
invention > country: the country where {s} was invented; the country of origin of {s}
invention > company: the company that first sold {s}; the company that developed {s}; the largest producer of {s}
party > person: the leader of {s}; the founder of {s}; {s}'s chairman; the current leader of {s}
software > company: the company that develops {s}; the vendor of {s}; the maker of {s}; {s}'s vendor; the company that maintains {s}
software > employee: the creator of {s}; the lead developer of {s}; the maintainer of {s}; the person who maintains {s}; the person who is responsible for {s}; the administrator of {s}
software > software: the tool that replaced {s}; the database that {s} uses; the library that {s} depends on; the product that {s} is part of; the service that {s} runs on; the successor of {s}; the framework {s} is based on; the operating system that runs {s}; the predecessor of {s}
software > file: the configuration file of {s}; the file that configures {s}; the log file of {s}; the file where {s} is configured; the file that stores the settings of {s}
software > setting: the setting that controls {s}; the option that enables {s}; the parameter that limits {s}; the setting that disables {s}
software > command: the command that starts {s}; the command that installs {s}; the cmdlet that manages {s}; the command used to update {s}
software > service: the service that handles {s}; the service that hosts {s}; the component that processes {s}
software > server: the server that hosts {s}; the host where {s} is installed; the machine that runs {s}
setting > file: the file that stores {s}; the file where {s} is defined; the file that contains {s}; the configuration file for {s}
setting > command: the command that sets {s}; the command that changes {s}; the command that shows {s}
setting > software: the component that uses {s}; the service that {s} belongs to; the feature controlled by {s}
command > software: the tool that provides {s}; the module that contains {s}; the package that includes {s}
file > software: the program that writes {s}; the service that reads {s}; the tool that generates {s}
service > server: the server where {s} is installed; the host that runs {s}; the node that runs {s}
service > employee: the owner of {s}; the person responsible for {s}; the team lead of {s}; the on-call engineer for {s}
server > employee: the administrator of {s}; the person who maintains {s}; the owner of {s}
server > building: the data center where {s} is located; the room where {s} is installed
device > company: the manufacturer of {s}; the supplier of {s}; the company that makes {s}; {s}'s manufacturer; the vendor of {s}; the company that supplied {s}; the company that repaired {s}
device > employee: the technician who repaired {s}; the operator of {s}; the person who inspected {s}; the person responsible for {s}; the engineer who designed {s}; the technician who serviced {s} last
device > part: the pump that feeds {s}; the valve that controls {s}; the motor that drives {s}; the filter used in {s}; the fuse that protects {s}; the sensor that monitors {s}; the replacement part for {s}
device > building: the building where {s} is installed; the plant where {s} is located; the hall where {s} is installed
part > company: the supplier of {s}; the manufacturer of {s}; the company that makes {s}; the vendor that supplies {s}
part > device: the machine that uses {s}; the device that contains {s}; the assembly that {s} belongs to
project > employee: the manager of {s}; the leader of {s}; {s}'s manager; the person who approved {s}; the person who leads {s}; the project manager of {s}; the sponsor of {s}; the employee responsible for {s}
project > department: the department that runs {s}; the department responsible for {s}; the team working on {s}; the unit that funds {s}
project > company: the client of {s}; the customer who ordered {s}; the contractor for {s}; the supplier for {s}; the company that audits {s}
department > employee: the head of {s}; {s}'s head; the manager of {s}; the person who leads {s}; the contact person for {s}; the assistant of the head of {s}
department > building: the building where {s} is located; the office of {s}
document > employee: the author of {s}; the person who signed {s}; the person who approved {s}; the employee who wrote {s}; the reviewer of {s}; the contact person named in {s}; the person who sent {s}
document > company: the customer of {s}; the supplier named in {s}; the company that issued {s}; the vendor of {s}; the other party of {s}
document > project: the project that {s} belongs to; the project described in {s}
order > company: the customer who placed {s}; the supplier of {s}; the carrier that delivered {s}
order > employee: the person who placed {s}; the employee who processed {s}; the person who approved {s}
order > part: the part ordered in {s}; the product named in {s}
employee > employee: the manager of {s}; the assistant of {s}; the deputy of {s}; {s}'s manager; the person who supervises {s}; the colleague who trained {s}
employee > department: the department where {s} is employed; {s}'s department; the department of {s}; the team that {s} leads
employee > building: the office of {s}; the building of {s}
rule > document: the document that describes {s}; the section that defines {s}; the standard that covers {s}; the chapter on {s}; the policy that governs {s}
rule > department: the department responsible for {s}; the authority that enforces {s}; the committee that approved {s}
"""


def _parsed_links() -> dict[str, dict[str, tuple[str, ...]]]:
    links: dict[str, dict[str, tuple[str, ...]]] = {}
    for line in _LINKS.strip().splitlines():
        kinds, phrases = line.split(": ", 1)
        start, end = kinds.split(" > ")
        links.setdefault(start, {})[end] = tuple(phrases.split("; "))
    return links


LINKS: Final = _parsed_links()
"""Phrases by the kind they start from and the kind they lead to."""


_TAILS = """
person: When was {x} born?; Where was {x} born?; When did {x} die?; Where did {x} die?; What nationality is {x}?; What is the nationality of {x}?; Which country is {x} from?; What is the date of birth of {x}?; What is {x}'s date of birth?; In which city was {x} born?; What is the place of birth of {x}?; What is {x}'s birthplace?; Where did {x} study?; Which university did {x} attend?; What is the occupation of {x}?; What did {x} die of?; What is the cause of death of {x}?; What award did {x} receive?; Which awards has {x} won?; How old is {x}?; Who is {x} married to?; Who is the father of {x}?; Who is the mother of {x}?; Who is {x}'s wife?; Who was {x} married to?; Who are the parents of {x}?; How many children does {x} have?; What is {x} known for?; In what year was {x} born?; When is {x}'s birthday?; Where is {x} buried?; What is the middle name of {x}?; Where does {x} live?; What other books did {x} write?; Where did {x} grow up?; Which party does {x} belong to?; How tall is {x}?; Why did {x} die?; Which country does {x} come from?; What languages does {x} speak?; What was the first job of {x}?; In which year did {x} die?; Who was the spouse of {x}?; {x} was born in which city?; What is the place of death of {x}?; Which award {x} received?; Which country {x} is from?; When did {x} join the company?; What was {x}'s real name?; Where was the place of death of {x}?; What is the native language of {x}?; Who is the child of {x}?; Which instrument does {x} play?; Which school did {x} go to?; Is {x} still alive?; Was {x} born in Germany?; Does {x} have children?; Did {x} win an Oscar?; What religion does {x} practise?
city: What is the population of {x}?; How many people live in {x}?; Which country is {x} in?; What river flows through {x}?; Who is the mayor of {x}?; What is the highest point in {x}?; When was {x} founded?; What is the area of {x}?; What county is {x} in?; In which state is {x} located?; What is the oldest building in {x}?; Which university is in {x}?; How large is {x}?; What is the climate of {x}?; What airport serves {x}?; How many inhabitants does {x} have?; In which country is {x}?; What is the name of the main train station in {x}?; What is the elevation of {x}?; What county shares a border with {x}?; When did {x} become a city?; Who founded {x}?; What time zone is {x} in?; What is the zip code of {x}?; What is the average temperature in {x} in July?; Is {x} the capital of a state?; How far is {x} from the sea?
state: What is the capital of {x}?; How many counties are in {x}?; What is the population of {x}?; Who is the governor of {x}?; What is the largest city in {x}?; When did {x} join the union?; What is the state bird of {x}?; What is the abbreviation of {x}?; How many people live in {x}?; What region is {x} in?; Which states border {x}?
country: What is the capital of {x}?; What is the population of {x}?; Who is the president of {x}?; What currency is used in {x}?; What is the official language of {x}?; Which continent is {x} on?; What languages are spoken in {x}?; When did {x} become independent?; What is the national anthem of {x}?; Which countries border {x}?; Who was in charge of {x}?; What is the highest mountain in {x}?; What is the largest city in {x}?; How many people live in {x}?; Who is the head of state of {x}?; When did {x} join the European Union?; What is the national sport of {x}?; How large is the army of {x}?; When did slavery end in {x}?; What is the main export of {x}?; What religion is most common in {x}?; Is {x} a member of NATO?; What colors are on the flag of {x}?; What is the calling code of {x}?
company: When was {x} founded?; Who founded {x}?; Where is {x} based?; Who is the CEO of {x}?; Where is the headquarters of {x}?; How many employees does {x} have?; In which city is {x} headquartered?; What is the revenue of {x}?; What does {x} produce?; Which country is {x} from?; When did {x} go public?; What year did {x} dissolve?; Who owns {x}?; What is {x}'s slogan?; What is the phone number of {x}?; What is the address of {x}?; Which products does {x} sell?; What is the delivery time of {x}?; Is {x} listed on the stock exchange?; How old is {x}?; When does the contract with {x} end?; What is the email address of {x}?; What payment terms does {x} offer?; In what year was {x} established?; What was the former name of {x}?; Who is our contact at {x}?
band: When was {x} formed?; Who is the lead singer of {x}?; Where is {x} from?; How many members does {x} have?; What was the first album of {x}?; When did {x} break up?; What genre does {x} play?; Which label is {x} signed to?; Which country is {x} from?
album: When was {x} released?; What label released {x}?; How many tracks are on {x}?; How many copies has {x} sold?; Who produced {x}?; Which song is the last track on {x}?
film: When was {x} released?; Who stars in {x}?; How long is {x}?; Which country is {x} from?; What is {x} about?; How much money did {x} make?; Who composed the music for {x}?; Where was {x} filmed?
book: When was {x} published?; Who wrote {x}?; Who published {x}?; How many pages does {x} have?; What is {x} about?; Where is {x} set?; Who is the main character in {x}?
university: When was {x} founded?; Where is {x}?; How many students attend {x}?; Who founded {x}?; What is the motto of {x}?; In which city is {x} located?; What is the mascot of {x}?; What kind of university is {x}?; What are the colors of {x}?
team: Where does {x} play?; Who coaches {x}?; When was {x} founded?; How many titles has {x} won?; What league does {x} play in?; When did {x} last win the championship?; What are the colors of {x}?; What is the mascot of {x}?; Who owns {x}?; What is the home stadium of {x}?; When did {x} win the World Series?; Which year did {x} win the cup?
river: How long is {x}?; Where does {x} begin?; Which countries does {x} flow through?; What is the source of {x}?; Into which sea does {x} flow?; What is the length of {x}?; What cities lie on {x}?
building: When was {x} built?; How tall is {x}?; What is the address of {x}?; Who designed {x}?; What is the capacity of {x}?; Where is {x}?; When was {x} opened?; How many floors does {x} have?; Who owns {x}?; What style is {x} built in?; What is the seating capacity of {x}?
party: When was {x} founded?; Who leads {x}?; How many seats does {x} have?; What is the ideology of {x}?; How many members does {x} have?
currency: What is the symbol of {x}?; When was {x} introduced?; What is the code of {x}?; What is {x} worth in euros?; Who prints {x}?
language: How many people speak {x}?; What alphabet does {x} use?; Which language family does {x} belong to?; In which countries is {x} spoken?; How many letters does {x} have?
software: What is the latest version of {x}?; What license does {x} use?; When was {x} released?; Which port does {x} use?; How do I install {x}?; Which operating systems does {x} support?; What language is {x} written in?; What is the default port of {x}?; How do I uninstall {x}?; What are the system requirements of {x}?; How often is {x} updated?; What is the memory limit of {x}?; Does {x} support encryption?; When does support for {x} end?; How do I restart {x}?; Where are the logs of {x} stored?; How much does {x} cost?; Is {x} free?; Which version of {x} is installed?
setting: What is the default value of {x}?; What values can {x} have?; How do I change {x}?; What does {x} do?; What is the maximum value of {x}?; In which version was {x} introduced?; Is {x} enabled by default?; What happens if {x} is too low?; What unit is {x} given in?; Who can change {x}?; What is the type of {x}?; Where can I find {x}?; Which values are allowed for {x}?
command: What arguments does {x} take?; What does {x} return?; Which permissions does {x} require?; How do I run {x}?; What is the syntax of {x}?; Which options does {x} accept?; What does {x} do?; In which version was {x} added?; Does {x} need administrator rights?
file: Where is {x} located?; What is the path of {x}?; What format does {x} have?; How do I edit {x}?; Who can write to {x}?; How large can {x} be?; In which folder is {x}?; How do I reload {x}?; What encoding does {x} use?; How long is {x} kept?; Where is {x}?; In which directory is {x} stored?
service: Which port does {x} listen on?; How do I restart {x}?; What is the timeout of {x}?; Where is {x} hosted?; Which user account runs {x}?; What protocol does {x} use?; How many requests can {x} handle?; Who maintains {x}?; What is the status of {x}?; Which database does {x} use?; What does {x} depend on?
server: What is the IP address of {x}?; Which operating system does {x} run?; How much memory does {x} have?; When was {x} last rebooted?; Where is {x} located?; Who has access to {x}?; What is the host name of {x}?; How many cores does {x} have?
device: When was {x} installed?; What is the serial number of {x}?; How often must {x} be inspected?; What is the maximum pressure of {x}?; How much does {x} weigh?; What is the operating temperature of {x}?; When was {x} last serviced?; What is the power consumption of {x}?; Which spare parts does {x} need?; How is {x} calibrated?; What voltage does {x} need?
part: What is the part number of {x}?; How much does {x} cost?; How often must {x} be replaced?; What material is {x} made of?; What is the torque for {x}?; How many of {x} are in stock?; What is the delivery time for {x}?; How is {x} removed?; What is the rated current of {x}?; What is the weight of {x}?
project: When did {x} start?; What is the budget of {x}?; When is the deadline of {x}?; Who works on {x}?; What is the goal of {x}?; Which department runs {x}?; How much has {x} cost so far?; What is the status of {x}?; Which risks does {x} have?
department: Where is {x}?; Who leads {x}?; How many people work in {x}?; What is the phone number of {x}?; What is the budget of {x}?; On which floor is {x}?; What is the cost center of {x}?; What are the office hours of {x}?; Who should I contact in {x}?
document: When was {x} signed?; When does {x} expire?; Who wrote {x}?; What is the total amount of {x}?; What version is {x}?; What does {x} say about delays?; When was {x} last changed?; Which penalties does {x} contain?; How many pages does {x} have?; Who has to approve {x}?
employee: What is the phone number of {x}?; What is the email address of {x}?; Which department does {x} work in?; Who is the manager of {x}?; In which office does {x} work?; When did {x} join the company?; What is {x}'s job title?; What is {x}'s extension?; Which other projects does {x} lead?; How can I reach {x}?; Where is {x}'s desk?; Who is the deputy of {x}?; What is the role of {x}?; Which team is {x} in?; How many hours did {x} report?; Who stands in for {x}?; What training has {x} had?
"""
TAILS: Final = {kind: tuple(questions.split("; ")) for kind, questions in (line.split(": ", 1) for line in _TAILS.strip().splitlines())}
"""Questions by the kind of thing they are about."""
